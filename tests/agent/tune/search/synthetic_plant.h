// Plants made of formulas, with a known optimum: what the search is tested and measured on where a fabric
// would take hours. Shaped like a lossless fabric: misconfigurations that cost most of the throughput, ECN
// and DCQCN numbers with a best place on a logarithmic scale, two knobs that help only together, a cliff (ECN
// above Xoff), a deadlock, dead knobs, knobs without effect, noise.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "agent/tune/search/plant.h"
#include "agent/tune/search/policy.h"

namespace rocetune::search {

// What happens to a run that is not the candidate's doing. Probabilities per observation.
struct SyntheticFaults {
  double workload_fails = 0;
  double hangs = 0;
  double nonsense = 0;
  double counters_vanish = 0;
  double link_down = 0;
  double plant_fails = 0;  // observe() returns an Error
  double restore_fails = 0;
  std::optional<int> killed_at;   // the process dies in this observation, counted from 0
  std::optional<int> stopped_at;  // somebody asks the run to stop in this one
};

struct SyntheticOptions {
  std::uint64_t seed = 1;      // of the plant: where its optima lie, which faults are planted
  int faults = 3;              // planted misconfigurations, 0 to 5
  bool is_mistuned = true;     // numbers start away from their best place
  int idle_knobs = 6;          // without any effect
  double noise = 0.01;         // standard deviation of a result's logarithm, each run its own
  double common_noise = 0.02;  // the same for all candidates of a repeat
  bool is_repeatable = true;
  bool knows_remedies = true;     // doctor has found the planted misconfigurations
  bool has_false_remedy = false;  // and something that is none
  bool has_held_out = true;
  bool hurts_held_out = false;  // every gain is the held-out workload's loss
  SyntheticFaults injected;
};

// What outlives a process: the plant's settings.
struct SyntheticWorld {
  Candidate applied;  // empty: never touched
  bool is_process_dead = false;
  int observations = 0;
  int violations = 0;  // candidates outside the safe set, constraints broken
};

// Before another plant: whoever derives from it changes single answers.
class PlantInFront : public Plant {
 public:
  explicit PlantInFront(Plant& behind) : behind_(behind) {}
  const PlantTraits& traits() const override { return behind_.traits(); }
  const Space& space() const override { return behind_.space(); }
  const std::vector<Constraint>& constraints() const override { return behind_.constraints(); }
  const std::vector<Workload>& workloads() const override { return behind_.workloads(); }
  const std::vector<Suggestion>& suggestions() const override { return behind_.suggestions(); }
  Expected<Observation> observe(const Request& request, std::stop_token stop) override {
    return behind_.observe(request, std::move(stop));
  }
  Expected<> restore() override { return behind_.restore(); }

 private:
  Plant& behind_;
};

// Thrown by observe() where the process dies.
struct ProcessKilled {};

class SyntheticPlant final : public Plant {
 public:
  // `world` must outlive it; a second plant over the same world is the next process.
  SyntheticPlant(const SyntheticOptions& options, SyntheticWorld& world, std::stop_source* stop = nullptr);

  const PlantTraits& traits() const override { return traits_; }
  const Space& space() const override { return space_; }
  const std::vector<Constraint>& constraints() const override { return constraints_; }
  const std::vector<Workload>& workloads() const override { return workloads_; }
  const std::vector<Suggestion>& suggestions() const override { return suggestions_; }
  Expected<Observation> observe(const Request& request, std::stop_token stop) override;
  Expected<> restore() override;

  // Without noise and injected faults.
  Observation truth(const Candidate& candidate, std::size_t workload) const;
  // Whether clamp and a small hyper-increase help only together; then both start wrong. Before the first run.
  bool plant_pair();
  // The best there is.
  const Candidate& optimum() const { return optimum_; }
  // Score over the searched workloads relative to the start, without noise; none: it hangs or breaches.
  std::optional<double> true_score(const Candidate& candidate, const Policy& policy) const;

 private:
  double log_goodput(const Candidate& candidate, std::size_t workload) const;
  double value(const Candidate& candidate, const std::string& name) const;

  SyntheticOptions options_;
  SyntheticWorld& world_;
  std::stop_source* stop_;
  PlantTraits traits_;
  Space space_;
  std::vector<Constraint> constraints_;
  std::vector<Workload> workloads_;
  std::vector<Suggestion> suggestions_;
  Candidate optimum_;
  std::map<std::string, std::size_t, std::less<>> index_;
  std::vector<double> strength_;  // of the effects, by workload
  double ripple_ = 0;
  bool needs_both_ = true;  // clamp and a small hyper-increase, else one of them is enough
};

// A policy for tests: that of configs/tune/objectives.toml.
Policy shipped_policy();

}  // namespace rocetune::search
