// What became of a network's flows.
#pragma once

#include "dataplane/fabric/network.h"
#include "dataplane/fabric/result.h"

namespace rocetune::fabric {

// `end`: of the run.
FlowsResult flow_results(const Network& network, Instant end);

// "host 3 to host 0".
std::string name_of(const Flow& flow);

}  // namespace rocetune::fabric
