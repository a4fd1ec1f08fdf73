// What an outcome says beside its verdict: what looked best when a run was interrupted, and what the best
// makes worse.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "agent/tune/search/outcome.h"
#include "agent/tune/search/policy.h"

namespace rocetune::search {

// What looked best when the run was interrupted: of few trials, and confirmed by none.
struct BestSoFar {
  Candidate candidate = {};
  double gain_percent = 0;  // over the baseline, mean of its trials
  int trials = 0;
};
// None: nothing was better than what is there, or the run was not interrupted.
std::optional<BestSoFar> best_so_far(const Outcome& outcome);

// An objective of a workload that the best makes worse, while it gains as a whole.
struct Worsened {
  std::string workload;
  Objective objective = Objective::goodput;
  double change_percent = 0;  // of the value; of shares (pause, fairness) in points
  static constexpr void fields(auto&& visit, auto&... self) {
    visit("workload", self.workload...);
    visit("objective", self.objective...);
    visit("change_percent", self.change_percent...);
  }
};
// Those with a weight that are worse in the middle of all pairs of runs under the same circumstances by the
// gain that counts (Policy::minimum_gain_percent) or more, and in no pair better.
std::vector<Worsened> worsened_by(const Plant& plant, const Policy& policy, const Outcome& outcome);

}  // namespace rocetune::search
