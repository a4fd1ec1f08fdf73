#include "tools/rocetune/scenario_source.h"

#include <algorithm>

#include "dataplane/base/config_files.h"
#include "dataplane/base/file.h"

namespace rocetune::cli {
namespace {

constexpr Bytes kScenarioLimit{1 << 20};
constexpr std::string_view kFolder = "scenarios/";
constexpr std::string_view kExtension = ".toml";

}  // namespace

std::vector<std::string> shipped_scenarios() {
  std::vector<std::string> names;
  for (const char* folder : {"scenarios", "scenarios/reference"}) {
    const auto files = ConfigFiles().list(folder, kExtension);
    for (const ConfigFile& file : files ? *files : std::vector<ConfigFile>())
      names.push_back(
          file.path.substr(kFolder.size(), file.path.size() - kFolder.size() - kExtension.size()));
  }
  return names;
}

Expected<ScenarioSource> scenario_source(const std::string& scenario) {
  if (scenario.ends_with(kExtension)) {
    const auto text = read_file(scenario, kScenarioLimit);
    if (!text) return tl::unexpected(Error(ErrorKind::bad_input, text.error().text()));
    return ScenarioSource{*text, scenario};
  }
  const std::vector<std::string> names = shipped_scenarios();
  if (std::ranges::find(names, scenario) == names.end()) {
    std::string known;
    for (const std::string& name : names) known += (known.empty() ? "" : ", ") + name;
    const std::string nearest = nearest_name(scenario, names);
    return fail(ErrorKind::bad_input, "found {}, allowed: the path of a .toml file, or {}{}", scenario, known,
                nearest.empty() ? "" : "; did you mean " + nearest + "?");
  }
  return ConfigFiles()
      .read(std::string(kFolder) + scenario + std::string(kExtension))
      .map([](const ConfigFile& f) {
        return ScenarioSource{f.text, f.name};
      });
}

}  // namespace rocetune::cli
