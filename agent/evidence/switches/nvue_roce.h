// Cumulus's `nv show qos roce` and `nv show interface swp1 qos roce status`, as text and as JSON, under the
// same name as Onyx's. Content: SwitchEvidence.
#pragma once

#include "agent/evidence/format.h"

namespace rocetune::evidence {

Format nvue_roce_format();

}  // namespace rocetune::evidence
