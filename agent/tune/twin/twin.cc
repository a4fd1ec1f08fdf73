#include "agent/tune/twin/twin.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>

#include "agent/tune/fabric_plant/circumstances.h"
#include "agent/tune/fabric_plant/constraints.h"
#include "agent/tune/fabric_plant/measure.h"
#include "dataplane/base/parallel.h"
#include "dataplane/base/random.h"
#include "dataplane/base/sha256.h"
#include "dataplane/fabric/network.h"

namespace rocetune::twin {
namespace {

using fabric::Scenario;
using search::Objective;

// What the ports that are played count, by the schema's names (configs/counters/schema.toml).
struct Counted {
  std::map<std::string, std::int64_t> sums;
  double pause_ratio = 0;

  void take(const fabric::HostNode& host, Instant end) {
    const auto add = [&](const char* counter, std::uint64_t value) {
      sums[counter] += static_cast<std::int64_t>(value);
    };
    const auto sum = [](const auto& by_priority) {
      std::uint64_t out = 0;
      for (const std::uint64_t value : by_priority) out += value;
      return out;
    };
    const fabric::HostPortCounters& counters = host.counters();
    add("rdma_tx_packets", sum(counters.sent.packets));
    add("rdma_tx_bytes", sum(counters.sent.wire_bytes));
    add("rdma_rx_packets", sum(counters.received.packets) - host.receive_drops());
    add("rdma_rx_bytes", sum(counters.received.wire_bytes) - counters.discarded_wire_bytes);
    add("rx_ce_packets", host.statistics().rx_ce_packets);
    add("cnp_sent", host.statistics().cnps_sent);
    add("cnp_handled", host.statistics().cnps_handled);
    add("rx_pause_frames", sum(counters.pauses_received.frames));
    add("tx_pause_frames", sum(counters.pauses_sent.frames));
    const double run_s = (end - Instant()).seconds();
    Duration held, holding;
    for (int p = 0; p < Priority::kCount; ++p) {
      const Duration of_this[] = {host.held_time(end, Priority(p)), host.holding_time(end, Priority(p))};
      held = held + of_this[0];
      holding = holding + of_this[1];
      for (const Duration paused : of_this) {
        if (run_s > 0) pause_ratio = std::max(pause_ratio, std::min(1.0, paused.seconds() / run_s));
      }
    }
    add("rx_pause_duration_us", static_cast<std::uint64_t>(held / microseconds(1)));
    add("tx_pause_duration_us", static_cast<std::uint64_t>(holding / microseconds(1)));
  }
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
  Counted counted;
  fabric::RunOptions options;
  options.on_end = [&](const fabric::Network& network, Instant end) {
    for (const TwinPort& port : ports_) counted.take(network.host(port.id), end);
  };
  const fabric::RunResult result = fabric::run(scenario, options);
  out = fabric_plant::observation_of(result, scenario);
  out.counter_deltas = std::move(counted.sums);
  out.objectives[Objective::pause_ratio] = counted.pause_ratio;
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
