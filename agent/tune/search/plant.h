// A plant is anything that can be tuned: a virtual fabric, one host, a set of hosts. The search knows only
// this interface; everything that tells plants apart is stated here as data.
#pragma once

#include <cstddef>
#include <cstdint>
#include <stop_token>
#include <string>
#include <vector>

#include "agent/tune/search/constraint.h"
#include "agent/tune/search/observation.h"
#include "agent/tune/search/space.h"
#include "dataplane/base/error.h"

namespace rocetune::search {

// Settings somebody knows a reason for. Tried before anything is guessed, in the plant's order.
struct Suggestion {
  enum class Kind {
    remedy,  // the fix of a finding of doctor's
    preset,  // a published set of values, or a mode worth trying: DCQCN off, lossy
  };
  Kind kind = Kind::remedy;
  std::string id;      // rule id ("ECN-2"), or the preset's name ("dcqcn-paper"); unique
  std::string reason;  // the finding's text, or the preset's origin
  std::vector<Setting> settings;
  // A remedy of what breaks things whatever a few runs show (traffic in a class without PFC): once it is in a
  // plan it stays there.
  bool is_vital = false;
};

// What is run to measure a candidate.
struct Workload {
  std::string name;
  double weight = 1;      // in the mean over workloads; > 0
  bool held_out = false;  // what is gained here counts nothing; it must not have got worse in the end
};

// Something that could be turned in principle, and not on this plant.
struct LeftOut {
  std::string knob;
  std::string why;
};

struct PlantTraits {
  std::string name;  // for messages and the report: "fabric leaf-spine-16", "host gpu3"
  // What the plant is, beyond its space: a trial log is only resumed on a plant of the same identity (hash of
  // the scenario, host names and facts).
  std::string identity;
  // The same candidate, workload and repeat give the same observation. Then the baseline's run of a repeat
  // stands for all comparisons in it; where not, baseline and candidate are interleaved.
  bool is_repeatable = false;
  // How many requests the plant runs at once when given them together; 1 on hosts.
  std::size_t parallel = 1;
  // Held-out workloads run in every trial, as that costs nothing but time of this machine, and what a
  // candidate loses there counts against it. Else the confirmation alone runs them.
  bool watches_held_out = false;
  // Runs of a workload that a trial puts together, each under circumstances of its own.
  int runs = 1;
};

struct Request {
  Candidate candidate;
  std::size_t workload = 0;  // place in workloads()
  // The circumstances of a run: seed of its traffic, where the plant has one. Two candidates are compared
  // under the same repeat.
  std::uint64_t repeat = 0;
  bool with_series = false;
};

class Plant {
 public:
  virtual ~Plant() = default;

  // None of these change while the plant lives.
  virtual const PlantTraits& traits() const = 0;
  virtual const Space& space() const = 0;
  virtual const std::vector<Constraint>& constraints() const = 0;
  virtual const std::vector<Workload>& workloads() const = 0;
  virtual const std::vector<Suggestion>& suggestions() const = 0;

  // Applies the candidate, runs the workload, reads the result. Called only with candidates that are safe and
  // break no constraint. What goes wrong because of the candidate or the workload is in the observation
  // (failure, breaches); an Error means that the plant itself can no longer be used, or that `stop` was
  // requested (kind conflict): the search restores it and ends. Whatever happens the plant can be restored.
  virtual Expected<Observation> observe(const Request& request, std::stop_token stop) = 0;
  // The same for several at once, in their order. At most traits().parallel of them.
  virtual std::vector<Expected<Observation>> observe_all(const std::vector<Request>& requests,
                                                         const std::stop_token& stop);

  // Back to the state before the first change, as it was when the plant was first opened (also by a process
  // that died since). Nothing changed: success. Not cancelled by anything.
  virtual Expected<> restore() = 0;
};

}  // namespace rocetune::search

namespace rocetune {
ROCETUNE_ENUM(search::Suggestion::Kind, P{E::remedy, "remedy"}, P{E::preset, "preset"});
}  // namespace rocetune
