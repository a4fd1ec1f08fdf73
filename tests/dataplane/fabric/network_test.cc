// Hosts with the real engine on a simulated network: everything arrives, nothing is lost where PFC protects
// it, and the same seed gives the same history.
#include "dataplane/fabric/network.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "dataplane/base/config_files.h"
#include "tests/dataplane/fabric/fabric_scenes.h"
#include "tests/dataplane/fabric/golden_run.h"

namespace rocetune::fabric {
namespace {

constexpr BitRate k100G = gigabits_per_second(100);
constexpr Priority kRoce{3};
constexpr Priority kCnp{6};
constexpr Dscp kCnpDscp{48};
constexpr Instant kLimit{milliseconds(200)};

NetworkOptions lossless_options() {
  NetworkOptions out;
  const std::pair<Dscp, Priority> map[] = {{Dscp(26), kRoce}, {kCnpDscp, kCnp}};
  out.switches.priority_of = dscp_map(map);
  out.host.priority_of = out.switches.priority_of;
  out.host.controller.kind = ControllerChoice::Kind::off;
  out.switches.ingress.lossless = PrioritySet::of(kRoce);
  out.host.receiver.buffer.lossless = PrioritySet::of(kRoce);
  out.switches.ingress.lossless_pool.headroom = Bytes(100'000);
  return out;
}

std::vector<Flow> incast(std::uint32_t senders, std::uint64_t bytes) {
  std::vector<Flow> flows;
  for (NodeId i = 0; i < senders; ++i)
    flows.push_back({.from = i, .to = senders, .bytes = bytes, .start = {}});
  return flows;
}

Duration longest(const Network& network) {
  Duration out;
  for (NodeId id = 0; id < network.hosts(); ++id) {
    for (const auto& sending : network.host(id).sendings()) {
      if (sending.outcome.finished == Instant::never()) return Duration::max();
      out = std::max(out, sending.outcome.finished - sending.flow.start);
    }
  }
  return out;
}

void expect_all_arrived(const Network& network, std::uint64_t bytes) {
  const Network::Totals totals = network.totals();
  EXPECT_TRUE(network.is_finished());
  EXPECT_EQ(totals.right_bytes, bytes);
  EXPECT_EQ(totals.wrong_bytes, 0u);
  EXPECT_EQ(totals.failures, 0u);
  EXPECT_EQ(totals.unroutable, 0u);
}

TEST(Network, AFlowTakesItsTimeOnTheWireAndNoMore) {
  const auto flows = incast(1, 10'000'000);
  Network network(star(2, k100G, microseconds(1)), lossless_options(), flows);
  network.run(kLimit);
  expect_all_arrived(network, 10'000'000);
  // 1024 bytes of payload in 1024 + 58 of headers and ICRC + 24 around it; then the last packet's way and its
  // ACK's.
  const double wire_us = 10'000'000.0 / 1024 * (1024 + 14 + 20 + 8 + 12 + 4 + 24) * 8 / 100e3;
  const double fct_us = longest(network).seconds() * 1e6;
  EXPECT_GT(fct_us, wire_us);
  EXPECT_LT(fct_us, wire_us + 6);
}

TEST(Network, AnIncastOnALosslessNetworkPausesAndLosesNothing) {
  const auto flows = incast(8, 2'000'000);
  NetworkOptions options = lossless_options();
  options.switches.ingress.buffer = Bytes(2'000'000);
  Network network(star(9, k100G, microseconds(1)), options, flows);
  network.run(kLimit);
  expect_all_arrived(network, 16'000'000);
  EXPECT_EQ(network.totals().lossless_drops, 0u);
  std::uint64_t pauses = 0;
  for (std::uint16_t port = 0; port < 8; ++port) pauses += network.switch_at(0).counters(port).pauses_sent[3];
  EXPECT_GT(pauses, 0u);
}

TEST(Network, AnIncastWithoutPfcLosesAndGoesBack) {
  const auto flows = incast(8, 500'000);
  NetworkOptions options = lossless_options();
  options.switches.ingress.lossless = {};
  options.switches.ingress.buffer = Bytes(600'000);
  Network network(star(9, k100G, microseconds(1)), options, flows);
  network.run(Instant(seconds(2)));
  EXPECT_TRUE(network.is_finished());
  EXPECT_EQ(network.totals().wrong_bytes, 0u);
  std::uint64_t drops = 0;
  std::uint64_t again = 0;
  for (std::uint16_t port = 0; port < 8; ++port) drops += network.switch_at(0).counters(port).drops[3];
  for (NodeId id = 0; id < 8; ++id) again += network.host(id).statistics().retransmitted_frames;
  EXPECT_GT(drops, 0u);
  EXPECT_GE(again, drops);
}

NetworkOptions dcqcn_options() {
  NetworkOptions out = lossless_options();
  out.host.controller.kind = ControllerChoice::Kind::dcqcn;
  out.switches.marked = PrioritySet::of(kRoce);
  out.switches.congestion_point.curve = {Bytes(100'000), Bytes(400'000), Ratio::from_percent(20)};
  return out;
}

TEST(Network, DcqcnMarksSlowsDownAndKeepsTheQueueShort) {
  const auto flows = incast(4, 20'000'000);
  Network network(star(5, k100G, microseconds(1)), dcqcn_options(), flows);
  network.run(kLimit);
  expect_all_arrived(network, 80'000'000);
  std::uint64_t cnps = 0;
  for (NodeId id = 0; id < 4; ++id) cnps += network.host(id).statistics().cnps_handled;
  EXPECT_GT(cnps, 10u);
  EXPECT_EQ(network.host(4).statistics().cnps_sent, cnps);
  EXPECT_GT(network.switch_at(0).counters(4).marked[3], 100u);
}

// A window that shrinks below what was sent without asking for an acknowledgement must not wait for a
// timeout.
TEST(Network, NothingIsSentAgainWhereNothingIsLost) {
  const auto file = ConfigFiles().read("scenarios/dcqcn-off-and-on.toml").value();
  for (const char* controller : {"swift", "dcqcn"}) {
    const RunResult r = run(
        scenario_from_toml(file.text, file.name, {{"hosts.controller", controller}, {"hosts.mtu", "4096"}})
            .value());
    EXPECT_EQ(r.drops, 0u) << controller;
    EXPECT_EQ(r.flows.retransmitted_frames, 0u) << controller;
    EXPECT_LT(r.flows.fct_us->max, 10'000) << controller;  // an ACK timeout is 67 ms
  }
}

// An incast makes round trips grow by more than TIMELY's 20 us within one sample. Its rates come back: 16
// flows of 3 MB to each of two hosts take 3.9 ms of their links, and no more than twice that.
TEST(Network, TimelyComesBackFromAnIncast) {
  const auto file = ConfigFiles().read("scenarios/dcqcn-off-and-on.toml").value();
  for (const char* mtu : {"1024", "4096"}) {
    const RunResult r =
        run(scenario_from_toml(file.text, file.name, {{"hosts.controller", "timely"}, {"hosts.mtu", mtu}})
                .value());
    EXPECT_EQ(r.flows.finished, 32u) << mtu;
    EXPECT_EQ(r.flows.retransmitted_frames, 0u) << mtu;
    EXPECT_LT(r.flows.fct_us->max, 2 * 3'900) << mtu;
  }
}

TEST(Network, TheSameSeedGivesTheSameHistory) {
  const auto history = [](std::uint64_t seed) {
    NetworkOptions options = dcqcn_options();
    options.seed = seed;
    const auto flows = incast(4, 3'000'000);
    Network network(star(5, k100G, microseconds(1)), options, flows);
    network.run(kLimit);
    return network.event_log_sha256();
  };
  EXPECT_EQ(history(1), history(1));
  EXPECT_NE(history(1), history(2));
}

TEST(Network, TheGoldenRunIsTheSameEverywhere) {
  const RunResult r = golden_run();
  EXPECT_EQ(r.event_log_sha256, kGoldenSha256);
  EXPECT_FALSE(r.reached_limit);
  EXPECT_GT(r.lost_frames, 0u);
  EXPECT_GT(r.ce_marked, 0u);
  EXPECT_GT(r.pause_frames, 0u);
}

TEST(Network, SeveralThreadsChangeNothing) {
  const auto scenario = scenario_from_toml(kGoldenScenario, "golden.toml").value();
  for (const std::size_t threads : {2U, 3U, 7U}) {
    const RunResult r = run(scenario, {.threads = threads});
    EXPECT_EQ(r.event_log_sha256, kGoldenSha256) << threads;
    EXPECT_EQ(violations(r), "");
  }
}

TEST(Network, APermutationOverThreeTiersFinishes) {
  const Topology topology = fat_tree(FatTreeShape::of_ports(4, k100G, microseconds(1)));
  std::vector<Flow> flows;
  for (NodeId i = 0; i < topology.hosts; ++i)
    flows.push_back({.from = i, .to = (i + 5) % topology.hosts, .bytes = 500'000, .start = {}});
  Network network(topology, dcqcn_options(), flows);
  network.run(kLimit);
  expect_all_arrived(network, 16 * 500'000);
  EXPECT_EQ(network.totals().lossless_drops, 0u);
}

TEST(Network, TimeStandsWhereItWasToldTo) {
  const auto flows = incast(1, 10'000'000);
  Network network(star(2, k100G, microseconds(1)), lossless_options(), flows);
  EXPECT_EQ(network.run(Instant(microseconds(100))), Instant(microseconds(100)));
  EXPECT_FALSE(network.is_finished());
  network.run(kLimit);
  EXPECT_TRUE(network.is_finished());
}

}  // namespace
}  // namespace rocetune::fabric
