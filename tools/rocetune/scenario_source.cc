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
  if (!names) return tl::unexpected(names.error());
  if (std::ranges::find(*names, scenario) != names->end())
    return configs.named(fabrics(), scenario, what, kScenarioLimit);
  return configs.named(shipped(), scenario, what, kScenarioLimit);
}

Expected<ConfigFile> fabric_source(const std::string& fabric, std::string_view what) {
  const ConfigFiles configs;
  const auto scenarios = configs.names(shipped());
  if (!scenarios) return tl::unexpected(scenarios.error());
  if (std::ranges::find(*scenarios, fabric) != scenarios->end())
    return configs.named(shipped(), fabric, what, kScenarioLimit);
  return configs.named(fabrics(), fabric, what, kScenarioLimit);
}

}  // namespace rocetune::cli
