// Listening to the RoCE packets of this host's own RDMA device.
#pragma once

#include "dataplane/tap/observer.h"
#include "tools/rocetune/tap.h"

namespace rocetune::cli {

// What is wrong with the text behind --device; empty: nothing.
std::string check_rdma_port(const std::string& text);

// What passed the device's port within command.span, or until a signal.
Expected<tap::TapFacts> facts_of_device(const TapCommand& command, const tap::ObserverOptions& options);

}  // namespace rocetune::cli
