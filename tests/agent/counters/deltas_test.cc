#include "agent/counters/deltas.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/agent/counters/test_data.h"

namespace rocetune::counters {
namespace {

using ::testing::HasSubstr;
using testing::port_sample;
using testing::sample;
using testing::schema;

constexpr std::uint64_t k32 = std::uint64_t{1} << 32;

PortDelta between(PortSample before, PortSample after) {
  return interval_between(schema(), sample(std::move(before)), sample(std::move(after))).ports.at(0);
}
std::string why(const PortDelta& delta, std::string_view name, std::optional<Priority> priority = {}) {
  const auto reason = delta.why_absent(name, priority);
  return reason ? reason->why : "";
}

// ---- increase: every case of width, fall and plausibility ----

struct IncreaseCase {
  const char* what;
  std::uint64_t before, after;
  int width;
  std::optional<std::uint64_t> most;
  std::optional<std::uint64_t> expected;
};
class Increase : public ::testing::TestWithParam<IncreaseCase> {};
TEST_P(Increase, IsKnownOrSaysReset) {
  const IncreaseCase& c = GetParam();
  const auto got = increase(c.before, c.after, c.width, c.most);
  if (c.expected) {
    EXPECT_EQ(got, *c.expected) << c.what;
  } else {
    ASSERT_FALSE(got) << c.what << ": " << *got;
    EXPECT_THAT(got.error().why, HasSubstr("counter went backwards")) << c.what;
    EXPECT_THAT(got.error().why, HasSubstr("reset?")) << c.what;
  }
}
INSTANTIATE_TEST_SUITE_P(
    All, Increase,
    ::testing::Values(
        IncreaseCase{"rose", 5, 9, 64, 100, 4}, IncreaseCase{"stood", 5, 5, 64, 100, 0},
        IncreaseCase{"stood at zero", 0, 0, 32, 100, 0},
        IncreaseCase{"rose past what 32 bits hold", k32 - 1, k32 + 4, 32, 100, 5},
        IncreaseCase{"wrapped by one", k32 - 1, 0, 32, 100, 1},
        IncreaseCase{"wrapped just as far as is plausible", k32 - 50, 50, 32, 100, 100},
        IncreaseCase{"wrapped further than is plausible", k32 - 50, 51, 32, 100, std::nullopt},
        IncreaseCase{"no bound known, under half the range", k32 - 1, k32 / 2 - 2, 32, std::nullopt,
                     k32 / 2 - 1},
        IncreaseCase{"no bound known, half the range", k32 - 1, k32 / 2 - 1, 32, std::nullopt, std::nullopt},
        IncreaseCase{"bound above half the range does not help", k32 - 1, k32 / 2 - 1, 32, k32, std::nullopt},
        IncreaseCase{"reset of a small counter", 1000, 10, 32, std::nullopt, std::nullopt},
        IncreaseCase{"64 bits do not wrap at 32", k32 - 1, 0, 64, std::nullopt, std::nullopt},
        IncreaseCase{"64 bits fell", UINT64_MAX, 0, 64, std::nullopt, std::nullopt},
        IncreaseCase{"called 32 bits wide and was larger", k32, 0, 32, std::nullopt, std::nullopt},
        IncreaseCase{"whole 64-bit range", 0, UINT64_MAX, 64, std::nullopt, UINT64_MAX}));

// ---- most_within ----

TEST(MostWithin, SmallestFramesBackToBack) {
  // 100 Gb/s carries 148.8 million smallest frames a second.
  const auto most = most_within(Unit::packets, seconds(1), gigabits_per_second(100));
  ASSERT_TRUE(most);
  EXPECT_GT(*most, 148'800'000u);
  EXPECT_LT(*most, 148'810'000u * 12 / 10);
}
TEST(MostWithin, UnknownSpeedIsTheFastestLink) {
  EXPECT_EQ(most_within(Unit::bytes, seconds(1), std::nullopt),
            most_within(Unit::bytes, seconds(1), gigabits_per_second(800)));
}
TEST(MostWithin, TimeIsBoundedByTime) {
  EXPECT_EQ(most_within(Unit::microseconds, seconds(1), std::nullopt), 1'100'001u);
  EXPECT_EQ(most_within(Unit::seconds, seconds(10), std::nullopt), 12u);
}
TEST(MostWithin, NoTimeNothing) { EXPECT_EQ(most_within(Unit::packets, Duration(), std::nullopt), 0u); }
TEST(MostWithin, AVeryLongTimeHasNoBound) {
  EXPECT_EQ(most_within(Unit::bits, Duration::max(), gigabits_per_second(1'000'000'000)), std::nullopt);
}

// ---- deltas of a port ----

TEST(Deltas, IncrementsOverMeasuredTimeOfEachSource) {
  PortSample before = port_sample("mlx5", seconds(1), {{"tx_prio3_bytes", 100}}, {{"np_cnp_sent", 7}});
  PortSample after = port_sample("mlx5", seconds(2), {{"tx_prio3_bytes", 600}}, {{"np_cnp_sent", 9}});
  after.rdma_at = Instant(seconds(3));
  const PortDelta d = between(before, after);
  EXPECT_EQ(d.increment("tx_bytes", Priority(3)), 500u);
  EXPECT_EQ(d.increment("cnp_sent"), 2u);
  EXPECT_EQ(d.elapsed, seconds(1));
  EXPECT_EQ(d.rdma_elapsed, seconds(2));
  EXPECT_DOUBLE_EQ(*d.per_second("cnp_sent"), 1.0);
}

TEST(Deltas, QueueCounterWrapsAt32Bits) {
  const PortDelta d = between(port_sample("mlx5", seconds(1), {}, {{"out_of_sequence", k32 - 10}}),
                              port_sample("mlx5", seconds(2), {}, {{"out_of_sequence", 5}}));
  EXPECT_EQ(d.increment("out_of_sequence"), 15u);
}

TEST(Deltas, QueueCounterThatFellToZeroWasReset) {
  PortSample before = port_sample("mlx5", seconds(1), {}, {{"out_of_sequence", 3'000'000'000}});
  PortSample after = port_sample("mlx5", seconds(2), {}, {{"out_of_sequence", 0}});
  before.speed = after.speed = gigabits_per_second(400);
  const PortDelta d = between(before, after);
  EXPECT_EQ(d.increment("out_of_sequence"), std::nullopt);
  EXPECT_EQ(why(d, "out_of_sequence"), "counter went backwards, from 3000000000 to 0: reset?");
}

TEST(Deltas, TheLinksSpeedDecidesWhatIsPlausible) {
  PortSample before = port_sample("mlx5", seconds(1), {}, {{"rx_write_requests", k32 - 1'000'000}});
  PortSample after = port_sample("mlx5", seconds(2), {}, {{"rx_write_requests", 199'000'000}});
  before.speed = after.speed = gigabits_per_second(400);  // 595 million smallest frames a second
  EXPECT_EQ(between(before, after).increment("rx_write_requests"), 200'000'000u);
  before.speed = after.speed = gigabits_per_second(100);  // 149 million
  EXPECT_EQ(between(before, after).increment("rx_write_requests"), std::nullopt);
}

TEST(Deltas, CongestionCountersDoNotWrap) {
  const PortDelta d = between(port_sample("mlx5", seconds(1), {}, {{"np_cnp_sent", k32 - 10}}),
                              port_sample("mlx5", seconds(2), {}, {{"np_cnp_sent", 5}}));
  EXPECT_THAT(why(d, "cnp_sent"), HasSubstr("counter went backwards"));
}

TEST(Deltas, VanishedPauseRowIsAbsentWithItsReason) {
  const PortDelta d = between(port_sample("mlx5", seconds(1), {{"x", 1}, {"rx_prio3_pause_duration", 5}}),
                              port_sample("mlx5", seconds(2), {{"x", 1}}));
  EXPECT_EQ(d.increment("rx_pause_duration_us", Priority(3)), std::nullopt);
  EXPECT_EQ(why(d, "rx_pause_duration_us", Priority(3)),
            "vanished during the interval: rx_prio3_pause_duration is not there; it exists only if PFC is on "
            "for the priority");
}

TEST(Deltas, AppearedPauseRowHasNoIncrementYet) {
  const PortDelta d = between(port_sample("mlx5", seconds(1), {{"x", 1}}),
                              port_sample("mlx5", seconds(2), {{"x", 1}, {"rx_prio3_pause", 5}}));
  EXPECT_EQ(d.increment("rx_pause_frames", Priority(3)), std::nullopt);
  EXPECT_THAT(why(d, "rx_pause_frames", Priority(3)), HasSubstr("appeared during the interval"));
}

TEST(Deltas, PauseRowsThatMoveInTheListAreStillTheSameCounters) {
  const PortDelta d =
      between(port_sample("mlx5", seconds(1),
                          {{"rx_prio3_pause", 5}, {"tx_prio3_bytes", 10}, {"tx_prio4_bytes", 20}}),
              port_sample("mlx5", seconds(2), {{"tx_prio3_bytes", 11}, {"tx_prio4_bytes", 22}}));
  EXPECT_EQ(d.increment("tx_bytes", Priority(3)), 1u);
  EXPECT_EQ(d.increment("tx_bytes", Priority(4)), 2u);
}

TEST(Deltas, AnotherNameThanBeforeIsNoIncrement) {
  const PortDelta d = between(port_sample("bnxt", seconds(1), {}, {{"np_cnp_sent", 1}}),
                              port_sample("bnxt", seconds(2), {}, {{"tx_cnp_pkts", 100}}));
  EXPECT_EQ(why(d, "cnp_sent"),
            "read as np_cnp_sent at the start of the interval and as tx_cnp_pkts at its end");
}

TEST(Deltas, AnotherSourceThanBeforeIsNoIncrement) {
  const PortDelta d = between(
      port_sample("bnxt", seconds(1), {{"x", 1}}, {}, {{"pfc_indications_3", 1}}),
      port_sample("bnxt", seconds(2), {{"rx_pfc_ena_frames_pri3", 9}}, {}, {{"pfc_indications_3", 2}}));
  EXPECT_THAT(why(d, "rx_pause_frames", Priority(3)), HasSubstr("read as pfc_indications_3"));
}

TEST(Deltas, LevelsAreNotSubtracted) {
  const PortDelta d = between(port_sample("mlx5", seconds(1), {{"outbound_pci_stalled_wr", 90}}),
                              port_sample("mlx5", seconds(2), {{"outbound_pci_stalled_wr", 40}}));
  EXPECT_EQ(d.level("pci_stalled_write_percent"), 40u);
  EXPECT_EQ(d.increments.count({"pci_stalled_write_percent", std::nullopt}), 0u);
  EXPECT_THAT(why(d, "pci_stalled_read_percent"), HasSubstr("outbound_pci_stalled_rd is not there"));
}

TEST(Deltas, ShorterThanTheKernelsCacheIsNotResolved) {
  PortSample before = port_sample("mlx5", milliseconds(100), {{"tx_prio3_bytes", 1}}, {{"np_cnp_sent", 7}});
  PortSample after = port_sample("mlx5", milliseconds(105), {{"tx_prio3_bytes", 2}}, {{"np_cnp_sent", 7}});
  before.rdma_resolution = after.rdma_resolution = milliseconds(10);
  const PortDelta d = between(before, after);
  EXPECT_EQ(why(d, "cnp_sent"), "the kernel renews these every 10ms; the interval of 5ms is shorter");
  EXPECT_EQ(d.increment("tx_bytes", Priority(3)), 1u);
  EXPECT_TRUE(d.rdma_elapsed.is_zero());
}

TEST(Deltas, NoTimeBetweenReadingsIsNoIncrement) {
  const PortDelta d = between(port_sample("mlx5", seconds(1), {{"tx_prio3_bytes", 1}}),
                              port_sample("mlx5", seconds(1), {{"tx_prio3_bytes", 2}}));
  EXPECT_THAT(why(d, "tx_bytes", Priority(3)), HasSubstr("no time passed"));
}

TEST(Deltas, BothEdgesAreHalvedWithoutLosingAny) {
  const auto at = [](int t, std::uint64_t transitions) {
    return port_sample("bnxt", seconds(t), {{"pfc_pri3_rx_transitions", transitions}});
  };
  const auto first = *between(at(1, 3), at(2, 4)).increment("rx_pause_transitions", Priority(3));
  const auto second = *between(at(2, 4), at(3, 9)).increment("rx_pause_transitions", Priority(3));
  const auto whole = *between(at(1, 3), at(3, 9)).increment("rx_pause_transitions", Priority(3));
  EXPECT_EQ(first + second, whole);
  EXPECT_EQ(whole, 3u);
}

TEST(Deltas, EverySlotIsAnIncrementALevelOrAReason) {
  const PortDelta d = between(port_sample("mlx5", seconds(1), {{"tx_prio3_bytes", 1}}),
                              port_sample("mlx5", seconds(2), {{"tx_prio3_bytes", 2}}));
  EXPECT_EQ(d.increments.size() + d.levels.size(), schema().slots().size());
}

TEST(Deltas, OnlyPortsThatAreInBothReadings) {
  Sample before = sample(port_sample("mlx5", seconds(1), {{"tx_prio3_bytes", 1}}));
  Sample after = sample(port_sample("mlx5", seconds(2), {{"tx_prio3_bytes", 2}}));
  after.ports.push_back(after.ports[0]);
  after.ports[1].port = "eth1";
  EXPECT_EQ(interval_between(schema(), before, after).ports.size(), 1u);
}

}  // namespace
}  // namespace rocetune::counters
