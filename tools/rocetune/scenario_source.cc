#include "tools/rocetune/scenario_source.h"

namespace rocetune::cli {
namespace {

constexpr Bytes kScenarioLimit{1 << 20};
NamedFiles shipped() { return {.folder = "scenarios", .extension = ".toml", .within = {"reference"}}; }

}  // namespace

Expected<std::vector<std::string>> shipped_scenarios() { return ConfigFiles().names(shipped()); }

Expected<ConfigFile> scenario_source(const std::string& scenario, std::string_view what) {
  return ConfigFiles().named(shipped(), scenario, what, kScenarioLimit);
}

}  // namespace rocetune::cli
