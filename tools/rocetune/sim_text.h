// What `rocetune sim` prints for people.
#pragma once

#include <string>

#include "agent/report/combinations.h"
#include "dataplane/base/text_table.h"
#include "dataplane/fabric/theory.h"

namespace rocetune::cli {

std::string run_text(const fabric::RunResult& result, const fabric::Resources& resources,
                     const TextTable::Look& look);

// What the fluid model says.
std::string fluid_text(const std::string& scenario, const fabric::FluidReport& report);

// A line a metric: its path and its number as the JSON has it, or "-".
std::string metrics_text(const fabric::RunResult& result, std::span<const report::Metric> metrics);

// A row a combination of values, in order; each figure is the mean over its seeds, with the range if they
// differ.
std::string sweep_text(const report::Sweep& sweep, const TextTable::Look& look);

}  // namespace rocetune::cli
