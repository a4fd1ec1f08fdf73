#include "tools/rocetune/tune.h"

#include <fmt/core.h>
#include <unistd.h>

#include <charconv>
#include <thread>

#include "agent/tune/fabric_plant/tuning.h"
#include "agent/tune/search/trial_log.h"
#include "dataplane/base/progress.h"
#include "tools/rocetune/scenario_source.h"
#include "tools/rocetune/stop_signal.h"
#include "tools/rocetune/tune_text.h"

namespace rocetune::cli {
namespace {

using fabric_plant::FabricPlant;

// The same run again.
std::string request_of(const TuneCommand& command) {
  std::string out = fmt::format("rocetune tune --fabric {} --budget {} --seed {}", command.fabric,
                                command.budget, command.seed);
  const auto add = [&](const char* flag, const std::vector<std::string>& values) {
    for (const std::string& value : values) out += fmt::format(" {} '{}'", flag, value);
  };
  add("--set", command.settings);
  add("--objective", command.objectives);
  add("--only", command.only);
  add("--without", command.without);
  return out;
}

Expected<std::unique_ptr<FabricPlant>> open_plant(const TuneCommand& command, const ConfigFiles& configs) {
  fabric_plant::FabricOptions options{.seed = command.seed, .only = command.only, .without = command.without};
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

// The plant itself, or one that writes its answers down, or one that remembers them.
Expected<std::unique_ptr<search::RecordedPlant>> recorded(const TuneCommand& command, FabricPlant& plant,
                                                          const search::TuneOptions& options) {
  if (!command.resume.empty()) return search::RecordedPlant::resume(plant, command.resume, options);
  if (!command.log.empty()) return search::RecordedPlant::start(plant, command.log, options);
  return nullptr;
}

search::Outcome search_with_progress(const TuneCommand& command, search::Plant& plant,
                                     const search::Policy& policy, const search::TuneOptions& options) {
  const SystemClock clock;
  // A budget in time: a bar of thousandths.
  const std::int64_t steps = options.budget.trials.value_or(1000);
  ProgressLine line("tune " + command.fabric, steps, clock);
  std::stop_source stop;
  stop_on_signals();
  const Instant begin = clock.now();
  const auto on_trial = [&](const search::Progressed& progressed) {
    if (stop_was_asked()) stop.request_stop();
    std::int64_t done = progressed.done;
    if (!options.budget.trials && options.budget.time)
      done = static_cast<std::int64_t>((clock.now() - begin).seconds() / options.budget.time->seconds() * 1000);
    line.update(done, progressed.trial.why);
  };
  return search::tune(plant, policy, options, on_trial, stop.get_token());
}

ExitCode code_of(const search::Outcome& outcome) {
  if (!outcome.restored) return ExitCode::failed_not_undone;
  switch (outcome.verdict) {
    case search::Verdict::change:
    case search::Verdict::no_change:
      return ExitCode::fine;
    case search::Verdict::refused:
      return ExitCode::bad_input;
    case search::Verdict::interrupted:
      return ExitCode::failed_undone;
  }
  ROCETUNE_ASSERT(false);
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
  const ConfigFiles configs;
  const auto budget = parse_budget(command.budget);
  ROCETUNE_ASSERT(budget.has_value());  // the command line has read it
  auto plant = open_plant(command, configs);
  if (!plant) return complain(plant.error());
  const auto look = TextTable::Look::for_stream(STDOUT_FILENO, command.colour);
  if (command.dry_run)
    return print_report("tune", command.json ? space_json(**plant) : space_text(**plant, look));
  const auto policy = search::load_policy(configs).and_then([&](search::Policy shipped) {
    return fabric_plant::policy_for(**plant, shipped, command.objectives, "--objective");
  });
  if (!policy) return complain(policy.error());
  const search::TuneOptions options{.budget = *budget, .seed = command.seed};
  const auto record = recorded(command, **plant, options);
  if (!record) return complain(record.error());
  search::Plant& asked = *record ? static_cast<search::Plant&>(**record) : **plant;
  fabric_plant::FabricTuning tuning{.command = request_of(command), .policy = *policy};
  tuning.outcome = search_with_progress(command, asked, *policy, options);
  tuning.plan = fabric_plant::steps_of(**plant, tuning.outcome.best);
  tuning.unrepaired = fabric_plant::unrepaired_of(**plant);
  const ExitCode printed = print_report(
      "tune", command.json ? json_of(tuning, **plant, command.series) : tuning_text(tuning, **plant, look));
  return printed == ExitCode::fine ? code_of(tuning.outcome) : printed;
}

}  // namespace rocetune::cli
