// A run over virtual time: the whole fabric, then its busiest ports.
#pragma once

#include <string>

#include "dataplane/fabric/result.h"

namespace rocetune::report {

constexpr std::size_t kMostStrips = 16;  // ports
std::string over_time_section(const fabric::TimeSeries& series);

}  // namespace rocetune::report
