#include "agent/counters/history.h"

#include <gtest/gtest.h>

namespace rocetune::counters {
namespace {

constexpr CounterId kBytes{"tx_bytes", Priority(3)};

// The n-th tenth of a second, in which n bytes were sent.
Interval tenth(int n) {
  PortDelta port;
  port.port = "eth0";
  port.elapsed = milliseconds(100);
  port.increments.emplace(kBytes, static_cast<std::uint64_t>(n));
  return {.from_unix_ns = n * 100'000'000LL,
          .until_unix_ns = (n + 1) * 100'000'000LL,
          .elapsed = milliseconds(100),
          .ports = {port}};
}
std::optional<std::uint64_t> bytes(const Interval& interval) {
  return interval.ports.at(0).increment("tx_bytes", Priority(3));
}

TEST(History, KeepsTheNewestAndForgetsTheOldest) {
  History history({{3, 1}});
  for (int n = 0; n < 5; ++n) history.add(tenth(n));
  ASSERT_EQ(history.tier(0).size(), 3u);
  EXPECT_EQ(bytes(history.tier(0).front()), 2u);
  EXPECT_EQ(bytes(history.tier(0).back()), 4u);
}

TEST(History, CoarserTiersJoinFinerOnes) {
  History history({{2, 1}, {4, 3}, {4, 2}});
  for (int n = 0; n < 12; ++n) history.add(tenth(n));
  ASSERT_EQ(history.tier(1).size(), 4u);
  EXPECT_EQ(bytes(history.tier(1).front()), 0u + 1 + 2);
  EXPECT_EQ(history.tier(1).front().elapsed, milliseconds(300));
  ASSERT_EQ(history.tier(2).size(), 2u);
  EXPECT_EQ(bytes(history.tier(2).back()), 6u + 7 + 8 + 9 + 10 + 11);
  EXPECT_EQ(history.tier(2).back().ports[0].elapsed, milliseconds(600));
}

TEST(History, ATierShowsOnlyWholeIntervals) {
  History history({{10, 1}, {10, 3}});
  history.add(tenth(0));
  history.add(tenth(1));
  EXPECT_TRUE(history.tier(1).empty());
}

TEST(History, NothingIsJoinedAcrossAGap) {
  History history({{10, 1}, {10, 2}});
  history.add(tenth(0));
  history.add(tenth(5));
  history.add(tenth(6));
  ASSERT_EQ(history.tier(1).size(), 1u);
  EXPECT_EQ(bytes(history.tier(1).front()), 5u + 6);
}

TEST(History, LastJoinsTheNewest) {
  History history({{10, 1}});
  for (int n = 0; n < 5; ++n) history.add(tenth(n));
  EXPECT_EQ(bytes(*history.last(2)), 3u + 4);
  EXPECT_EQ(bytes(*history.last(1)), 4u);
  EXPECT_FALSE(history.last(6));
  EXPECT_FALSE(history.last(0));
  history.add(tenth(9));
  EXPECT_FALSE(history.last(2));
}

}  // namespace
}  // namespace rocetune::counters
