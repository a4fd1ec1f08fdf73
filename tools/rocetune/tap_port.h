// Listening to a port of DPDK.
#pragma once

#include "dataplane/tap/observer.h"
#include "tools/rocetune/tap.h"

namespace rocetune::cli {

// What passed the port within command.span, or until a signal. Sends nothing.
Expected<tap::TapFacts> facts_of_port(const TapCommand& command, const tap::ObserverOptions& options);

}  // namespace rocetune::cli
