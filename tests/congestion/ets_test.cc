#include "congestion/ets.h"

#include <gtest/gtest.h>

namespace rocetune {
namespace {

EtsConfig shared(std::array<int, 8> percent) {
  EtsConfig config;
  for (std::size_t i = 0; i < 8; ++i) {
    if (percent[i] >= 0) config.classes[i] = EtsClass{.strict = false, .share_percent = percent[i]};
  }
  return config;
}
constexpr int kStrict = -1;

// Serves `packets` packets from never-empty queues; bytes per class.
std::array<std::int64_t, 8> serve(EtsScheduler& scheduler, const EtsScheduler::Heads& heads, int packets) {
  std::array<std::int64_t, 8> bytes{};
  for (int i = 0; i < packets; ++i) {
    const auto tc = scheduler.next(heads);
    if (!tc) break;
    const auto index = static_cast<std::size_t>(tc->value());
    bytes[index] += heads[index]->count();
  }
  return bytes;
}

TEST(Ets, SharesBytesNotPackets) {
  EtsScheduler scheduler(shared({70, 0, 0, 30, kStrict, kStrict, kStrict, kStrict}));
  EtsScheduler::Heads heads{};
  heads[0] = Bytes(64);
  heads[3] = Bytes(9'000);
  const auto bytes = serve(scheduler, heads, 200'000);
  const double share = double(bytes[0]) / double(bytes[0] + bytes[3]);
  EXPECT_NEAR(share, 0.70, 0.001);
}

TEST(Ets, StrictClassesGoFirstHighestFirst) {
  EtsScheduler scheduler(shared({50, 50, 0, 0, 0, 0, kStrict, kStrict}));
  EtsScheduler::Heads heads{};
  heads[0] = heads[6] = heads[7] = Bytes(100);
  EXPECT_EQ(scheduler.next(heads), TrafficClass(7));
  heads[7].reset();
  EXPECT_EQ(scheduler.next(heads), TrafficClass(6));
  heads[6].reset();
  EXPECT_EQ(scheduler.next(heads), TrafficClass(0));
}

TEST(Ets, AnIdleClassLeavesItsShareAndKeepsNoClaim) {
  EtsScheduler scheduler(shared({50, 50, 0, 0, 0, 0, 0, 0}));
  EtsScheduler::Heads heads{};
  heads[0] = Bytes(1'000);
  EXPECT_EQ(serve(scheduler, heads, 1'000)[0], 1'000'000);
  heads[1] = Bytes(1'000);
  const auto bytes = serve(scheduler, heads, 100);
  EXPECT_NEAR(double(bytes[0]), double(bytes[1]), 10'000);
}

TEST(Ets, AClassWithoutShareIsServedOnlyAlone) {
  EtsScheduler scheduler(shared({100, 0, 0, 0, 0, 0, 0, 0}));
  EtsScheduler::Heads heads{};
  heads[0] = heads[1] = Bytes(500);
  EXPECT_EQ(serve(scheduler, heads, 1'000)[1], 0);
  heads[0].reset();
  EXPECT_EQ(scheduler.next(heads), TrafficClass(1));
}

TEST(Ets, NothingToSendIsNone) {
  EtsScheduler scheduler(shared({100, 0, 0, 0, 0, 0, 0, kStrict}));
  EXPECT_EQ(scheduler.next({}), std::nullopt);
}

TEST(EtsDeathTest, SharesMustSumToAHundred) {
  EXPECT_DEATH(EtsScheduler(shared({50, 40, 0, 0, 0, 0, 0, 0})), "assertion");
}

}  // namespace
}  // namespace rocetune
