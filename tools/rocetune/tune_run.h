// What `rocetune tune` does with a plant, whatever it is: records or resumes, searches under a progress bar,
// ends on Ctrl-C.
#pragma once

#include <memory>
#include <stop_token>
#include <thread>

#include "agent/tune/search/trial_log.h"
#include "tools/rocetune/tune.h"

namespace rocetune::cli {

// Turns Ctrl-C into a stop request, whatever is under way: a trial may take minutes.
class SignalWatch {
 public:
  SignalWatch();
  SignalWatch(const SignalWatch&) = delete;
  SignalWatch& operator=(const SignalWatch&) = delete;
  std::stop_token token() const { return stop_.get_token(); }

 private:
  std::stop_source stop_;
  std::jthread thread_;
};

// Nothing: neither --log nor --resume was given. Else the plant that writes its answers down, or remembers
// them.
Expected<std::unique_ptr<search::RecordedPlant>> recorded(const TuneCommand& command, search::Plant& plant,
                                                          const search::TuneOptions& options);

// `title` stands before the bar. A signal ends the run within a moment, wherever it is.
search::Outcome search_with_progress(const std::string& title, search::Plant& plant,
                                     const search::Policy& policy, const search::TuneOptions& options);

// fine: change and no_change. bad_input: refused. failed_undone: interrupted. failed_not_undone: the plant is
// not as it was.
ExitCode code_of(const search::Outcome& outcome);

}  // namespace rocetune::cli
