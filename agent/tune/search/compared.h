// Which trials show what is there beside the best over time.
#pragma once

#include "agent/tune/search/outcome.h"

namespace rocetune::search {

struct Compared {
  const Trial* baseline = nullptr;
  const Trial* best = nullptr;
};
// The first confirmation of the best: both ran under the same circumstances and kept what changed over time.
// Without one, a trial of the baseline alone. Null: there is none, or the plant keeps nothing over time.
Compared compared_over_time(const Outcome& outcome);

}  // namespace rocetune::search
