// Facts about a class map, from whatever tool printed it.
#pragma once

#include "agent/evidence/document.h"

namespace rocetune::evidence {

// qos.pfc_mask, qos.dscp_N_prio, ets.prioN_share_pct of what is known.
void add_class_facts(const host::Dcb& dcb, Document& document);

}  // namespace rocetune::evidence
