// Where a scenario's text comes from: a file of the user's, or what is shipped.
#pragma once

#include <string>
#include <vector>

#include "dataplane/base/error.h"

namespace rocetune::cli {

struct ScenarioSource {
  std::string text;
  std::string file;  // for messages
};

// Names below configs/scenarios, without their ending.
std::vector<std::string> shipped_scenarios();
// `scenario`: the path of a .toml file, or one of those names. Error: bad_input with the names and the
// nearest.
Expected<ScenarioSource> scenario_source(const std::string& scenario);

}  // namespace rocetune::cli
