// What counts as better, and when a difference is one: configs/tune/objectives.toml.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "agent/tune/search/observation.h"
#include "dataplane/base/config_files.h"

namespace rocetune::search {

struct Policy {
  // Weight of each objective, 0 or more, by Objective; those that a workload measures share the whole.
  std::array<double, kObjectives> weights{};
  double weight_of(Objective objective) const { return weights[static_cast<std::size_t>(objective)]; }
  // What gets worse counts so many times what gets better, at least 1.
  double loss_weight = 1;
  // How much the worst workload counts against the mean of all: 0 the mean alone, 1 the worst alone.
  double worst_share = 0;
  // A gain below this is not worth a change. Percent of the score.
  double minimum_gain_percent = 0;
  // Of the interval around the gain, two-sided. Percent, 50 to 99.9.
  double confidence_percent = 95;
};

// Error: bad_input with every issue of the file.
Expected<Policy> load_policy(const ConfigFiles& files);
// The policy with these objectives alone, NAME or NAME=WEIGHT; none: as it is. Error: bad_input; `flag` names
// where they were said.
Expected<Policy> with_objectives(Policy policy, const std::vector<std::string>& objectives,
                                 const std::string& flag);

}  // namespace rocetune::search
