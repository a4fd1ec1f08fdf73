// Numbers of a result by their path in its JSON: "flows.fct_us.p99" (dataplane/base/json_number.h).
#pragma once

#include "dataplane/base/json_number.h"
#include "dataplane/fabric/result.h"

namespace rocetune::fabric {

// A result as its JSON form says it, without what the run cost.
Json document_of(const RunResult& result);

// Whether some result can have a number of this path.
std::optional<PathProblem> measure_problem(std::string_view path);

}  // namespace rocetune::fabric
