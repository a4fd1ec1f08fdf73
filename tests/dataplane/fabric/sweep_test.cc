#include "dataplane/fabric/sweep.h"

#include <gmock/gmock.h>

#include "dataplane/fabric/deadlock_finder.h"
#include "tests/dataplane/fabric/fabric_scenes.h"

namespace rocetune::fabric {
namespace {

using testing::Contains;
using testing::IsSupersetOf;

const std::string kIncast = R"(
name = "incast"
seed = 4
[topology]
shape = "star"
hosts = 5
[switches]
buffer = "4MiB"
lossless = [3]
headroom = "60kB"
kmin = "50kB"
kmax = "200kB"
pmax = "10%"
[[flows]]
pattern = "incast"
senders = 4
bytes = "1MB"
)";

TEST(SweepAxis, CutsAtCommasOutsideBrackets) {
  const auto axis = sweep_axis("a.b=[1,2],[3],\"x,y\"", "--sweep").value();
  EXPECT_EQ(axis.key, "a.b");
  EXPECT_EQ(axis.values, (std::vector<std::string>{"[1,2]", "[3]", "\"x,y\""}));
  EXPECT_FALSE(sweep_axis("nothing", "--sweep"));
  EXPECT_FALSE(sweep_axis("=1", "--sweep"));
}

TEST(Sweep, RunsEveryCombinationWithEverySeedInOrder) {
  const SweepPlan plan{.axes = {{"hosts.mtu", {"1024", "4096"}}, {"hosts.controller", {"off", "dcqcn"}}},
                       .seeds = 2};
  const auto runs = sweep(kIncast, "x.toml", plan, 2, {}).value();
  ASSERT_EQ(runs.size(), 8u);
  EXPECT_EQ(runs[2].settings,
            (std::vector<TomlSetting>{{"hosts.mtu", "1024"}, {"hosts.controller", "dcqcn"}}));
  EXPECT_EQ(runs[0].result.seed, 4u);
  EXPECT_EQ(runs[1].result.seed, 5u);
  EXPECT_GT(runs[0].result.packet_hops, runs[4].result.packet_hops);  // smaller frames
  EXPECT_EQ(runs[0].result.ce_marked > 0, true);
}

TEST(Sweep, SeveralThreadsChangeNothing) {
  const SweepPlan plan{.axes = {{"hosts.mtu", {"1024", "2048", "4096"}}}, .seeds = 2};
  const auto one = sweep(kIncast, "x.toml", plan, 1, {}).value();
  const auto three = sweep(kIncast, "x.toml", plan, 3, {}).value();
  ASSERT_EQ(one.size(), three.size());
  for (std::size_t i = 0; i < one.size(); ++i)
    EXPECT_EQ(one[i].result.event_log_sha256, three[i].result.event_log_sha256) << i;
}

TEST(Sweep, TellsHowFarItIs) {
  double last = 0;
  const auto runs = sweep(kIncast, "x.toml", {.seeds = 3}, 2, [&](double share) {
    EXPECT_GE(share, last - 1e-9);
    last = share;
  });
  ASSERT_TRUE(runs);
  EXPECT_NEAR(last, 1, 1e-9);
}

TEST(Sweep, AWrongValueIsRefusedBeforeAnythingRuns) {
  const auto wrong = sweep(kIncast, "x.toml", {.axes = {{"hosts.mtu", {"1024", "1500"}}}}, 1, {});
  ASSERT_FALSE(wrong);
  EXPECT_NE(wrong.error().text().find("1500"), std::string::npos);
  const auto many =
      sweep(kIncast, "x.toml", {.axes = {{"seed", std::vector<std::string>(200, "1")}}, .seeds = 100}, 1, {});
  ASSERT_FALSE(many);
  EXPECT_NE(many.error().text().find("at most 10000"), std::string::npos);
}

// More than are watched: the largest are.
TEST(Series, OfManyFlowsHasTheLargest) {
  const std::string text = std::string(kIncast) +
                           "[[flows]]\npattern = \"incast\"\nto = 0\nhosts = \"1-3\"\n"
                           "flows_per_sender = 400\nbytes = \"1kB\"\n";
  const RunResult r = result_of(text, {}, {.samples = 20});
  ASSERT_TRUE(r.series);
  ASSERT_EQ(r.series->flows.size(), 16u);
  EXPECT_EQ(r.series->flows_left_out, 1204u - 16);
}

TEST(Series, AddsUpToTheWhole) {
  const RunResult r = result_of(kIncast, {}, {.samples = 50});
  ASSERT_TRUE(r.series);
  const TimeSeries& s = *r.series;
  EXPECT_GE(s.goodput_gbps.size(), 50u);
  EXPECT_LE(s.goodput_gbps.size(), 100u);
  double bytes = 0;
  for (const double gbps : s.goodput_gbps) bytes += gbps * 1e9 / 8 * s.step_us / 1e6;
  EXPECT_LE(bytes, 4e6 + 1);
  EXPECT_GT(bytes, 4e6 * 0.95);  // what came after the last whole step is not in it
  ASSERT_FALSE(s.ports.empty());
  EXPECT_EQ(s.ports[0].name, "switch 0 port 4");
  EXPECT_EQ(s.ports[0].queue_bytes.size(), s.goodput_gbps.size());
  // All that a flow, or the link of the receiver, carried; the link with headers and acknowledgements' way.
  ASSERT_EQ(s.flows.size(), 4u);
  EXPECT_EQ(s.flows_left_out, 0u);
  double of_flows = 0;
  for (const FlowSeries& flow : s.flows) {
    for (const double gbps : flow.goodput_gbps) of_flows += gbps * 1e9 / 8 * s.step_us / 1e6;
  }
  EXPECT_NEAR(of_flows, bytes, 1);
  EXPECT_EQ(s.links[0].name, "switch 0 port 4");
  EXPECT_EQ(s.links[0].rate_gbps, 100);
  double of_link = 0;
  for (const double gbps : s.links[0].throughput_gbps) of_link += gbps * 1e9 / 8 * s.step_us / 1e6;
  EXPECT_GT(of_link, bytes);
  EXPECT_LT(of_link, bytes * 1.15);
  // Looking changes nothing.
  EXPECT_EQ(r.event_log_sha256, result_of(kIncast).event_log_sha256);
}

// One flow on an idle fabric: of each packet the time on two links and their delays; none before it starts.
TEST(Series, DelayOfPacketsIsThatOfTheWayAndAbsentWhereNothingArrives) {
  const std::string text = R"(
name = "alone"
[topology]
shape = "star"
hosts = 2
rate = "100Gbps"
delay = "10us"
[hosts]
mtu = 4096
[[flows]]
pattern = "pair"
from = 0
to = 1
bytes = "1MiB"
start = "50us"
)";
  const RunResult r = result_of(text, {}, {.samples = 100});
  const TimeSeries& s = r.series.value();
  ASSERT_EQ(s.delay_p99_us.size(), s.goodput_gbps.size());
  // 4096 B of payload and 82 B around it at 100 Gb/s, twice, and 10 us twice.
  const double way_us = 2 * (4096 + 82) * 8 / 100e3 + 20;
  int steps = 0;
  for (std::size_t i = 0; i < s.delay_p99_us.size(); ++i) {
    EXPECT_EQ(s.delay_p99_us[i].has_value(), s.goodput_gbps[i] > 0) << i;
    if (!s.delay_p99_us[i]) continue;
    ++steps;
    EXPECT_NEAR(*s.delay_p99_us[i], way_us, way_us * 0.02) << i;
  }
  EXPECT_GT(steps, 40);
  EXPECT_FALSE(s.delay_p99_us.front());
}

// What is put together of two steps is the percentile of both; threads change nothing.
TEST(Series, DelayOfPacketsGrowsWithTheQueue) {
  const RunResult fine = result_of(kIncast, {}, {.samples = 200});
  const RunResult coarse = result_of(kIncast, {}, {.threads = 2, .samples = 20});
  const auto longest = [](const RunResult& r) {
    double out = 0;
    for (const auto& delay : r.series->delay_p99_us) out = std::max(out, delay.value_or(0));
    return out;
  };
  EXPECT_GT(longest(fine), 50);
  EXPECT_NEAR(longest(coarse), longest(fine), longest(fine) * 0.1);
  EXPECT_EQ(coarse.series->delay_p99_us, result_of(kIncast, {}, {.samples = 20}).series->delay_p99_us);
}

TEST(Series, IsOfTheLargestFlowsAndSaysHowManyAreLeftOut) {
  const std::string text = R"(
name = "many"
[topology]
shape = "star"
hosts = 24
[[flows]]
pattern = "permutation"
shift = 1
bytes = "100kB"
[[flows]]
pattern = "pair"
from = 3
to = 5
bytes = "300kB"
start = "5us"
)";
  const RunResult r = result_of(text, {}, {.samples = 20});
  const TimeSeries& s = r.series.value();
  ASSERT_EQ(s.flows.size(), 16u);
  EXPECT_EQ(s.flows_left_out, 9u);
  EXPECT_EQ(s.flows.back().name, "host 3 to host 5");  // the last to start
  EXPECT_EQ(s.links.size() + s.links_left_out, 48u);
  EXPECT_EQ(r.flows.slowest.size(), 16u);
  EXPECT_EQ(r.flows.slowest[0].name, "host 3 to host 5");
  EXPECT_EQ(r.flows.slowest[0].bytes, 300'000u);
  EXPECT_DOUBLE_EQ(r.flows.slowest[0].fct_us.value(), r.flows.fct_us->max);
}

TEST(Flows, UnfinishedOnesAreTheSlowest) {
  const RunResult r = result_of(kIncast, {{"limit", "100us"}});
  ASSERT_EQ(r.flows.slowest.size(), 4u);
  EXPECT_FALSE(r.flows.slowest[0].fct_us);
  // What arrived counts before the message is acknowledged.
  EXPECT_GT(r.flows.slowest[0].goodput_gbps, 10);
  EXPECT_LT(r.flows.slowest[0].goodput_gbps, 40);
}

// Five switches in a ring: all packets go two on, each queue of the ring waits for the next one.
const std::string kFullRing = R"(
name = "ring"
limit = "20ms"
[topology]
shape = "torus"
dims = [5]
hosts_per_switch = 2
[hosts]
controller = "off"
[switches]
buffer = "1MiB"
lossless = [3]
headroom = "60kB"
alpha_exponent = -4
[[flows]]
pattern = "permutation"
shift = 4
bytes = "4MB"
)";

TEST(Deadlock, ARingThatFillsIsFoundAndNamed) {
  const RunResult r = result_of(kFullRing);
  ASSERT_TRUE(r.deadlock);
  EXPECT_EQ(r.deadlock->cycle.size(), 5u);
  EXPECT_EQ(r.deadlock->priority, 3);
  EXPECT_LT(r.virtual_s, 0.02);  // nothing more would have happened
  // A watchdog breaks it, at the price of drops: millions, as senders at line rate fill the ring again and
  // again until their retries run out one after the other. How many of the ten flows outlive that is chance.
  const RunResult watched = result_of(kFullRing, {{"switches.watchdog.detection", "200us"},
                                                  {"switches.watchdog.restoration", "200us"},
                                                  {"hosts.ack_timeout", "8"},
                                                  {"limit", "300ms"}});
  EXPECT_GT(watched.watchdog_drops, 0u);
  EXPECT_EQ(r.flows.finished, 0u);
  EXPECT_GT(watched.flows.finished, 0u);
}

std::vector<std::string> checks_of(const RunResult& result) {
  std::vector<std::string> out;
  for (const CheckerResult& c : result.checkers) out.push_back(c.name);
  return out;
}

// A guard takes frames away that PFC would have kept: whom it hits at every try runs out of retries.
TEST(Deadlock, RetriesThatRunOutInStormsAreNoViolation) {
  for (const char* const recovery : {"go_back_n", "selective_repeat"}) {
    const RunResult r = result_of(kFullRing, {{"switches.watchdog.detection", "200us"},
                                              {"switches.watchdog.restoration", "200us"},
                                              {"hosts.recovery", recovery},
                                              {"hosts.ack_timeout", "6"}});
    EXPECT_GT(r.storms, 0u);
    EXPECT_GT(r.failed_requests, 0u) << recovery;
    EXPECT_EQ(violations(r), "") << recovery;
    EXPECT_THAT(checks_of(r), Contains("no drop in a lossless class"));
    EXPECT_THAT(checks_of(r), Contains("every packet has a way"));
  }
}

TEST(Deadlock, WhoSendsInSpiteOfPausesMayFindNoRoom) {
  const RunResult r = result_of(kFullRing, {{"switches.watchdog.detection", "200us"},
                                            {"switches.watchdog.restoration", "200us"},
                                            {"switches.watchdog.action", "forward"}});
  EXPECT_GT(r.storms, 0u);
  EXPECT_GT(r.drops, 0u);
  EXPECT_EQ(violations(r), "");
}

// Where it finds no storm, it excuses nothing.
TEST(Deadlock, AWatchdogThatNeverActsLeavesAllChecks) {
  for (const char* const action : {"drop", "forward"}) {
    const RunResult r = result_of(kIncast, {{"switches.watchdog.detection", "200ms"},
                                            {"switches.watchdog.restoration", "200ms"},
                                            {"switches.watchdog.action", action}});
    EXPECT_EQ(r.storms, 0u);
    EXPECT_THAT(checks_of(r), IsSupersetOf({"no drop in a lossless class", "every request ends well"}));
  }
}

TEST(Deadlock, CongestionAloneIsNone) {
  const RunResult r = result_of(
      kIncast, {{"hosts.controller", "off"}, {"switches.buffer", "2MiB"}, {"flows.0.bytes", "20MB"}});
  EXPECT_GT(r.pause_frames, 0u);
  EXPECT_FALSE(r.deadlock);
}

}  // namespace
}  // namespace rocetune::fabric
