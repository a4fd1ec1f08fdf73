// What is there beside the best, over one axis of time, under each workload.
#pragma once

#include <string>

#include "agent/report/tune_page.h"

namespace rocetune::report {

// Empty where the plant keeps nothing over time.
std::string tune_over_time_section(const TunePage& page);

}  // namespace rocetune::report
