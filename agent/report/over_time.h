// A run over virtual time: the whole fabric, jobs, then its largest flows and its busiest links and ports.
#pragma once

#include <string>

#include "dataplane/fabric/result.h"

namespace rocetune::report {

// Empty without a series.
std::string over_time_section(const fabric::RunResult& result);

}  // namespace rocetune::report
