// One run of a workload under the eyes of its hosts' counters: it begins when all of them are seen, and ends
// at once when they show harm, or are seen no more.
#pragma once

#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "agent/tune/host_plant/host_control.h"
#include "agent/tune/host_plant/watching.h"

namespace rocetune::tune {

struct LoadedRun {
  std::vector<std::string> words;               // of the workload: program and arguments
  Duration limit;                               // longer is hung
  Duration interval;                            // between two looks at the counters
  std::vector<std::vector<std::string>> ports;  // watched, by host
  bool forgives = false;                        // breaches are the start state's own: nobody's doing
};

struct LoadedResult {
  int status = 0;
  std::string out, err;                  // of the workload
  std::vector<search::Breach> breaches;  // at most one for each host
  std::optional<search::Failure> failure;
  bool stopped = false;
};

// Runs it to its end, and until one more look at every host's counters has come in after that. `before`: what
// the hosts did before anything was changed.
LoadedResult run_loaded(const LoadedRun& run, const std::vector<HostControl>& hosts,
                        const RatesBefore& before, Watching& watching, const std::stop_token& stop);

}  // namespace rocetune::tune
