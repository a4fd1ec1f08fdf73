// NX-OS's `show interface priority-flow-control`, also of UCS fabric interconnects. Content: SwitchEvidence.
#pragma once

#include "agent/evidence/format.h"

namespace rocetune::evidence {

Format cisco_pfc_format();

}  // namespace rocetune::evidence
