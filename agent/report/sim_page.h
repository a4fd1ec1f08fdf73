// What one run on the virtual fabric showed, as a page: what came of it first, then over time, then why.
#pragma once

#include <string>

#include "dataplane/fabric/result.h"

namespace rocetune::report {

struct SimPage {
  std::string command;  // repeats the run
  const fabric::RunResult& result;
  fabric::Resources resources;
};

// One self-contained file. What the result does not hold is not on it, or said to be missing; never 0.
std::string sim_page(const SimPage& page);

}  // namespace rocetune::report
