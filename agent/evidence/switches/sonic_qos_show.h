// SONiC's `show pfc priority` and `ecnconfig -l`. Content: SwitchEvidence.
#pragma once

#include "agent/evidence/format.h"

namespace rocetune::evidence {

Format sonic_qos_show_format();

}  // namespace rocetune::evidence
