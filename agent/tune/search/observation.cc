#include "agent/tune/search/observation.h"

#include <algorithm>

namespace rocetune::search {

const std::array<ObjectiveKind, kObjectives>& objective_kinds() {
  static constexpr std::array<ObjectiveKind, kObjectives> kKinds{{
      {Objective::goodput, "goodput", "goodput_gbps", "Gb/s", true, true},
      {Objective::busbw, "busbw", "busbw_gbps", "Gb/s", true, true},
      {Objective::latency, "latency", "latency_us", "us", false, true},
      {Objective::p99_fct, "p99_fct", "p99_fct_us", "us", false, true},
      {Objective::pause_ratio, "pause_ratio", "pause_ratio", "", false, false},
      {Objective::fairness, "fairness", "fairness", "", true, false},
  }};
  return kKinds;
}

const ObjectiveKind& kind_of(Objective objective) {
  return objective_kinds()[static_cast<std::size_t>(objective)];
}

const ObjectiveKind* find_objective(std::string_view name) {
  const auto* const found = std::ranges::find(objective_kinds(), name, &ObjectiveKind::name);
  return found == objective_kinds().end() ? nullptr : &*found;
}

std::vector<std::string> objective_names() {
  std::vector<std::string> out;
  for (const ObjectiveKind& kind : objective_kinds()) out.emplace_back(kind.name);
  return out;
}

}  // namespace rocetune::search
