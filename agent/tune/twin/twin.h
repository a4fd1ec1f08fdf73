// A virtual fabric that stands for hosts: it has their settings, is given what a candidate of theirs would
// give them, and shows what they would show. Only what a candidate means to it is foretold.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "agent/counters/schema.h"
#include "agent/tune/fabric_plant/knobs.h"
#include "agent/tune/host_plant/host_space.h"
#include "agent/tune/search/observation.h"
#include "agent/tune/twin/fit.h"
#include "agent/tune/twin/host_meaning.h"
#include "agent/tune/twin/quantities.h"

namespace rocetune::twin {

// Which host of the scenario plays which port.
struct TwinPort {
  std::size_t host = 0;  // of the host space
  std::string host_name, port;
  fabric::NodeId id = 0;
};

// A knob of hosts that the twin has, and what it is there: "mtu", "hosts.mtu".
struct TwinKnob {
  std::size_t knob = 0;  // of the host space
  std::string counterpart;
  std::vector<double> values;  // of choices: those that mean something to the twin, the start among them
};

// What of the scenario is not known: switches, cables, load.
struct TwinUnknown {
  Unknown unknown;
  std::vector<Quantity> rests_on;  // one of them has to be observed
  std::function<void(fabric::Scenario&, double)> write;
};

class Twin {
 public:
  // `text` is that of the scenario `file`; `hosts` must outlive it. Its searched workloads stand for those of
  // the hosts, in order. `configs`: what its hosts' counters are called. Errors: bad_input with every issue
  // of the file; InfiniBand; configs that cannot be read.
  static Expected<Twin> open(std::string_view text, const std::string& file, const tune::HostSpace& hosts,
                             const std::vector<std::string>& workloads, const ConfigFiles& configs);

  const std::string& file() const { return file_; }
  const fabric::Scenario& scenario() const { return runs_.front(); }
  const tune::HostSpace& hosts() const { return *hosts_; }
  const std::vector<TwinPort>& ports() const { return ports_; }
  // Names, by the hosts' searched workloads that it has.
  struct Pair {
    std::string of_hosts, of_twin;
  };
  const std::vector<Pair>& workloads() const { return workloads_; }
  const std::vector<TwinKnob>& knobs() const { return knobs_; }
  const std::vector<Note>& not_predicted() const { return not_predicted_; }
  const std::vector<Note>& not_taken_over() const { return not_taken_over_; }
  const std::vector<TwinUnknown>& unknowns() const { return unknowns_; }
  bool knows(std::size_t knob) const;
  std::string sha256() const;

  // One run of a candidate of the hosts. Counters and pause_ratio are of the ports that it plays alone, read
  // as `watch --fabric` reads any host of a fabric and added up as frames of the hosts are; a host without
  // PFC counts no pauses, and pause_ratio is 0 where none has it. What the fabric cannot be is a failure
  // (not_applied). `values`: of the unknowns, by place.
  struct Run {
    search::Candidate candidate;
    std::size_t workload = 0;
    std::uint64_t repeat = 0;
    std::vector<double> values;
  };
  search::Observation run(const Run& run) const;
  // The same for several at once, on so many threads; in their order.
  std::vector<search::Observation> run_all(const std::vector<Run>& runs, std::size_t threads,
                                           const std::stop_token& stop) const;
  // The fabric of a run.
  fabric::Scenario scenario_of(const Run& run) const;
  // The same without traffic: what rules look at.
  fabric::Scenario bones_of(const search::Candidate& candidate, const std::vector<double>& values) const;

 private:
  // Something that a knob of the hosts gives a host of the scenario.
  struct Given {
    fabric::NodeId id = 0;
    host::Knob knob;
    host::KnobValue value;  // of numbers: the knob's own
  };
  Twin() = default;
  Expected<> read(std::string_view text, const std::string& file, const std::vector<std::string>& workloads);
  void place_ports();
  void take_over();
  void find_knobs();
  void find_unknowns();
  Expected<std::vector<Given>> given_by(const search::Candidate& candidate) const;
  void learn_numbers(std::size_t knob);
  void learn_choices(std::size_t knob);
  bool add_counterparts(const search::Candidate& candidate, std::set<std::string>& counterparts) const;
  void set_unknowns(fabric::Scenario& scenario, const std::vector<double>& values) const;
  void change_hosts(fabric::Scenario& scenario, const search::Candidate& candidate) const;
  void change_workload(fabric::Scenario& scenario, const search::Candidate& candidate) const;

  // A variable of a job's environment, and what it turns here.
  struct WorkloadKnob {
    fabric_plant::FabricKnob knob;
    double over = 1;
    // None: it is no number, or not one that the twin takes.
    std::optional<double> value_of(const std::string& text) const;
  };

  const tune::HostSpace* hosts_ = nullptr;
  counters::Schema schema_;
  std::string file_, text_;
  Duration jitter_;
  std::vector<fabric::Scenario> runs_;  // by workload; with the hosts' settings
  fabric::Scenario bones_;
  std::vector<TwinPort> ports_;
  std::vector<Pair> workloads_;
  std::vector<TwinKnob> knobs_;
  std::vector<Note> not_predicted_, not_taken_over_;
  std::vector<TwinUnknown> unknowns_;
  std::map<std::string, WorkloadKnob> workload_knobs_;  // by environment variable
  // By knob of the hosts and choice (numbers: 0). A search asks for thousands of candidates, and each of its
  // changes is made by one knob: what a whole candidate gives is what its knobs give, one after the other.
  std::map<std::pair<std::size_t, double>, std::vector<Given>> given_;
};

}  // namespace rocetune::twin
