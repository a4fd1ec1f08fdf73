// `rocetune tune --workload ... --twin F.toml`: a virtual fabric that stands for the hosts.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "agent/report/tune_twin.h"
#include "agent/tune/host_plant/host_plant.h"
#include "agent/tune/twin/twin_guide.h"
#include "dataplane/base/progress.h"
#include "dataplane/base/text_table.h"
#include "tools/rocetune/tune.h"

namespace rocetune::cli {

// The text of --twin, before any host is asked. Nothing: there is none. Error: bad_input.
Expected<std::optional<ConfigFile>> twin_file(const TuneCommand& command);

// The twin of a plant, and the guide that it is for the search. Fits and searches it under a progress bar.
class TunedTwin {
 public:
  // `plant` and `policy` must outlive it. Error: bad_input with every issue of the file.
  static Expected<std::unique_ptr<TunedTwin>> open(const ConfigFile& file, const TuneCommand& command,
                                                   const tune::HostPlant& plant,
                                                   const search::Policy& policy);
  search::Guide& guide() { return guide_; }
  const twin::Twin& twin() const { return twin_; }
  report::TuneTwin told(const search::Outcome& outcome) const;
  void write(JsonWriter& out, const search::Outcome& outcome) const;

 private:
  TunedTwin(twin::Twin twin, const TuneCommand& command, const search::Policy& policy);
  void show(std::string_view what, int done, int of);

  SystemClock clock_;
  std::string shown_;
  std::optional<ProgressLine> line_;
  twin::Twin twin_;
  twin::TwinGuide guide_;
};

std::string twin_text(const report::TuneTwin& twin, const TextTable::Look& look);
// --dry-run: who plays whom, and which knobs mean what.
std::string mapping_text(const twin::Twin& twin, const TextTable::Look& look);

}  // namespace rocetune::cli
