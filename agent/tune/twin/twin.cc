#include "agent/tune/twin/twin.h"

#include <fmt/core.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <optional>
#include <thread>

#include "agent/tune/fabric_plant/circumstances.h"
#include "agent/tune/fabric_plant/constraints.h"
#include "agent/tune/fabric_plant/measure.h"
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

Expected<> Twin::change_hosts(Scenario& scenario, const search::Candidate& candidate) const {
  const search::Space& space = hosts_->space();
  if (space.canonical(candidate) == space.start()) return {};
  for (std::size_t h = 0; h < hosts_->hosts().size(); ++h) {
    const auto plan = hosts_->plan(candidate, h, 0);
    if (!plan) return tl::unexpected(plan.error());
    for (const tune::Step& step : plan->steps) {
      for (const tune::Change& change : step.changes) {
        for (const TwinPort& port : ports_) {
          // What has no counterpart is told once, of the start and of each knob.
          if (port.host == h && port.port == change.knob.port)
            (void)give(scenario, port.id, change.knob, change.after);
        }
      }
    }
  }
  return {};
}

void Twin::change_workload(Scenario& scenario, const search::Candidate& candidate) const {
  for (const auto& [name, text] : hosts_->environment(candidate)) {
    const auto knob = workload_knobs_.find(name);
    if (knob == workload_knobs_.end()) continue;
    if (const auto value = knob->second.value_of(text)) knob->second.knob.write(scenario, *value);
  }
}

Expected<Scenario> Twin::scenario_of(const Run& run) const {
  Scenario out = runs_.at(run.workload);
  for (std::size_t i = 0; i < unknowns_.size() && i < run.values.size(); ++i) {
    if (run.values[i] != unknowns_[i].unknown.start) unknowns_[i].write(out, run.values[i]);
  }
  std::uint64_t state = 1'000'003 * (run.workload + 1) + run.repeat;
  out = fabric_plant::under_circumstances(std::move(out), splitmix64(state), jitter_);
  if (auto changed = change_hosts(out, run.candidate); !changed) return tl::unexpected(changed.error());
  change_workload(out, run.candidate);
  fabric_plant::write({}, search::Space(), search::Candidate(), out);  // derived headroom follows the MTU
  return out;
}

search::Observation Twin::run(const Run& run) const {
  search::Observation out;
  const auto refused = [&](std::string why) {
    out.failure = search::Failure{search::FailureKind::not_applied, std::move(why)};
    return out;
  };
  const auto scenario = scenario_of(run);
  if (!scenario) return refused(scenario.error().text());
  const RedCurve& curve = scenario->options.switches.congestion_point.curve;
  if (curve.minimum > curve.maximum) return refused("Kmin is above Kmax");
  Counted counted;
  fabric::RunOptions options;
  options.on_end = [&](const fabric::Network& network, Instant end) {
    for (const TwinPort& port : ports_) counted.take(network.host(port.id), end);
  };
  const fabric::RunResult result = fabric::run(*scenario, options);
  out = fabric_plant::observation_of(result, *scenario);
  out.counter_deltas = std::move(counted.sums);
  out.objectives[Objective::pause_ratio] = counted.pause_ratio;
  out.series.clear();
  return out;
}

std::vector<search::Observation> Twin::run_all(const std::vector<Run>& runs, std::size_t threads,
                                               const std::stop_token& stop) const {
  std::vector<search::Observation> out(runs.size());
  std::atomic<std::size_t> next = 0;
  const auto work = [&] {
    for (std::size_t i = next++; i < runs.size() && !stop.stop_requested(); i = next++) out[i] = run(runs[i]);
  };
  std::vector<std::jthread> others;
  for (std::size_t i = 1; i < std::min(threads, runs.size()); ++i) others.emplace_back(work);
  work();
  others.clear();
  return out;
}

}  // namespace rocetune::twin
