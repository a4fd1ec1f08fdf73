// Junos's `show interfaces extensive`: queues, PFC frames, drops, MTU. Content: SwitchEvidence.
#pragma once

#include "agent/evidence/format.h"

namespace rocetune::evidence {

Format junos_interface_format();

}  // namespace rocetune::evidence
