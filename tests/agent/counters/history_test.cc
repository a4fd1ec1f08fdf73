#include "agent/counters/history.h"

#include <gtest/gtest.h>

#include "agent/counters/deltas.h"
#include "tests/agent/counters/test_data.h"

namespace rocetune::counters {
namespace {

using testing::port_sample;
using testing::sample;
using testing::schema;

// At the n-th tenth of a second n² bytes had been sent; with rows that no counter of the schema stands in.
Reading tenth(int n) {
  PortSample port =
      port_sample("mlx5", milliseconds(100 * (n + 1)),
                  {{"rx0_packets", 5}, {"tx_prio3_bytes", static_cast<std::uint64_t>(n * n)}, {"zz", 6}},
                  {{"np_cnp_sent", 3}, {"unheard_of", 1}});
  port.unread.emplace(Source::dcb, absent("no DCB").value());
  port.dcb_at = Instant();
  return to_reading(schema(), sample(port));
}
std::optional<std::uint64_t> bytes(const std::optional<Interval>& interval) {
  return interval ? interval->ports.at(0).increment("tx_bytes", Priority(3)) : std::nullopt;
}

TEST(History, KeepsTheNewestAndForgetsTheOldest) {
  History history(schema(), {{3, 1}});
  for (int n = 0; n < 5; ++n) history.add(tenth(n));
  ASSERT_EQ(history.tier(0).size(), 3u);
  EXPECT_EQ(history.tier(0).front().at, tenth(2).at);
  EXPECT_EQ(history.tier(0).back().at, tenth(4).at);
}

TEST(History, CoarserTiersKeepOneOfMany) {
  History history(schema(), {{2, 1}, {4, 3}});
  for (int n = 0; n < 12; ++n) history.add(tenth(n));
  ASSERT_EQ(history.tier(1).size(), 4u);
  EXPECT_EQ(history.tier(1).front().at, tenth(0).at);
  EXPECT_EQ(history.tier(1).back().at, tenth(9).at);
}

TEST(History, KeepsOnlyWhatTheSchemaKnows) {
  History history(schema(), {{3, 1}});
  history.add(tenth(2));
  const PortReading& port = history.tier(0).front().ports.at(0);
  EXPECT_EQ(port.blocks[index_of(Source::ethtool)]->names->names, std::vector<std::string>{"tx_prio3_bytes"});
  EXPECT_EQ(port.blocks[index_of(Source::ethtool)]->values, std::vector<std::uint64_t>{4});
  EXPECT_EQ(port.blocks[index_of(Source::rdma)]->values, std::vector<std::uint64_t>{3});
  EXPECT_EQ(port.blocks[index_of(Source::dcb)].error().why, "no DCB");
}

TEST(History, IncrementsAreThoseOfTheFullReadings) {
  History history(schema(), {{5, 1}});
  for (int n = 0; n < 5; ++n) history.add(tenth(n));
  const PortDelta full = interval_between(schema(), tenth(2), tenth(4)).ports.at(0);
  const auto kept = history.last(milliseconds(200));
  ASSERT_TRUE(kept);
  EXPECT_EQ(kept->ports.at(0).increments, full.increments);
  EXPECT_EQ(kept->ports.at(0).elapsed, full.elapsed);
}

TEST(History, LastGoesBackAtLeastAsFarAsAsked) {
  History history(schema(), {{2, 1}, {10, 4}});
  for (int n = 0; n < 12; ++n) history.add(tenth(n));  // fine: 10, 11; coarse: 0, 4, 8
  EXPECT_EQ(bytes(history.last(milliseconds(100))), 11u * 11 - 10 * 10);
  EXPECT_EQ(bytes(history.last(milliseconds(200))), 11u * 11 - 8 * 8);
  EXPECT_EQ(bytes(history.last(milliseconds(400))), 11u * 11 - 4 * 4);
  EXPECT_EQ(bytes(history.last(milliseconds(1100))), 11u * 11);
  EXPECT_FALSE(history.last(milliseconds(1200)));
  EXPECT_FALSE(history.last(Duration()));
  EXPECT_FALSE(History(schema()).last(seconds(1)));
}

TEST(History, ARestartedSamplerStartsItAnew) {
  History history(schema(), {{10, 1}, {10, 2}});
  for (int n = 3; n < 8; ++n) history.add(tenth(n));
  history.add(tenth(1));
  EXPECT_EQ(history.tier(0).size(), 1u);
  EXPECT_EQ(history.tier(1).size(), 1u);
}

TEST(History, NamesThatChangeAreFollowed) {
  History history(schema(), {{10, 1}});
  history.add(tenth(1));
  PortSample moved = port_sample("mlx5", seconds(1), {{"tx_prio3_bytes", 50}, {"tx_prio4_bytes", 9}});
  history.add(to_reading(schema(), sample(moved)));
  const auto interval = history.last(milliseconds(500));
  EXPECT_EQ(bytes(interval), 49u);
  EXPECT_TRUE(interval->ports.at(0).why_absent("tx_bytes", Priority(4)));
}

}  // namespace
}  // namespace rocetune::counters
