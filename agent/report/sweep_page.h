// What came of a scenario run with several settings and seeds, as a page: which was best, and how each
// measure depends on what was varied.
#pragma once

#include "agent/report/combinations.h"

namespace rocetune::report {

struct SweepPage {
  std::string command;                            // repeats all of it
  std::span<const fabric::Variation> variations;  // of one scenario; not empty
  std::vector<Metric> metrics;
};

// One self-contained file. Made for up to some hundreds of runs; charts are over the first setting whose
// values are amounts, else over the first that has several.
std::string sweep_page(const SweepPage& page);

}  // namespace rocetune::report
