#include "tools/rocetune/tune_run.h"

#include <thread>

#include "dataplane/base/progress.h"
#include "tools/rocetune/stop_signal.h"

namespace rocetune::cli {
namespace {

constexpr Duration kLookForSignal = milliseconds(50);

}  // namespace

SignalWatch::SignalWatch() {
  stop_on_signals();
  thread_ = std::jthread([this](const std::stop_token& done) {
    SystemClock clock;
    while (!done.stop_requested()) {
      if (stop_was_asked()) stop_.request_stop();
      clock.sleep_for(kLookForSignal);
    }
  });
}

Expected<std::unique_ptr<search::RecordedPlant>> recorded(const TuneCommand& command, search::Plant& plant,
                                                          const search::TuneOptions& options) {
  if (!command.resume.empty()) return search::RecordedPlant::resume(plant, command.resume, options);
  if (!command.log.empty()) return search::RecordedPlant::start(plant, command.log, options);
  return nullptr;
}

search::Outcome search_with_progress(const std::string& title, search::Plant& plant,
                                     const search::Policy& policy, const search::TuneOptions& options) {
  const SystemClock clock;
  // A budget in time: a bar of thousandths.
  const std::int64_t steps = options.budget.trials.value_or(1000);
  ProgressLine line(title, steps, clock);
  const SignalWatch signals;
  const Instant begin = clock.now();
  const auto on_trial = [&](const search::Progressed& progressed) {
    std::int64_t done = progressed.done;
    if (!options.budget.trials && options.budget.time)
      done =
          static_cast<std::int64_t>((clock.now() - begin).seconds() / options.budget.time->seconds() * 1000);
    line.update(done, progressed.trial.why);
  };
  return search::tune(plant, policy, options, on_trial, signals.token());
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

}  // namespace rocetune::cli
