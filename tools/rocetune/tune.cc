#include "tools/rocetune/tune.h"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <thread>

#include "agent/tune/fabric_plant/tuning.h"
#include "agent/tune/host_plant/process.h"
#include "dataplane/base/durable.h"
#include "dataplane/base/json_writer.h"
#include "tools/rocetune/scenario_source.h"
#include "tools/rocetune/stop_signal.h"
#include "tools/rocetune/tune_hosts.h"
#include "tools/rocetune/tune_html.h"
#include "tools/rocetune/tune_run.h"
#include "tools/rocetune/tune_text.h"

namespace rocetune::cli {
namespace {

using fabric_plant::FabricPlant;

// The same run again.
std::string request_of(const TuneCommand& command) {
  std::string out = fmt::format("rocetune tune --fabric {} --budget {} --seed {}",
                                tune::shell_word(command.fabric), command.budget, command.seed);
  const auto add = [&](const char* flag, const std::vector<std::string>& values) {
    for (const std::string& value : values) out += fmt::format(" {} {}", flag, tune::shell_word(value));
  };
  add("--set", command.settings);
  add("--objective", command.objectives);
  add("--only", command.only);
  add("--without", command.without);
  return out;
}

// Before there is anything to be told.
ExitCode stopped_early(const TuneCommand& command) {
  const char* const why = "it was stopped before the first trial";
  JsonWriter out;
  out.begin_object().member("schema_version", std::int64_t{1}).member("command", request_of(command));
  out.member("verdict", enum_name(search::Verdict::interrupted)).member("reason", why);
  out.member("trials", std::int64_t{0}).end_object();
  print_report("tune",
               command.json ? out.take() + "\n" : fmt::format("INTERRUPTED  {}: {}\n", command.fabric, why));
  return ExitCode::failed_undone;
}

// Doctor's fixes first: the order in which changes are explained.
void put_in_told_order(std::vector<search::PlanStep>& plan, const search::Outcome& outcome,
                       const search::Space& space) {
  const auto place = [&](const search::PlanStep& step) {
    const auto explains = [&](const search::Attribution& one) {
      return std::ranges::any_of(one.settings,
                                 [&](const search::Setting& s) { return space[s.knob].name == step.knob; });
    };
    return std::ranges::find_if(outcome.attribution, explains) - outcome.attribution.begin();
  };
  std::ranges::stable_sort(plan, {}, place);
}

Expected<std::unique_ptr<FabricPlant>> open_plant(const TuneCommand& command, const ConfigFiles& configs,
                                                  const std::stop_token& stop) {
  fabric_plant::FabricOptions options{
      .seed = command.seed, .only = command.only, .without = command.without, .stop = stop};
  options.threads = command.threads > 0 ? command.threads : std::thread::hardware_concurrency();
  for (const std::string& text : command.settings) {
    auto setting = toml_setting(text, "--set");
    if (!setting) return tl::unexpected(setting.error());
    options.settings.push_back(std::move(*setting));
  }
  const auto source = fabric_source(command.fabric, "--fabric");
  if (!source) return tl::unexpected(source.error());
  return FabricPlant::open(source->text, source->name, options, configs);
}

}  // namespace

Parsed<search::Budget> parse_budget(std::string_view text) {
  constexpr int kMostTrials = 1'000'000;
  const std::string allowed = fmt::format("{} to {} trials as a number, or a time such as \"5min\"",
                                          search::kLeastTrials, kMostTrials);
  int trials = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), trials);
  if (error == std::errc() && end == text.data() + text.size()) {
    if (trials >= search::kLeastTrials && trials <= kMostTrials) return search::Budget{.trials = trials};
    return tl::unexpected(UnitError{std::string(text), allowed});
  }
  const auto time = parse_duration(text);
  if (!time || *time <= Duration(0)) return tl::unexpected(UnitError{std::string(text), allowed});
  return search::Budget{.time = *time};
}

ExitCode run_tune(const TuneCommand& command) {
  if (command.fabric.empty()) return tune_hosts(command);
  const ConfigFiles configs;
  const auto budget = parse_budget(command.budget);
  ROCETUNE_ASSERT(budget.has_value());  // the command line has read it
  const SignalWatch signals;
  auto plant = open_plant(command, configs, signals.token());
  if (!plant && stop_was_asked()) return stopped_early(command);
  if (!plant) return complain(plant.error());
  const auto look = TextTable::Look::for_stream(STDOUT_FILENO, command.colour);
  if (command.dry_run)
    return print_report("tune", command.json ? space_json(**plant) : space_text(**plant, look));
  const auto policy = search::load_policy(configs).and_then([&](search::Policy shipped) {
    return fabric_plant::policy_for(**plant, shipped, command.objectives, "--objective");
  });
  if (!policy) return complain(policy.error());
  if (!command.html.empty()) {
    if (auto writable = check_writable(command.html); !writable) return complain(writable.error());
  }
  const search::TuneOptions options{.budget = *budget, .seed = command.seed};
  const auto record = recorded(command, **plant, options);
  if (!record) return complain(record.error());
  search::Plant& asked = *record ? static_cast<search::Plant&>(**record) : **plant;
  fabric_plant::FabricTuning tuning{.command = request_of(command), .policy = *policy};
  tuning.outcome = search_with_progress("tune " + command.fabric, asked, *policy, options);
  const std::string& log = command.log.empty() ? command.resume : command.log;
  if (tuning.outcome.verdict == search::Verdict::interrupted && !log.empty())
    tuning.command += " --resume " + tune::shell_word(log);
  tuning.so_far = search::best_so_far(tuning.outcome);
  tuning.plan = fabric_plant::steps_of(**plant, tuning.proposed());
  put_in_told_order(tuning.plan, tuning.outcome, (*plant)->space());
  tuning.worsened = search::worsened_by(**plant, *policy, tuning.outcome);
  tuning.unrepaired = fabric_plant::unrepaired_of(**plant);
  tuning.switch_names = fabric_plant::switch_names_of(**plant, tuning.proposed());
  tuning.switch_lines = fabric_plant::switch_lines_of(**plant, tuning.proposed());
  // What minutes of search have found is printed even where the page cannot be written.
  const auto written =
      command.html.empty() ? Expected<>() : write_atomically(command.html, tuning_page(tuning, **plant));
  const ExitCode printed = print_report(
      "tune", command.json ? json_of(tuning, **plant, command.series) : tuning_text(tuning, **plant, look));
  if (!written) return complain(written.error());
  return printed == ExitCode::fine ? code_of(tuning.outcome) : printed;
}

}  // namespace rocetune::cli
