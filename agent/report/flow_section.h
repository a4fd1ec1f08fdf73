// How long the flows of a run took, and which of them longest.
#pragma once

#include <string>

#include "dataplane/fabric/result.h"

namespace rocetune::report {

// Empty if there were none.
std::string flows_section(const fabric::FlowsResult& flows);

}  // namespace rocetune::report
