#include "agent/tune/search/observation.h"

namespace rocetune::search {

const std::array<ObjectiveKind, kObjectives>& objective_kinds() {
  static constexpr std::array<ObjectiveKind, kObjectives> kinds{{
      {Objective::goodput, "goodput", "goodput_gbps", "Gb/s", true, true},
      {Objective::busbw, "busbw", "busbw_gbps", "Gb/s", true, true},
      {Objective::latency, "latency", "latency_us", "us", false, true},
      {Objective::p99_fct, "p99_fct", "p99_fct_us", "us", false, true},
      {Objective::pause_ratio, "pause_ratio", "pause_ratio", "", false, false},
      {Objective::fairness, "fairness", "fairness", "", true, false},
  }};
  return kinds;
}

}  // namespace rocetune::search
