#include "agent/tune/search/compared.h"

#include <algorithm>

namespace rocetune::search {
namespace {

bool has_series(const Trial& trial) {
  return std::ranges::any_of(trial.observations,
                             [](const auto& seen) { return seen && !seen->series.empty(); });
}

}  // namespace

Compared compared_over_time(const Outcome& outcome) {
  Compared out;
  for (const Trial& trial : outcome.trials) {
    if (!has_series(trial)) continue;
    if (out.baseline == nullptr && trial.candidate == outcome.start) out.baseline = &trial;
    if (outcome.best == outcome.start || trial.candidate != outcome.best) continue;
    for (const Trial& other : outcome.trials) {
      if (has_series(other) && other.candidate == outcome.start && other.repeat == trial.repeat)
        return {.baseline = &other, .best = &trial};
    }
  }
  return out;
}

}  // namespace rocetune::search
