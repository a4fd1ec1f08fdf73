// Hosts as a plant: a candidate becomes a transaction on each of them, the workload is the user's own
// command, and what it prints and the hosts' counters are the observation.
//
// Nothing here writes to a host by itself. A candidate is applied by that host's `rocetune apply`, never
// confirmed while the search goes on: if this program, this machine or the network dies, the host's dead-man
// takes it back.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "agent/tune/host_plant/host_space.h"
#include "agent/tune/host_plant/host_transactions.h"
#include "agent/tune/host_plant/loaded_run.h"
#include "agent/tune/host_plant/metric.h"
#include "agent/tune/host_plant/watching.h"
#include "agent/tune/search/plant.h"

namespace rocetune::tune {

// A command that loads the hosts, run here by a shell.
struct WorkloadCommand {
  std::string name;     // "workload", "workload 2"
  std::string command;  // of /bin/sh
  bool held_out = false;
};

struct HostPlantOptions {
  std::vector<WorkloadCommand> workloads;  // one or more
  std::vector<Metric> metrics;             // one or more
  Duration workload_limit = seconds(600);  // longer is hung
  Duration interval = milliseconds(500);   // between two looks at the counters while it runs
  Duration commit_soak = seconds(30);      // as apply's own: longer than a switch's DCBX period
  std::vector<std::string> allow;          // consents, as apply takes them
  // A rate above this many times the links' together is nonsense: both directions, and the grain of clocks.
  double most_of_links = 2.04;
};

class HostPlant final : public search::Plant {
 public:
  // `hosts` and the hosts of `space` are the same, in the same order.
  HostPlant(std::vector<HostControl> hosts, HostSpace space, HostPlantOptions options, SoakLimits limits);

  const search::PlantTraits& traits() const override { return traits_; }
  const search::Space& space() const override { return space_.space(); }
  const std::vector<search::Constraint>& constraints() const override { return space_.constraints(); }
  const std::vector<search::Workload>& workloads() const override { return workloads_; }
  const std::vector<search::Suggestion>& suggestions() const override { return space_.suggestions(); }
  Expected<search::Observation> observe(const search::Request& request, std::stop_token stop) override;
  Expected<> restore() override;

  const HostSpace& host_space() const { return space_; }
  // After so long a host takes back by itself what nobody has taken back or confirmed.
  Duration dead_man() const;
  // Applies the candidate everywhere and confirms it: all hosts, or none; `is_stopped` is asked before the
  // change and before the confirmation. The transactions, in the order of hosts; 0 where there was nothing to
  // do. Error: what failed; restore() then says whether every host is as it was.
  Expected<std::vector<std::int64_t>> commit(const search::Candidate& candidate,
                                             const std::function<bool()>& is_stopped);

 private:
  Expected<std::optional<std::string>> put(const search::Candidate& candidate, Duration soak);
  void read_metrics(const LoadedResult& run, search::Observation& out) const;
  bool is_start(const search::Candidate& candidate) const;

  HostTransactions transactions_;
  HostSpace space_;
  HostPlantOptions options_;
  SoakLimits limits_;
  search::PlantTraits traits_;
  std::vector<search::Workload> workloads_;
  std::optional<search::Candidate> in_force_;  // nothing: not known
  bool is_begun_ = false;                      // the hosts were asked what was done to them before
  RatesBefore before_;                         // of the start state under load
  std::optional<double> links_gbps_;           // all tuned ports together; none: some speed is not known
};

}  // namespace rocetune::tune
