// The record of a tuning run, one JSON object a line, on disk before the next run begins: what an interrupted
// run goes on from, or is reported from.
//
// A run is a function of its plant's answers. So it is resumed by running it again on a plant that gives the
// recorded answers first: RecordedPlant.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "agent/tune/search/plant.h"
#include "agent/tune/search/tuner.h"
#include "dataplane/base/durable.h"

namespace rocetune::search {

// The first line: what the answers below belong to.
struct LogHead {
  int schema_version = 1;
  std::string plant;         // PlantTraits::name
  std::string identity;      // PlantTraits::identity
  std::string space_sha256;  // Space::sha256
  std::uint64_t seed = 0;
  std::optional<int> budget_trials;
  std::optional<std::int64_t> budget_time_ns;
  std::optional<std::string> guide;  // Guide::identity
  bool operator==(const LogHead&) const = default;
  static constexpr void fields(auto&& visit, auto&... self) {
    visit("schema_version", self.schema_version...);
    visit("plant", self.plant...);
    visit("identity", self.identity...);
    visit("space_sha256", self.space_sha256...);
    visit("seed", self.seed...);
    visit("budget_trials", self.budget_trials...);
    visit("budget_time_ns", self.budget_time_ns...);
    visit("guide", self.guide...);
  }
};
LogHead head_for(const Plant& plant, const TuneOptions& options);
// What the logged run was asked for: what a resumed one asks for again.
TuneOptions options_of(const LogHead& head);

// One answer of the plant.
struct LogEntry {
  std::vector<double> candidate;
  std::string workload;
  std::uint64_t repeat = 0;
  bool with_series = false;
  Observation observation;
  static constexpr void fields(auto&& visit, auto&... self) {
    visit("candidate", self.candidate...);
    visit("workload", self.workload...);
    visit("repeat", self.repeat...);
    visit("with_series", self.with_series...);
    visit("observation", self.observation...);
  }
};

struct RecordedRun {
  LogHead head;
  std::vector<LogEntry> entries;
};
// Reads a log; a torn last line (power cut) is left out. Error: bad_input with the line; absent.
Expected<RecordedRun> read_trial_log(const std::string& path);

// Plays recorded answers, then asks the plant, and writes down what it says before passing it on.
class RecordedPlant final : public Plant {
 public:
  // Starts a new log at `path` (an existing file: conflict).
  static Expected<std::unique_ptr<RecordedPlant>> start(Plant& plant, const std::string& path,
                                                        const TuneOptions& options);
  // Goes on with the one there. Errors: as read_trial_log; conflict if it belongs to another plant, space,
  // seed, guide or budget, naming what differs.
  static Expected<std::unique_ptr<RecordedPlant>> resume(Plant& plant, const std::string& path,
                                                         const TuneOptions& options);

  const PlantTraits& traits() const override { return plant_.traits(); }
  const Space& space() const override { return plant_.space(); }
  const std::vector<Constraint>& constraints() const override { return plant_.constraints(); }
  const std::vector<Workload>& workloads() const override { return plant_.workloads(); }
  const std::vector<Suggestion>& suggestions() const override { return plant_.suggestions(); }
  // Error, beside the plant's: conflict if the record has another question here (another version of the
  // search), io if the log cannot be written.
  Expected<Observation> observe(const Request& request, std::stop_token stop) override;
  std::vector<Expected<Observation>> observe_all(const std::vector<Request>& requests,
                                                 const std::stop_token& stop) override;
  Expected<> restore() override { return plant_.restore(); }

 private:
  RecordedPlant(Plant& plant, AppendFile log, std::vector<LogEntry> recorded)
      : plant_(plant), log_(std::move(log)), recorded_(std::move(recorded)) {}
  Plant& plant_;
  AppendFile log_;
  std::vector<LogEntry> recorded_;
  std::size_t played_ = 0;
};

}  // namespace rocetune::search
