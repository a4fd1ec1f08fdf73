// From observations to one number: how much better than the baseline a trial was.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "agent/tune/search/outcome.h"
#include "agent/tune/search/plant.h"
#include "agent/tune/search/policy.h"

namespace rocetune::search {

// No gain in one objective counts for more than a factor of 100: of a number near zero a ratio says nothing.
inline constexpr double kMostGain = 4.605170185988092;  // ln 100

// Gain of `value` over `reference` in one objective: logarithm of the ratio, or the difference; above 0 is
// better; within +-kMostGain.
double gain(Objective objective, double value, double reference);

// Why an observation has no score; empty: nothing is wrong with it. What the baseline breaches is no fault of
// the candidates that are compared with it: `of_baseline` looks at failures alone.
std::string fault_of(const Observation& observation, bool of_baseline = false);

enum class WorkloadSet { searched, held_out };

class Scorer {
 public:
  Scorer(const Plant& plant, const Policy& policy);

  // Takes a trial of the baseline as what the others are compared with.
  void learn_baseline(const Trial& trial);
  // Takes any trial as the comparison for workloads under which the baseline does not run.
  void learn_fallback(const Trial& trial);

  // Weighted gain under one workload, in which what got worse counts Policy::loss_weight times; none if it
  // was not run, the observation has a fault, lacks an objective that the comparison has, or there is no
  // comparison. Where the plant is repeatable the comparison is the baseline under the same repeat, else (or
  // with `pooled`) the mean of all its runs.
  std::optional<double> workload_score(std::size_t workload, const Trial& trial, bool pooled = false) const;
  // The same against one run of the baseline.
  std::optional<double> workload_score(std::size_t workload, const Trial& trial, const Trial& baseline) const;
  // Over the set but for mute workloads: (1 - worst_share) × weighted mean + worst_share × worst. None if any
  // has none, or all are mute.
  std::optional<double> score(const Trial& trial, WorkloadSet set, bool pooled = false) const;
  std::optional<double> score(const Trial& trial, WorkloadSet set, const Trial& baseline) const;
  // What `score` makes of given scores per workload (by place; those of the set must be there).
  double combined(const std::vector<std::optional<double>>& by_workload, WorkloadSet set) const;
  // In words, which run of the trial spoiled it; empty: none did.
  std::string why_no_score(const Trial& trial, WorkloadSet set) const;

  std::vector<std::size_t> members(WorkloadSet set) const;
  // The baseline shows something of this workload, and nothing that has a weight: only its faults count.
  bool is_mute(std::size_t workload) const;
  bool is_baseline(const Trial& trial) const;

 private:
  bool is_sound(std::size_t workload, const Trial& trial) const;  // it was run, and has no fault
  std::optional<double> weighed(const Trial& trial, std::size_t workload, const Objectives* compared) const;
  template <class Score>
  std::optional<double> over_all(const Trial& trial, WorkloadSet set, const Score& score_of) const;
  const Objectives* reference(std::size_t workload, std::uint64_t repeat, bool pooled) const;
  void pool(std::size_t workload);

  const Plant& plant_;
  const Policy& policy_;
  std::map<std::pair<std::size_t, std::uint64_t>, std::vector<Objectives>> baseline_;
  std::vector<std::optional<Objectives>> pooled_;  // mean of them
  std::vector<std::optional<Objectives>> fallback_;
};

// Geometric mean of ratio scales, arithmetic of the others; an objective that any of them lacks is absent.
// Not empty.
Objectives mean_of(const std::vector<Objectives>& runs);

}  // namespace rocetune::search
