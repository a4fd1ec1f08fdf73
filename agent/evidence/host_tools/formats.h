// Tools about a network port: ethtool, dcb, mlnx_qos, ip, tc, bonding, and the counters of RDMA devices.
#pragma once

#include <span>

#include "agent/evidence/format.h"

namespace rocetune::evidence {

std::span<const Format> host_tool_formats();

}  // namespace rocetune::evidence
