#include "agent/tune/host_plant/watching.h"

#include <fmt/core.h>
#include <gmock/gmock.h>

#include "agent/counters/watch_view.h"

namespace rocetune::tune {
namespace {

using testing::HasSubstr;

SoakLimits limits() {
  SoakLimits out;
  out.rules.push_back({.name = "held",
                       .counter = "rx_pause_duration_us",
                       .per_priority = true,
                       .share_of_time = Ratio::from_percent(99),
                       .per_second = {},
                       .meaning = "pause storm"});
  out.rules.push_back({.name = "drops",
                       .counter = "rx_discards_phy",
                       .per_priority = false,
                       .share_of_time = {},
                       .per_second = 100.0,
                       .times_before = 2,
                       .meaning = "the port drops"});
  return out;
}
// One second of eth0.
std::string frame(int paused_us, int drops, std::int64_t bytes = 0) {
  return fmt::format(
      R"({{"elapsed_us": 1000000, "ports": [{{"port": "eth0",)"
      R"( "increments": {{"rx_discards_phy": {}, "rdma_tx_bytes": {}}},)"
      R"( "priorities": [{{"priority": 3, "increments": {{"rx_pause_duration_us": {}}}}}]}}]}})",
      drops, bytes, paused_us);
}
constexpr const char* kNothing = R"({"elapsed_us": 1000000, "ports": [{"port": "eth0", "increments": {}}]})";

class WatchingTest : public testing::Test {
 protected:
  std::optional<search::Breach> take(const std::string& line) { return watching.take("h1", line, before); }
  SoakLimits rules = limits();
  Watching watching{rules};
  RatesBefore before;
};

TEST_F(WatchingTest, AStormIsABreachInTheFrameThatShowsIt) {
  EXPECT_FALSE(take(frame(900'000, 0)));
  const auto breach = take(frame(995'000, 0));
  ASSERT_TRUE(breach);
  EXPECT_EQ(breach->guardrail, "held");
  EXPECT_THAT(breach->what,
              HasSubstr("h1 eth0 priority 3: pause storm, rx_pause_duration_us 99.5 % of the time"));
}

TEST_F(WatchingTest, WhatWasSoBeforeIsNoBreach) {
  Watching start{rules};
  EXPECT_TRUE(start.take("h1", frame(1'000'000, 500), {}));
  before = start.rates();
  EXPECT_FALSE(take(frame(1'000'000, 0)));
  EXPECT_FALSE(take(frame(0, 900))) << "less than twice the rate before";
  EXPECT_TRUE(take(frame(0, 1100)));
}

TEST_F(WatchingTest, ANewHostHasNoExcuseOfAnother) {
  before[{"h2", "eth0", "rx_pause_duration_us", 3}] = 1;
  EXPECT_TRUE(take(frame(1'000'000, 0)));
}

TEST_F(WatchingTest, IncrementsAddUpAndAbsentOnesAreNotThere) {
  take(frame(100'000, 1, 1000));
  take(frame(300'000, 2, 1000));
  EXPECT_EQ(watching.increments().at("rx_discards_phy"), 3);
  EXPECT_EQ(watching.increments().at("rx_pause_duration_us"), 400'000);
  EXPECT_FALSE(watching.increments().contains("ack_timeouts"));
  EXPECT_DOUBLE_EQ(watching.pause_ratio().value(), 0.2);
}

TEST_F(WatchingTest, AnIntervalCountsAsItsFrameDoes) {
  counters::PortDelta port;
  port.port = "eth0";
  port.elapsed = milliseconds(500);
  port.increments.emplace(counters::CounterId{"rx_pause_duration_us", Priority(3)}, 499'000);
  port.increments.emplace(counters::CounterId{"rx_pause_duration_us", Priority(4)}, absent("PFC is off"));
  port.increments.emplace(counters::CounterId{"tx_pause_duration_us", Priority(3)}, 1000);
  port.increments.emplace(counters::CounterId{"rdma_tx_bytes", std::nullopt}, 4096);
  port.levels.emplace(counters::CounterId{"pcie_stalled_percent", std::nullopt}, 7);
  counters::WatchFrame frame;
  frame.interval.elapsed = milliseconds(500);
  frame.interval.ports.push_back(port);
  const auto of_frame = take(counters::to_json_line(frame));
  Watching other{rules};
  const auto of_interval = other.take("h1", frame.interval, before);
  ASSERT_TRUE(of_frame);
  EXPECT_EQ(of_interval, of_frame);
  EXPECT_EQ(other.increments(), watching.increments());
  EXPECT_EQ(other.increments().size(), 3U);
  EXPECT_EQ(other.pause_ratio(), watching.pause_ratio());
  EXPECT_DOUBLE_EQ(other.pause_ratio().value(), 0.998);
  EXPECT_EQ(other.rates(), watching.rates());
  EXPECT_EQ(other.series(), watching.series());

  frame.interval.elapsed = Duration(0);
  EXPECT_FALSE(other.take("h1", frame.interval, before));
  EXPECT_EQ(other.damaged(), 1);
}

TEST_F(WatchingTest, WithoutAPauseCounterThereIsNoRatio) {
  take(kNothing);
  EXPECT_FALSE(watching.pause_ratio());
  EXPECT_EQ(watching.frames(), 1);
  EXPECT_TRUE(watching.vanished().empty()) << "it never had counters";
}

TEST_F(WatchingTest, CountersThatVanishAreTold) {
  take(frame(0, 0));
  take(kNothing);
  ASSERT_EQ(watching.vanished().size(), 1U);
  EXPECT_EQ(watching.vanished()[0], "h1 eth0");
}

TEST_F(WatchingTest, DamagedLinesAreCountedAndNothingElse) {
  for (const char* line : {"", "{", "[]", "{\"elapsed_us\": 0, \"ports\": []}", "{\"elapsed_us\": 5}"})
    EXPECT_FALSE(take(line));
  EXPECT_EQ(watching.damaged(), 5);
  EXPECT_EQ(watching.frames(), 0);
}

TEST_F(WatchingTest, SeriesAreByHost) {
  take(frame(500'000, 0, 125'000'000));
  const auto series = watching.series();
  ASSERT_EQ(series.size(), 3U) << "what no frame counted is no curve";
  EXPECT_EQ(series[0].name, "throughput of h1");
  EXPECT_DOUBLE_EQ(series[0].values.at(0), 1.0);
  EXPECT_EQ(series[1].name, "pause ratio of h1");
  EXPECT_DOUBLE_EQ(series[1].values.at(0), 0.5);
  EXPECT_EQ(series[2].name, "discards of h1");
  EXPECT_FALSE(series[0].step_us) << "nothing is missing";
}

TEST_F(WatchingTest, AFrameWithoutACounterIsAGapAndNotZero) {
  take(frame(0, 0, 125'000'000));
  take(R"({"elapsed_us": 1000000, "ports": [{"port": "eth0", "increments": {"cnp_sent": 7}}]})");
  take(frame(0, 0, 250'000'000));
  const auto series = watching.series();
  ASSERT_EQ(series.size(), 4U);
  EXPECT_EQ(series[0].name, "throughput of h1");
  EXPECT_EQ(series[0].values, (std::vector<double>{1, 2}));
  EXPECT_EQ(series[0].at_us, (std::vector<double>{1e6, 3e6}));
  EXPECT_EQ(series[0].step_us, 1e6);
  EXPECT_EQ(series[2].name, "CNPs sent of h1");
  EXPECT_EQ(series[2].values, (std::vector<double>{7}));
  EXPECT_EQ(series[2].at_us, (std::vector<double>{2e6}));
}

}  // namespace
}  // namespace rocetune::tune
