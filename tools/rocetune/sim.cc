#include "tools/rocetune/sim.h"

#include <fmt/core.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <thread>

#include "agent/report/sim_page.h"
#include "agent/report/sweep_page.h"
#include "dataplane/base/durable.h"
#include "dataplane/base/json_writer.h"
#include "dataplane/base/progress.h"
#include "dataplane/fabric/theory.h"
#include "tools/rocetune/scenario_source.h"
#include "tools/rocetune/sim_text.h"

namespace rocetune::cli {
namespace {

constexpr std::size_t kSamples = 240;  // of a series: what a screen has room for
constexpr std::int64_t kProgressSteps = 1000;

fabric::Resources resources_so_far() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds_of = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) / 1e6;
  };
  return {.cpu_seconds = seconds_of(usage.ru_utime) + seconds_of(usage.ru_stime),
          .peak_rss_bytes = std::int64_t{usage.ru_maxrss} * 1024};
}

ExitCode list_shipped(const SimCommand& command) {
  const auto names = shipped_scenarios();
  if (!names) return complain(names.error());
  TextTable table({{.title = "scenario"}, {.title = "what it is", .overflow = Overflow::wrap}});
  for (const std::string& name : *names) {
    const auto scenario = scenario_source(name).and_then(
        [](const ConfigFile& file) { return fabric::scenario_from_toml(file.text, file.name); });
    if (!scenario) return complain(scenario.error());
    table.add_row({name, scenario->description});
  }
  return print_report("sim", table.text(TextTable::Look::for_stream(STDOUT_FILENO, command.colour)));
}

bool is_one(const SimCommand& command) { return command.sweeps.empty() && command.seeds == 1; }

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
  const bool compares_series =
      std::ranges::any_of(command.metrics, [](const std::string& m) { return m.starts_with("series."); });
  if (command.series || compares_series || (is_one(command) && !command.html.empty()))
    plan.samples = kSamples;
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

Expected<std::vector<report::Metric>> metrics_of(const SimCommand& command) {
  std::vector<report::Metric> out;
  for (const std::string& path : command.metrics) {
    auto metric = report::metric_asked_for(path, "--metric");
    if (!metric) return tl::unexpected(metric.error());
    out.push_back(std::move(*metric));
  }
  return out;
}

using Variations = std::vector<fabric::Variation>;

std::string sweep_json(const Variations& variations, const fabric::Resources& resources) {
  std::string out = "{\"schema_version\":1,\"runs\":[";
  for (std::size_t i = 0; i < variations.size(); ++i) {
    JsonWriter settings;
    settings.begin_object();
    for (const TomlSetting& setting : variations[i].settings) settings.member(setting.key, setting.value);
    settings.end_object();
    out += fmt::format("{}{{\"settings\":{},\"result\":{}}}", i == 0 ? "" : ",", settings.take(),
                       fabric::json_of(variations[i].result, resources));
  }
  return out + "]}\n";
}

// What all of a sweep's runs came from.
std::string sweep_request(const SimCommand& command, std::uint64_t first_seed) {
  std::string out = request_of(command);
  for (const std::string& sweep : command.sweeps) out += fmt::format(" --sweep '{}'", sweep);
  for (const std::string& metric : command.metrics) out += fmt::format(" --metric '{}'", metric);
  if (command.seeds > 1) out += fmt::format(" --seeds {}", command.seeds);
  return out + fmt::format(" --seed {}", first_seed);
}

// What came of it, in every form that was asked for.
class Output {
 public:
  Output(const SimCommand& command, const Variations& variations, std::vector<report::Metric> asked_for)
      : command_(command),
        variations_(variations),
        resources_(resources_so_far()),
        is_one_(is_one(command)),
        has_asked_(!asked_for.empty()),
        metrics_(has_asked_ ? std::move(asked_for) : report::usual_metrics(variations)) {}

  std::string page() const {
    const fabric::Variation& first = variations_.front();
    if (is_one_) {
      return report::sim_page(
          {.command = again(command_, first), .result = first.result, .resources = resources_});
    }
    return report::sweep_page({.command = sweep_request(command_, first.result.seed),
                               .variations = variations_,
                               .metrics = metrics_});
  }
  std::string text() const {
    const fabric::RunResult& first = variations_.front().result;
    if (command_.json) {
      return is_one_ ? fabric::json_of(first, resources_) : sweep_json(variations_, resources_);
    }
    if (is_one_ && has_asked_) return metrics_text(first, metrics_);
    const auto look = TextTable::Look::for_stream(STDOUT_FILENO, command_.colour);
    if (is_one_) return run_text(first, resources_, look);
    return fmt::format("{}: {}\n{} runs\n\n", first.scenario, first.description, variations_.size()) +
           sweep_text(report::sweep_of(variations_, metrics_), look);
  }

 private:
  const SimCommand& command_;
  const Variations& variations_;
  fabric::Resources resources_;
  bool is_one_;
  bool has_asked_;
  std::vector<report::Metric> metrics_;
};

ExitCode run_fluid(const SimCommand& command, const ConfigFile& source, const fabric::SweepPlan& plan) {
  const auto scenario = fabric::scenario_from_toml(source.text, source.name, plan.settings);
  if (!scenario) return complain(scenario.error());
  const auto report = fabric::fluid_report(*scenario);
  if (!report) return complain(report.error());
  if (!command.json) return print_report("sim", fluid_text(scenario->name, *report));
  JsonWriter out;
  out.begin_object().member("schema_version", 1).member("scenario", scenario->name).key("fluid");
  to_json(out, *report);
  out.end_object();
  return print_report("sim", out.take());
}

}  // namespace

ExitCode run_sim(const SimCommand& command) {
  if (command.list) return list_shipped(command);
  const auto source = scenario_source(command.scenario);
  if (!source) return complain(source.error());
  const auto plan = plan_of(command);
  if (!plan) return complain(plan.error());
  if (command.fluid) return run_fluid(command, *source, *plan);
  auto metrics = metrics_of(command);
  if (!metrics) return complain(metrics.error());
  Expected<Variations> variations;
  {
    const SystemClock clock;
    ProgressLine line("sim " + command.scenario, kProgressSteps, clock);
    variations =
        fabric::sweep(source->text, source->name, *plan, std::thread::hardware_concurrency(),
                      [&](double share) { line.update(static_cast<std::int64_t>(share * kProgressSteps)); });
  }
  if (!variations) return complain(variations.error());
  const Output output(command, *variations, std::move(*metrics));
  if (!command.html.empty()) {
    const auto written = write_atomically(command.html, output.page());
    if (!written) return complain(written.error());
  }
  const ExitCode printed = print_report("sim", output.text());
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
