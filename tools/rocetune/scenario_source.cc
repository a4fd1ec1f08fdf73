#include "tools/rocetune/scenario_source.h"

#include <algorithm>

namespace rocetune::cli {
namespace {

constexpr Bytes kScenarioLimit{1 << 20};
NamedFiles shipped() { return {.folder = "scenarios", .extension = ".toml", .within = {"reference"}}; }
NamedFiles fabrics() { return {.folder = "fabrics", .extension = ".toml"}; }

}  // namespace

Expected<std::vector<std::string>> shipped_scenarios() { return ConfigFiles().names(shipped()); }

Expected<ConfigFile> scenario_source(const std::string& scenario, std::string_view what) {
  const ConfigFiles configs;
  const auto names = configs.names(fabrics());
  if (names && std::ranges::find(*names, scenario) != names->end())
    return configs.named(fabrics(), scenario, what, kScenarioLimit);
  return configs.named(shipped(), scenario, what, kScenarioLimit);
}

}  // namespace rocetune::cli
