// Class map of a ConnectX port as `mlnx_qos` prints it, of any age, whole or any one of its blocks: DCBX
// mode, trust, dscp2prio, cable length, receive buffers, default priority, PFC, traffic classes.
#pragma once

#include "agent/evidence/format.h"

namespace rocetune::evidence {

Format mlnx_qos_format();

}  // namespace rocetune::evidence
