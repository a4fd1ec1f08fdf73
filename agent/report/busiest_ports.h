// Which ports of a run are worth a look, and what they did.
#pragma once

#include <string>
#include <vector>

#include "dataplane/fabric/result.h"

namespace rocetune::report {

// Those that ever had a queue, lost something or paused their peer: the longest mean queue first, among equal
// ones the most Xoff frames.
std::vector<const fabric::PortResult*> busiest_ports(const std::vector<fabric::PortResult>& ports);

constexpr std::size_t kMostPorts = 20;  // on a page
std::string port_section(const std::vector<fabric::PortResult>& ports);

}  // namespace rocetune::report
