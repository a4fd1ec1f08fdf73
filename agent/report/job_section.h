// How long the steps of a run's jobs took.
#pragma once

#include <string>
#include <vector>

#include "dataplane/fabric/result.h"
#include "dataplane/html/page.h"

namespace rocetune::report {

// What is looked at first: all steps once, and the busbw of each collective.
void add_job_tiles(html::Tiles& tiles, const std::vector<fabric::JobResult>& jobs);

// Empty if there were none.
std::string jobs_section(const std::vector<fabric::JobResult>& jobs);

}  // namespace rocetune::report
