// The closed loop over a plant: measure what is there, try doctor's fixes, search, confirm, restore. Reads no
// clock and no file: the same plant, options and seed give the same trials. docs/tuning.md says how it
// decides.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>

#include "agent/tune/search/guide.h"
#include "agent/tune/search/outcome.h"
#include "agent/tune/search/plant.h"
#include "agent/tune/search/policy.h"

namespace rocetune::search {

// Ends the search; at least one is given. Every trial counts, those of the baseline and the last confirmation
// included.
struct Budget {
  std::optional<int> trials;     // at least kLeastTrials
  std::optional<Duration> time;  // of the plant: sum of Observation::took_ns
};
// Below this nothing can be shown: three of the baseline, one candidate, its confirmation.
inline constexpr int kLeastTrials = 12;

struct TuneOptions {
  Budget budget;
  std::uint64_t seed = 1;
  // What it proposes is tried after doctor's fixes; where it held, nothing else is. Null: there is none. Must
  // outlive the run.
  Guide* guide = nullptr;
};

// What goes on, for a progress bar: after every trial.
struct Progressed {
  const Trial& trial;
  int done = 0;                // trials
  std::optional<int> planned;  // budget in trials
  double best_score = 0;       // of the best so far
};
using OnTrial = std::function<void(const Progressed&)>;

// Runs to the end of the budget or of what can be shown, restores the plant, and says what came of it. Never
// an error: what went wrong is in the outcome (verdict refused or interrupted, plant_error, restored).
Outcome tune(Plant& plant, const Policy& policy, const TuneOptions& options, const OnTrial& on_trial,
             const std::stop_token& stop);

}  // namespace rocetune::search
