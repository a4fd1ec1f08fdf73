#include "dataplane/engine/timer_wheel.h"

#include <gtest/gtest.h>

#include <map>

#include "dataplane/base/random.h"

namespace rocetune::engine {
namespace {

constexpr Duration kTick{std::int64_t{1} << TimerWheel::kTickBits};

std::vector<std::uint32_t> due(TimerWheel& wheel, Instant now) {
  std::vector<std::uint32_t> all;
  std::uint32_t timer = 0;
  while (wheel.pop_due(now, timer)) all.push_back(timer);
  return all;
}

TEST(TimerWheel, FiresAtTheFirstTickAtOrAfterTheDeadline) {
  TimerWheel wheel(1);
  const Instant deadline = Instant() + microseconds(5) + picoseconds(1);
  wheel.arm(0, deadline);
  EXPECT_TRUE(due(wheel, deadline - kTick).empty());
  EXPECT_EQ(due(wheel, deadline + kTick).size(), 1);
  EXPECT_EQ(wheel.next(), Instant::never());
}

TEST(TimerWheel, ADriverThatSleepsUntilNextGetsThereInAFewSteps) {
  TimerWheel wheel(1);
  const Instant deadline = Instant() + milliseconds(67) + picoseconds(1);
  wheel.arm(0, deadline);
  int steps = 0;
  for (Instant now;; now = wheel.next(), ++steps) {
    if (due(wheel, now).empty()) continue;
    EXPECT_GE(now, deadline);
    EXPECT_LT(now, deadline + kTick);
    break;
  }
  EXPECT_LE(steps, 5);
  EXPECT_EQ(wheel.next(), Instant::never());
}

TEST(TimerWheel, MovesAndDisarms) {
  TimerWheel wheel(2);
  wheel.arm(0, Instant() + seconds(1));
  wheel.arm(1, Instant() + seconds(2));
  wheel.arm(0, Instant() + seconds(3));
  EXPECT_EQ(wheel.deadline(0), Instant() + seconds(3));
  wheel.disarm(1);
  EXPECT_EQ(wheel.deadline(1), Instant::never());
  EXPECT_TRUE(due(wheel, Instant() + milliseconds(2999)).empty());
  EXPECT_EQ(due(wheel, Instant() + seconds(4)), std::vector<std::uint32_t>{0});
}

TEST(TimerWheel, ADeadlineInThePastIsDueAtOnce) {
  TimerWheel wheel(1);
  due(wheel, Instant() + seconds(9));
  wheel.arm(0, Instant() + seconds(1));
  EXPECT_EQ(due(wheel, Instant() + seconds(9)).size(), 1);
}

TEST(TimerWheel, AgreesWithASortedMap) {
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    Random random(seed);
    constexpr std::uint32_t kTimers = 50;
    TimerWheel wheel(kTimers);
    std::map<std::uint32_t, Instant> model;
    Instant now;
    for (int step = 0; step < 2000; ++step) {
      const auto timer = static_cast<std::uint32_t>(random.below(kTimers));
      const Duration away(static_cast<std::int64_t>(random.below(std::uint64_t{1} << random.below(50))));
      switch (random.below(4)) {
        case 0:
        case 1:
          wheel.arm(timer, now + away);
          model[timer] = now + away;
          break;
        case 2:
          wheel.disarm(timer);
          model.erase(timer);
          break;
        case 3: {
          now = now + away;
          for (const std::uint32_t fired : due(wheel, now)) {
            ASSERT_TRUE(model.contains(fired)) << "seed " << seed;
            ASSERT_LE(model[fired], now) << "seed " << seed;
            model.erase(fired);
          }
          for (const auto& [left, deadline] : model) ASSERT_GT(deadline + kTick, now) << "seed " << seed;
          break;
        }
      }
      // next() is never late.
      for (const auto& [left, deadline] : model) ASSERT_LT(wheel.next(), deadline + kTick) << "seed " << seed;
    }
  }
}

}  // namespace
}  // namespace rocetune::engine
