// What `rocetune sim` prints for people.
#pragma once

#include <span>
#include <string>

#include "dataplane/base/text_table.h"
#include "dataplane/fabric/sweep.h"

namespace rocetune::cli {

std::string run_text(const std::string& description, const fabric::RunResult& result,
                     const fabric::Resources& resources, const TextTable::Look& look);

// A row a combination of values, in order; each figure is the mean over its seeds, with the range if they
// differ. Not of nothing.
std::string sweep_text(std::span<const fabric::Variation> variations, const TextTable::Look& look);

}  // namespace rocetune::cli
