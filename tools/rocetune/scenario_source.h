// Where a scenario's text comes from: a file of the user's, or what is shipped.
#pragma once

#include <string>
#include <vector>

#include "dataplane/base/config_files.h"

namespace rocetune::cli {

// Names below configs/scenarios, without their ending.
Expected<std::vector<std::string>> shipped_scenarios();
// `scenario`: the path of a file, one of those names, or a name below configs/fabrics; `what`: the argument that
// says so. Error: bad_input with the names and the nearest.
Expected<ConfigFile> scenario_source(const std::string& scenario, std::string_view what = "SCENARIO");
// The same for what is to be tuned: the error names the shipped fabrics.
Expected<ConfigFile> fabric_source(const std::string& fabric, std::string_view what);

}  // namespace rocetune::cli
