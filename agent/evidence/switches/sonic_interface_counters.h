// SONiC's `show interfaces counters` (portstat), with the kernel tables of the same heads (`cl-netstat`), and
// `show queue counters` (queuestat). Content: SwitchEvidence.
#pragma once

#include "agent/evidence/format.h"

namespace rocetune::evidence {

Format sonic_interface_counters_format();
Format sonic_queue_counters_format();

}  // namespace rocetune::evidence
