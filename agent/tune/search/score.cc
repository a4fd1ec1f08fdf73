#include "agent/tune/search/score.h"

#include <algorithm>
#include <cmath>

namespace rocetune::search {

double gain(Objective objective, double value, double reference) {
  const ObjectiveKind& kind = kind_of(objective);
  double out = 0;
  if (!kind.is_ratio_scale) {
    out = value - reference;
  } else if (value > 0 && reference > 0) {
    out = std::log(value / reference);
  } else if (value > 0) {
    out = kMostGain;
  } else if (reference > 0) {
    out = -kMostGain;
  }
  return std::clamp(kind.more_is_better ? out : -out, -kMostGain, kMostGain);
}

std::string fault_of(const Observation& observation, bool of_baseline) {
  if (observation.failure)
    return fmt::format("{}: {}", enum_name(observation.failure->kind), observation.failure->why);
  if (!of_baseline && !observation.breaches.empty())
    return fmt::format("{}: {}", observation.breaches.front().guardrail, observation.breaches.front().what);
  bool has_value = false;
  for (const ObjectiveKind& kind : objective_kinds()) {
    const auto& value = observation.objectives[kind.objective];
    if (!value) continue;
    has_value = true;
    // Plants check against what they know (the wire's rate); this is what no plant may let pass.
    const bool possible =
        std::isfinite(*value) && *value >= 0 && (kind.is_ratio_scale || *value <= 1.0 + 1e-9);
    if (!possible) return fmt::format("nonsense: {} = {}", kind.key, *value);
  }
  return has_value ? std::string() : "counters_vanished: no objective was measured";
}

Objectives mean_of(const std::vector<Objectives>& runs) {
  Objectives out;
  for (const ObjectiveKind& kind : objective_kinds()) {
    double sum = 0;
    bool is_everywhere = true;
    bool has_zero = false;
    for (const Objectives& run : runs) {
      const auto& value = run[kind.objective];
      if (!value) {
        is_everywhere = false;
        break;
      }
      has_zero = has_zero || *value <= 0;
      sum += kind.is_ratio_scale && *value > 0 ? std::log(*value) : *value;
    }
    if (!is_everywhere) continue;
    const double mean = sum / static_cast<double>(runs.size());
    out[kind.objective] = kind.is_ratio_scale ? (has_zero ? 0 : std::exp(mean)) : mean;
  }
  return out;
}

namespace {

// Something that the other shows.
bool lacks(const Objectives& one, const Objectives& other) {
  for (std::size_t i = 0; i < kObjectives; ++i) {
    if (other.values[i] && !one.values[i]) return true;
  }
  return false;
}

}  // namespace

Scorer::Scorer(const Plant& plant, const Policy& policy)
    : plant_(plant),
      policy_(policy),
      pooled_(plant.workloads().size()),
      fallback_(plant.workloads().size()) {}

void Scorer::learn_baseline(const Trial& trial) {
  for (std::size_t w = 0; w < trial.observations.size(); ++w) {
    const auto& observation = trial.observations[w];
    if (!observation || !fault_of(*observation, true).empty()) continue;
    // A run in which counters vanished is nothing to compare with.
    if (pooled_[w] && lacks(observation->objectives, *pooled_[w])) continue;
    baseline_[{w, trial.repeat}].push_back(observation->objectives);
    pool(w);
  }
}

void Scorer::learn_fallback(const Trial& trial) {
  for (std::size_t w = 0; w < trial.observations.size(); ++w) {
    const auto& observation = trial.observations[w];
    if (!observation || !fault_of(*observation).empty() || pooled_[w] || fallback_[w]) continue;
    fallback_[w] = observation->objectives;
  }
}

void Scorer::pool(std::size_t workload) {
  std::vector<Objectives> all;
  for (const auto& [key, runs] : baseline_) {
    if (key.first == workload) all.insert(all.end(), runs.begin(), runs.end());
  }
  pooled_[workload] = mean_of(all);
}

const Objectives* Scorer::reference(std::size_t workload, std::uint64_t repeat, bool pooled) const {
  if (!pooled && plant_.traits().is_repeatable) {
    const auto same = baseline_.find({workload, repeat});
    if (same != baseline_.end()) return &same->second.front();
  }
  if (pooled_[workload]) return &*pooled_[workload];
  return fallback_[workload] ? &*fallback_[workload] : nullptr;
}

std::optional<double> Scorer::workload_score(std::size_t workload, const Trial& trial, bool pooled) const {
  return weighed(trial, workload, reference(workload, trial.repeat, pooled));
}

std::optional<double> Scorer::workload_score(std::size_t workload, const Trial& trial,
                                             const Trial& baseline) const {
  const auto& before = baseline.observations[workload];
  return before && fault_of(*before, true).empty() ? weighed(trial, workload, &before->objectives)
                                                   : std::nullopt;
}

std::optional<double> Scorer::weighed(const Trial& trial, std::size_t workload,
                                      const Objectives* compared) const {
  const auto& observation = trial.observations[workload];
  if (!observation || compared == nullptr || !fault_of(*observation, is_baseline(trial)).empty())
    return std::nullopt;
  double sum = 0;
  double weights = 0;
  for (const ObjectiveKind& kind : objective_kinds()) {
    const double weight = policy_.weight_of(kind.objective);
    const auto& before = (*compared)[kind.objective];
    if (!before || weight <= 0) continue;
    const auto& now = observation->objectives[kind.objective];
    if (!now) return std::nullopt;
    const double gained = gain(kind.objective, *now, *before);
    sum += weight * gained * (gained < 0 ? policy_.loss_weight : 1);
    weights += weight;
  }
  if (weights <= 0) return std::nullopt;
  return sum / weights;
}

bool Scorer::is_sound(std::size_t workload, const Trial& trial) const {
  const auto& observation = trial.observations[workload];
  return observation && fault_of(*observation, is_baseline(trial)).empty();
}

bool Scorer::is_baseline(const Trial& trial) const { return trial.candidate == plant_.space().start(); }

std::vector<std::size_t> Scorer::members(WorkloadSet set) const {
  std::vector<std::size_t> out;
  for (std::size_t w = 0; w < plant_.workloads().size(); ++w) {
    if (plant_.workloads()[w].held_out == (set == WorkloadSet::held_out)) out.push_back(w);
  }
  return out;
}

bool Scorer::is_mute(std::size_t workload) const {
  const std::optional<Objectives>& seen = pooled_[workload] ? pooled_[workload] : fallback_[workload];
  return seen && std::ranges::none_of(objective_kinds(), [&](const ObjectiveKind& kind) {
           return policy_.weight_of(kind.objective) > 0 && (*seen)[kind.objective];
         });
}

double Scorer::combined(const std::vector<std::optional<double>>& by_workload, WorkloadSet set) const {
  double sum = 0;
  double weights = 0;
  double worst = kMostGain;
  for (const std::size_t w : members(set)) {
    if (is_mute(w)) continue;
    ROCETUNE_ASSERT(by_workload[w].has_value());
    sum += plant_.workloads()[w].weight * *by_workload[w];
    weights += plant_.workloads()[w].weight;
    worst = std::min(worst, *by_workload[w]);
  }
  ROCETUNE_ASSERT(weights > 0);
  return (1 - policy_.worst_share) * sum / weights + policy_.worst_share * worst;
}

template <class Score>
std::optional<double> Scorer::over_all(const Trial& trial, WorkloadSet set, const Score& score_of) const {
  std::vector<std::optional<double>> scores(plant_.workloads().size());
  bool is_any = false;
  for (const std::size_t w : members(set)) {
    scores[w] = score_of(w);
    is_any = is_any || scores[w];
    if (!scores[w] && !(is_mute(w) && is_sound(w, trial))) return std::nullopt;
  }
  if (!is_any) return std::nullopt;
  return combined(scores, set);
}

std::optional<double> Scorer::score(const Trial& trial, WorkloadSet set, bool pooled) const {
  return over_all(trial, set, [&](std::size_t w) { return workload_score(w, trial, pooled); });
}

std::optional<double> Scorer::score(const Trial& trial, WorkloadSet set, const Trial& baseline) const {
  return over_all(trial, set, [&](std::size_t w) { return workload_score(w, trial, baseline); });
}

std::string Scorer::why_no_score(const Trial& trial, WorkloadSet set) const {
  for (const std::size_t w : members(set)) {
    const std::string& name = plant_.workloads()[w].name;
    const auto& observation = trial.observations[w];
    if (!observation) continue;
    if (const std::string fault = fault_of(*observation, is_baseline(trial)); !fault.empty())
      return name + ": " + fault;
    if (!workload_score(w, trial, true) && !is_mute(w))
      return name + ": counters_vanished: an objective that the baseline shows is not there";
  }
  return {};
}

}  // namespace rocetune::search
