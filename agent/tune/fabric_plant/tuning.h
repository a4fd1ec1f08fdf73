// A tuning run of a fabric, from its file to what is to be done, as one value: what terminals, JSON and pages
// are made of.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "agent/tune/fabric_plant/advice.h"
#include "agent/tune/fabric_plant/switch_lines.h"
#include "agent/tune/fabric_plant/switch_names.h"
#include "agent/tune/search/outcome.h"
#include "agent/tune/search/policy.h"
#include "agent/tune/search/remarks.h"
#include "agent/tune/search/tuner.h"

namespace rocetune::fabric_plant {

// What no setting repairs: the verdict says so, and what keeps the damage small.
struct Unrepaired {
  std::string where;
  std::string rule;
  std::string cause;
  std::string advice;
  static constexpr void fields(auto&& visit, auto&... self) {
    visit("where", self.where...);
    visit("rule", self.rule...);
    visit("cause", self.cause...);
    visit("advice", self.advice...);
  }
};

struct FabricTuning {
  std::string command;  // that makes it again
  search::Policy policy;
  search::Outcome outcome;
  std::vector<Step> plan;  // of the best; where the run was interrupted, of the best so far
  std::optional<search::BestSoFar> so_far;
  std::vector<search::Worsened> worsened;
  std::vector<Unrepaired> unrepaired;
  std::vector<SwitchNames> switch_names;    // of the plan
  std::vector<SwitchSnippet> switch_lines;  // likewise

  // What the plan is of.
  const search::Candidate& proposed() const { return so_far ? so_far->candidate : outcome.best; }
};

// The weights of [tune] and of `objectives` (NAME or NAME=WEIGHT: those not named count nothing) put over the
// policy. Error: bad_input; `flag` names where objectives were said.
Expected<search::Policy> policy_for(const FabricPlant& plant, search::Policy policy,
                                    const std::vector<std::string>& objectives, const std::string& flag);

// Findings whose cause is hardware: hosts that pause the fabric because they receive slowly.
std::vector<Unrepaired> unrepaired_of(const FabricPlant& plant);

// Members, beside search::write_outcome's: best_so_far (only if interrupted), plan[] (Step), best_settings[]
// ("knob=value", what Space::setting reads), switch_names[], switch_lines[], policy, worsened[],
// unrepaired[], fabric, findings[], space[], left_out[], constraints[], suggestions[].
std::string json_of(const FabricTuning& tuning, const FabricPlant& plant, bool with_series);
// What a search would turn, and what doctor says, without one: space[], constraints[], suggestions[], ...
std::string space_json(const FabricPlant& plant);

}  // namespace rocetune::fabric_plant
