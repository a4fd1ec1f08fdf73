#include "agent/tune/twin/twin.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <deque>
#include <optional>

#include "agent/counters/deltas.h"
#include "agent/counters/sampler.h"
#include "agent/tune/fabric_plant/circumstances.h"
#include "agent/tune/fabric_plant/constraints.h"
#include "agent/tune/fabric_plant/measure.h"
#include "agent/tune/host_plant/watching.h"
#include "agent/virtual_host/counter_readers.h"
#include "dataplane/base/clock.h"
#include "dataplane/base/parallel.h"
#include "dataplane/base/random.h"
#include "dataplane/base/sha256.h"
#include "dataplane/fabric/network.h"

namespace rocetune::twin {
namespace {

using fabric::Scenario;
using search::Objective;

// The ports that are played, looked at before the run and after it.
class PlayedPorts {
 public:
  // All must outlive it.
  PlayedPorts(const counters::Schema& schema, const Scenario& scenario, const std::vector<TwinPort>& ports)
      : schema_(schema), scenario_(scenario), ports_(ports) {}

  void begin(const fabric::Network& network) {
    for (const TwinPort& port : ports_) {
      counters::Sampler& sampler = samplers_.emplace_back(
          schema_, virtual_host::counter_readers(scenario_, network, clock_, port.id), clock_);
      before_.push_back(sampler.read());
    }
  }
  void end(Instant end) {
    clock_.sleep_until(end);
    for (std::size_t i = 0; i < ports_.size(); ++i) {
      const auto interval = counters::interval_between(schema_, before_[i], samplers_[i].read());
      (void)watching_.take(virtual_host::name_of(ports_[i].id), interval, {});  // no limits: nothing to judge
    }
  }
  void show(search::Observation& out) const {
    out.counter_deltas = watching_.increments();
    auto& paused = out.objectives[Objective::pause_ratio];
    paused = watching_.pause_ratio();
    if (!paused && watching_.frames() > 0) paused = 0;  // without PFC nobody is held, and nobody counts it
  }

 private:
  const counters::Schema& schema_;
  const Scenario& scenario_;
  const std::vector<TwinPort>& ports_;
  ManualClock clock_;  // the run's time
  std::deque<counters::Sampler> samplers_;
  std::vector<counters::Reading> before_;
  const tune::SoakLimits no_limits_;
  tune::Watching watching_{no_limits_};
};

}  // namespace

std::optional<double> Twin::WorkloadKnob::value_of(const std::string& text) const {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return knob.knob.is_safe(value / over) ? std::optional(value / over) : std::nullopt;
}

bool Twin::knows(std::size_t knob) const {
  return std::ranges::any_of(knobs_, [&](const TwinKnob& one) { return one.knob == knob; });
}

std::string Twin::sha256() const {
  Sha256 sum;
  sum.add(text_);
  return to_text(sum.finish());
}

void Twin::set_unknowns(Scenario& scenario, const std::vector<double>& values) const {
  for (std::size_t i = 0; i < unknowns_.size() && i < values.size(); ++i) {
    if (values[i] != unknowns_[i].unknown.start) unknowns_[i].write(scenario, values[i]);
  }
}

// What has no counterpart is told once, of the start and of each knob.
void Twin::change_hosts(Scenario& scenario, const search::Candidate& candidate) const {
  const search::Space& space = hosts_->space();
  for (const search::Setting& setting : space.difference(space.start(), space.canonical(candidate))) {
    const bool is_number = space[setting.knob].is_numeric();
    const auto given = given_.find({setting.knob, is_number ? 0 : setting.value});
    if (given == given_.end()) continue;
    for (const Given& one : given->second) {
      (void)give(scenario, one.id, one.knob,
                 is_number ? host::KnobValue(std::int64_t{std::llround(setting.value)}) : one.value);
    }
  }
}

void Twin::change_workload(Scenario& scenario, const search::Candidate& candidate) const {
  for (const auto& [name, text] : hosts_->environment(candidate)) {
    const auto knob = workload_knobs_.find(name);
    if (knob == workload_knobs_.end()) continue;
    if (const auto value = knob->second.value_of(text)) knob->second.knob.write(scenario, *value);
  }
}

Scenario Twin::scenario_of(const Run& run) const {
  Scenario out = runs_.at(run.workload);
  set_unknowns(out, run.values);
  std::uint64_t state = 1'000'003 * (run.workload + 1) + run.repeat;
  out = fabric_plant::under_circumstances(std::move(out), splitmix64(state), jitter_);
  change_hosts(out, run.candidate);
  change_workload(out, run.candidate);
  fabric_plant::write({}, search::Space(), search::Candidate(), out);  // derived headroom follows the MTU
  return out;
}

Scenario Twin::bones_of(const search::Candidate& candidate, const std::vector<double>& values) const {
  Scenario out = bones_;
  set_unknowns(out, values);
  change_hosts(out, candidate);
  fabric_plant::write({}, search::Space(), search::Candidate(), out);
  return out;
}

search::Observation Twin::run(const Run& run) const {
  search::Observation out;
  const Scenario scenario = scenario_of(run);
  const RedCurve& curve = scenario.options.switches.congestion_point.curve;
  if (curve.minimum > curve.maximum) {
    out.failure = search::Failure{search::FailureKind::not_applied, "Kmin is above Kmax"};
    return out;
  }
  PlayedPorts played(schema_, scenario, ports_);
  fabric::RunOptions options;
  options.on_begin = [&](const fabric::Network& network) { played.begin(network); };
  options.on_end = [&](const fabric::Network&, Instant end) { played.end(end); };
  const fabric::RunResult result = fabric::run(scenario, options);
  out = fabric_plant::observation_of(result, scenario);
  played.show(out);
  out.series.clear();
  return out;
}

std::vector<search::Observation> Twin::run_all(const std::vector<Run>& runs, std::size_t threads,
                                               const std::stop_token& stop) const {
  std::vector<search::Observation> out(runs.size());
  for_each_in_parallel(runs.size(), threads, [&](std::size_t i) {
    if (!stop.stop_requested()) out[i] = run(runs[i]);
  });
  return out;
}

}  // namespace rocetune::twin
