#include "tools/rocetune/sim.h"

#include <fmt/core.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <thread>

#include "agent/report/sim_page.h"
#include "agent/report/sweep_page.h"
#include "dataplane/base/config_files.h"
#include "dataplane/base/durable.h"
#include "dataplane/base/file.h"
#include "dataplane/base/progress.h"
#include "tools/rocetune/sim_text.h"

namespace rocetune::cli {
namespace {

constexpr Bytes kScenarioLimit{1 << 20};
constexpr std::string_view kFolder = "scenarios/";
constexpr std::string_view kExtension = ".toml";
constexpr std::size_t kSamples = 240;  // of a series: what a screen has room for
constexpr std::int64_t kProgressSteps = 1000;

std::vector<std::string> shipped_names() {
  std::vector<std::string> names;
  for (const char* folder : {"scenarios", "scenarios/reference"}) {
    const auto files = ConfigFiles().list(folder, kExtension);
    for (const ConfigFile& file : files ? *files : std::vector<ConfigFile>())
      names.push_back(
          file.path.substr(kFolder.size(), file.path.size() - kFolder.size() - kExtension.size()));
  }
  return names;
}

struct ScenarioText {
  std::string text;
  std::string file;
};

Expected<ScenarioText> source_of(const std::string& scenario) {
  if (scenario.ends_with(kExtension)) {
    const auto text = read_file(scenario, kScenarioLimit);
    if (!text) return tl::unexpected(Error(ErrorKind::bad_input, text.error().text()));
    return ScenarioText{*text, scenario};
  }
  const std::vector<std::string> names = shipped_names();
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
        return ScenarioText{f.text, f.name};
      });
}

fabric::Resources resources_so_far() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds_of = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) / 1e6;
  };
  return {.cpu_seconds = seconds_of(usage.ru_utime) + seconds_of(usage.ru_stime),
          .peak_rss_bytes = std::int64_t{usage.ru_maxrss} * 1024};
}

ExitCode list_shipped() {
  std::string out;
  for (const std::string& name : shipped_names()) {
    const auto scenario = source_of(name).and_then(
        [](const ScenarioText& s) { return fabric::scenario_from_toml(s.text, s.file); });
    if (!scenario) return complain(scenario.error());
    out += fmt::format("{:<24} {}\n", name, scenario->description);
  }
  return print_report("sim", out);
}

Expected<fabric::SweepPlan> plan_of(const SimCommand& command) {
  fabric::SweepPlan plan{.seeds = command.seeds, .first_seed = command.seed, .threads = command.threads};
  for (const std::string& text : command.settings) {
    auto setting = toml_setting(text, "--set");
    if (!setting) return tl::unexpected(setting.error());
    plan.settings.push_back(std::move(*setting));
  }
  for (const std::string& text : command.sweeps) {
    auto axis = fabric::sweep_axis(text, "--sweep");
    if (!axis) return tl::unexpected(axis.error());
    plan.axes.push_back(std::move(*axis));
  }
  const bool is_one = plan.axes.empty() && plan.seeds == 1;
  if (command.series || (is_one && !command.html.empty())) plan.samples = kSamples;
  return plan;
}

// What was asked for, but for seeds.
std::string request_of(const SimCommand& command) {
  std::string out = "rocetune sim " + command.scenario;
  for (const std::string& setting : command.settings) out += fmt::format(" --set '{}'", setting);
  return out;
}

// The command that makes one of the runs again.
std::string again(const SimCommand& command, const fabric::Variation& variation) {
  std::string out = request_of(command);
  for (const TomlSetting& setting : variation.settings)
    out += fmt::format(" --set '{}={}'", setting.key, setting.value);
  return out + fmt::format(" --seed {}", variation.result.seed);
}

std::string sweep_json(const std::vector<fabric::Variation>& variations, const fabric::Resources& resources) {
  std::string out = "{\"schema_version\":1,\"runs\":[";
  for (std::size_t i = 0; i < variations.size(); ++i) {
    JsonWriter settings;
    settings.begin_object();
    for (const TomlSetting& setting : variations[i].settings) settings.member(setting.key, setting.value);
    settings.end_object();
    out += fmt::format("{}{{\"settings\":{},\"result\":{}}}", i == 0 ? "" : ",", settings.take(),
                       fabric::json_of(variations[i].result, resources));
  }
  return out + "]}";
}

std::string page_of(const SimCommand& command, const std::string& scenario, const std::string& description,
                    const std::vector<fabric::Variation>& variations, const fabric::Resources& resources) {
  const fabric::Variation& first = variations.front();
  if (variations.size() == 1) {
    return report::sim_page({.description = description,
                             .command = again(command, first),
                             .result = first.result,
                             .resources = resources});
  }
  report::SweepPage page{.scenario = scenario, .description = description, .command = request_of(command)};
  for (const std::string& sweep : command.sweeps) page.command += fmt::format(" --sweep '{}'", sweep);
  if (command.seeds > 1) page.command += fmt::format(" --seeds {}", command.seeds);
  page.command += fmt::format(" --seed {}", first.result.seed);
  for (const fabric::Variation& variation : variations) {
    report::Settings settings;
    for (const TomlSetting& setting : variation.settings) settings.emplace_back(setting.key, setting.value);
    page.variations.push_back({std::move(settings), variation.result.seed, variation.result});
  }
  return report::sweep_page(page);
}

}  // namespace

ExitCode run_sim(const SimCommand& command) {
  if (command.list) return list_shipped();
  const auto source = source_of(command.scenario);
  if (!source) return complain(source.error());
  const auto plan = plan_of(command);
  if (!plan) return complain(plan.error());
  const auto described = fabric::scenario_from_toml(source->text, source->file, plan->settings);
  if (!described) return complain(described.error());
  Expected<std::vector<fabric::Variation>> variations;
  {
    const SystemClock clock;
    ProgressLine line("sim " + command.scenario, kProgressSteps, clock);
    variations =
        fabric::sweep(source->text, source->file, *plan, std::thread::hardware_concurrency(),
                      [&](double share) { line.update(static_cast<std::int64_t>(share * kProgressSteps)); });
  }
  if (!variations) return complain(variations.error());
  const fabric::Resources resources = resources_so_far();
  if (!command.html.empty()) {
    const auto written = write_atomically(
        command.html, page_of(command, described->name, described->description, *variations, resources));
    if (!written) return complain(written.error());
  }
  const auto look = TextTable::Look::for_stream(STDOUT_FILENO, command.colour);
  const bool is_one = plan->axes.empty() && plan->seeds == 1;
  const fabric::RunResult& first = variations->front().result;
  std::string report;
  if (command.json) {
    report = is_one ? fabric::json_of(first, resources) : sweep_json(*variations, resources);
  } else if (is_one) {
    report = run_text(described->description, first, resources, look);
  } else {
    report = fmt::format("{}: {}\n{} runs\n\n", described->name, described->description, variations->size()) +
             sweep_text(*variations, look);
  }
  const ExitCode printed = print_report("sim", report);
  if (printed != ExitCode::fine) return printed;
  ExitCode code = ExitCode::fine;
  for (const fabric::Variation& variation : *variations) {
    if (variation.result.is_right()) continue;
    complain("a check does not hold; again: " + again(command, variation));
    code = ExitCode::findings;
  }
  return code;
}

}  // namespace rocetune::cli
