// SONiC's `show pfc counters` (pfcstat): one table for received and one for sent PFC frames, per port and
// priority. Content: SwitchEvidence.
#pragma once

#include "agent/evidence/format.h"

namespace rocetune::evidence {

Format sonic_pfc_counters_format();

}  // namespace rocetune::evidence
