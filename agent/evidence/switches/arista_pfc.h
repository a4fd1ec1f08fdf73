// EOS's `show priority-flow-control` of any age, its `counters` and `counters watchdog`. Content:
// SwitchEvidence.
#pragma once

#include "agent/evidence/format.h"

namespace rocetune::evidence {

Format arista_pfc_format();

}  // namespace rocetune::evidence
