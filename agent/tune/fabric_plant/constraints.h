// What physics and standards forbid on a fabric, whatever it would gain.
#pragma once

#include <vector>

#include "agent/tune/fabric_plant/knobs.h"
#include "agent/tune/search/constraint.h"

namespace rocetune::fabric_plant {

// Writes the settings in which `candidate` differs from the start into `scenario`, which is as found
// (with_own_parts), in the order of the knobs.
void write(const std::vector<FabricKnob>& knobs, const search::Space& space,
           const search::Candidate& candidate, fabric::Scenario& scenario);

// A rule over the whole fabric, whoever turned what.
struct ScenarioRule {
  std::string id;
  std::string rule;
  std::string origin;
  std::optional<std::string> (*broken)(const fabric::Scenario&);  // how, with figures; `with_own_parts`
};
const std::vector<ScenarioRule>& scenario_rules();

// `scenario`, `knobs` and `space` must outlive what is returned. `space` is that of the knobs.
std::vector<search::Constraint> constraints_of(const fabric::Scenario& scenario,
                                               const std::vector<FabricKnob>& knobs,
                                               const search::Space& space);

}  // namespace rocetune::fabric_plant
