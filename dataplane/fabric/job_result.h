// How long the steps of a network's jobs took.
#pragma once

#include "dataplane/fabric/network.h"
#include "dataplane/fabric/result.h"

namespace rocetune::fabric {

// Sorted or not; none of nothing.
std::optional<FctSummary> summary_of(std::vector<double> microseconds);

std::vector<JobResult> job_results(const Network& network);

}  // namespace rocetune::fabric
