#include "agent/counters/model.h"

#include <gtest/gtest.h>

namespace rocetune::counters {
namespace {

PortDelta delta() {
  PortDelta out;
  out.port = "eth0";
  out.elapsed = milliseconds(100);
  out.rdma_elapsed = milliseconds(200);
  out.sources = {{"rx_pause_duration_us", Source::ethtool}, {"cnp_sent", Source::rdma}};
  out.increments.emplace(CounterId{"rx_pause_duration_us", Priority(3)}, 25'000);
  out.increments.emplace(CounterId{"rx_pause_transitions", Priority(3)}, 10);
  out.increments.emplace(CounterId{"rx_pause_duration_us", Priority(4)}, absent("PFC is off"));
  out.increments.emplace(CounterId{"tx_bytes", Priority(3)}, 1'250'000'000);
  out.increments.emplace(CounterId{"cnp_sent", std::nullopt}, 50);
  out.levels.emplace(CounterId{"pci_stalled_write_percent", std::nullopt}, 31);
  return out;
}

TEST(PortDelta, ShareOfTimeIsDurationOverMeasuredTime) {
  EXPECT_EQ(delta().share_of_time("rx_pause_duration_us", Priority(3)), Ratio::from_percent(25));
}

TEST(PortDelta, ShareOfTimeMayPassOneByTheClocksGrain) {
  PortDelta d = delta();
  d.increments[{"rx_pause_duration_us", Priority(3)}] = 100'001;
  EXPECT_EQ(d.share_of_time("rx_pause_duration_us", Priority(3)), Ratio(1'000'010'000));
}

TEST(PortDelta, AbsentIsNothingAndSaysWhy) {
  EXPECT_EQ(delta().increment("rx_pause_duration_us", Priority(4)), std::nullopt);
  EXPECT_EQ(delta().share_of_time("rx_pause_duration_us", Priority(4)), std::nullopt);
  EXPECT_EQ(delta().why_absent("rx_pause_duration_us", Priority(4))->why, "PFC is off");
  EXPECT_EQ(delta().why_absent("no_such_counter")->kind, Unavailable::Kind::not_read);
  EXPECT_EQ(delta().why_absent("cnp_sent"), std::nullopt);
}

TEST(PortDelta, EachSourceHasItsOwnTime) {
  EXPECT_DOUBLE_EQ(delta().per_second("cnp_sent").value(), 250.0);
  EXPECT_EQ(delta().elapsed_of("cnp_sent"), milliseconds(200));
  EXPECT_EQ(delta().elapsed_of("rx_pause_duration_us"), milliseconds(100));
}

TEST(PortDelta, RateIsBitsPerSecond) {
  EXPECT_EQ(delta().rate("tx_bytes", Priority(3)), gigabits_per_second(100));
}

TEST(PortDelta, NoTimeNoRate) {
  PortDelta d = delta();
  d.elapsed = Duration();
  EXPECT_EQ(d.rate("tx_bytes", Priority(3)), std::nullopt);
  EXPECT_EQ(d.share_of_time("rx_pause_duration_us", Priority(3)), std::nullopt);
  EXPECT_EQ(d.per_second("rx_pause_duration_us", Priority(3)), std::nullopt);
}

TEST(PortDelta, MeanStallIsDurationOverTransitions) {
  EXPECT_EQ(delta().mean_stall("rx", Priority(3)), microseconds(2500));
  EXPECT_EQ(delta().mean_stall("rx", Priority(4)), std::nullopt);
  EXPECT_EQ(delta().mean_stall("tx", Priority(3)), std::nullopt);
  PortDelta none = delta();
  none.increments[{"rx_pause_transitions", Priority(3)}] = 0;
  EXPECT_EQ(none.mean_stall("rx", Priority(3)), std::nullopt);
}

TEST(PortDelta, AbsurdIncrementsGiveNoNumber) {
  PortDelta d = delta();
  d.increments[{"rx_pause_duration_us", Priority(3)}] = UINT64_MAX;
  d.increments[{"tx_bytes", Priority(3)}] = UINT64_MAX;
  EXPECT_EQ(d.share_of_time("rx_pause_duration_us", Priority(3)), std::nullopt);
  EXPECT_EQ(d.rate("tx_bytes", Priority(3)), std::nullopt);
  EXPECT_EQ(d.mean_stall("rx", Priority(3)), std::nullopt);
}

TEST(PortDelta, LevelsAreTheirLatestValue) {
  EXPECT_EQ(delta().level("pci_stalled_write_percent"), 31u);
  EXPECT_EQ(delta().level("pci_stalled_read_percent"), std::nullopt);
  EXPECT_EQ(delta().increment("pci_stalled_write_percent"), std::nullopt);
}

TEST(CounterId, TextNamesThePriority) {
  EXPECT_EQ(to_text(CounterId{"tx_bytes", Priority(3)}), "tx_bytes[3]");
  EXPECT_EQ(to_text(CounterId{"cnp_sent", std::nullopt}), "cnp_sent");
}

TEST(Interval, FindsAPort) {
  Interval interval;
  interval.ports.push_back(delta());
  EXPECT_EQ(interval.find_port("eth0"), &interval.ports[0]);
  EXPECT_EQ(interval.find_port("eth1"), nullptr);
}

}  // namespace
}  // namespace rocetune::counters
