// Dumps of a switch ASIC's counters: groups "Port 0x10500 - IEEE 802.3 Counters Group" and "Prio N" with
// "name = value" lines. Content: SwitchEvidence; counters as printed, of a priority "prioN.name" where there
// are several priorities.
#pragma once

#include "agent/evidence/format.h"

namespace rocetune::evidence {

Format sonic_sdk_counters_format();

}  // namespace rocetune::evidence
