// Who paused whom and why, as a tree: a cause, and indented below it what it held up.
#pragma once

#include <string>
#include <vector>

#include "dataplane/fabric/result.h"

namespace rocetune::report {

// Rows that are shown at once; more unfold, up to kMostCauses.
constexpr std::size_t kCausesAtOnce = 40, kMostCauses = 1000;
// `is_circle`: there was a deadlock, in which no cause is the first.
std::string pause_tree_section(const std::vector<fabric::PauseCause>& causes, std::uint64_t pause_frames,
                               bool is_circle = false);

}  // namespace rocetune::report
