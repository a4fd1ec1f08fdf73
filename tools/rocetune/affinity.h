// NIC and GPU distances by the topology part, for commands that show or judge a host.
#pragma once

#include <string>

#include "agent/host/model.h"

namespace rocetune::cli {

// Fills host.affinity; without the part, GPUs or NICs it says why there is none.
void add_affinity(const std::string& root, host::Host& host);

}  // namespace rocetune::cli
