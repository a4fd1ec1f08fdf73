// Small fabrics whose hosts are looked at, and what is seen.
#pragma once

#include <gtest/gtest.h>

#include "agent/counters/deltas.h"
#include "agent/virtual_host/counter_readers.h"
#include "agent/virtual_host/host_facts.h"

namespace rocetune::virtual_host {

// Nothing is wrong with any host, and nothing gets congested.
constexpr std::string_view kHealthy = R"(
name = "healthy"
limit = "100ms"
[topology]
shape = "star"
hosts = 4
[hosts]
mtu = 4096
storm_prevention = "100ms"
ets = [50, 0, 0, 50, 0, 0, 0, 0]
traffic_classes = [0, 0, 0, 3, 0, 0, 6, 0]
[switches]
buffer = "8MiB"
lossless = [3]
headroom = "100kB"
kmin = "100kB"
kmax = "400kB"
pmax = "20%"
[[flows]]
pattern = "permutation"
shift = 1
bytes = "8MB"
)";

// Three to one, without congestion control: the switch pauses the senders.
constexpr std::string_view kPaused = R"(
name = "paused"
limit = "100ms"
[topology]
shape = "star"
hosts = 4
[hosts]
mtu = 4096
controller = "off"
[switches]
buffer = "1MiB"
lossless = [3]
headroom = "100kB"
[[flows]]
pattern = "incast"
to = 0
senders = 3
bytes = "4MB"
)";

inline fabric::Scenario scenario_of(std::string_view text, const std::string& more = "") {
  auto scenario = fabric::scenario_from_toml(std::string(text) + more, "test.toml");
  EXPECT_TRUE(scenario) << scenario.error().text();
  return scenario.value_or(fabric::Scenario());
}

// Everything that `hosts` has, of host 2: "[[hosts.own]]".
inline std::string own(const std::string& keys) { return "[[hosts.own]]\nhosts = [2]\n" + keys + "\n"; }

inline const counters::Schema& schema() {
  static const counters::Schema kSchema = counters::Schema::load(ConfigFiles()).value();
  return kSchema;
}

// Counters of one host from now to the end of the run.
inline counters::PortDelta delta_to_end(FabricRun& run, fabric::NodeId host) {
  const VirtualClock clock(run);
  counters::Sampler sampler(schema(), counter_readers(run, host), clock);
  const counters::Reading before = sampler.read();
  run.finish();
  return counters::interval_between(schema(), before, sampler.read()).ports.at(0);
}

// Counters of one host since the beginning.
inline counters::PortSample sample_of(FabricRun& run, fabric::NodeId host) {
  const VirtualClock clock(run);
  counters::Sampler sampler(schema(), counter_readers(run, host), clock);
  return counters::to_sample(schema(), sampler.read()).ports.at(0);
}

}  // namespace rocetune::virtual_host
