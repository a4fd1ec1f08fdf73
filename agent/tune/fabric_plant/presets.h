// Sets of values that somebody has published, and modes worth a trial, as far as a space has their knobs.
#pragma once

#include <vector>

#include "agent/tune/search/plant.h"
#include "dataplane/fabric/scenario.h"

namespace rocetune::fabric_plant {

// Those that change something.
std::vector<search::Suggestion> presets_of(const fabric::Scenario& scenario, const search::Space& space);

}  // namespace rocetune::fabric_plant
