// What the search is measured against: random search and NLopt's algorithms, on the same plant with the same
// number of trials, judged by the same score.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "agent/tune/search/plant.h"
#include "agent/tune/search/policy.h"
#include "dataplane/base/random.h"

namespace rocetune::search {

struct RivalResult {
  Candidate best;    // by what was measured
  double score = 0;  // measured; the start's is 0
  int trials = 0;
};

// One trial: all searched workloads once, under the first circumstances, relative to the start's.
class RivalScore {
 public:
  RivalScore(Plant& plant, const Policy& policy, std::uint64_t repeat);
  // The score; a failed or breached run counts as the worst there is. Dead knobs are put aside.
  double operator()(const Candidate& candidate);

 private:
  Plant& plant_;
  const Policy& policy_;
  std::uint64_t repeat_;
  std::vector<Observation> baseline_;
};

// Uniform on every knob's scale, among what is safe and breaks no constraint.
Candidate random_candidate(const Plant& plant, Random& random);
RivalResult random_search(Plant& plant, const Policy& policy, int trials, std::uint64_t seed);

// Names of NLopt's algorithms that take bounds and no gradient; empty where NLopt was not there to build
// with.
std::vector<std::string> nlopt_algorithms();

// A function of positions, each 0..1, whose least value is looked for.
struct NloptProblem {
  std::string algorithm;      // of nlopt_algorithms
  std::vector<double> start;  // positions
  double first_step = 0;
  int most_values = 0;                                                     // that it is asked for
  std::function<std::optional<double>(std::span<const double>)> value_at;  // none: that is the end
};
void nlopt_minimise(const NloptProblem& problem);
// Where the space's start values are.
std::vector<double> start_positions(const Space& space);
// From the start, knobs as positions 0..1 rounded to what they can have; what a constraint forbids scores as
// the worst without a trial.
RivalResult nlopt_search(Plant& plant, const Policy& policy, const std::string& algorithm, int trials,
                         std::uint64_t seed);

}  // namespace rocetune::search
