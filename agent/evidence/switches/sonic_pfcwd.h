// SONiC's PFC watchdog: `show pfcwd stats` and `show pfcwd config`. Content: SwitchEvidence; detection times
// as its model's watchdogs.
#pragma once

#include "agent/evidence/format.h"

namespace rocetune::evidence {

Format sonic_pfcwd_format();

}  // namespace rocetune::evidence
