#include "dataplane/base/clock.h"

#include <gtest/gtest.h>

namespace rocetune {
namespace {

TEST(SystemClock, StartsNearZeroAndDoesNotGoBack) {
  const SystemClock clock;
  const Instant first = clock.now();
  EXPECT_GE(first, Instant());
  EXPECT_LT(first, Instant(seconds(3600)));
  EXPECT_GE(clock.now(), first);
}

TEST(SystemClock, SharesItsOriginBetweenObjects) {
  const Instant first = SystemClock().now();
  EXPECT_GE(SystemClock().now(), first);
}

TEST(SystemClock, SleepingUntilThePastReturns) {
  SystemClock clock;
  clock.sleep_until(Instant());
  const Instant when = clock.now() + microseconds(50);
  clock.sleep_until(when);
  EXPECT_GE(clock.now(), when);
}

TEST(ManualClock, MovesOnlyWhenTold) {
  ManualClock clock(1'000);
  EXPECT_EQ(clock.now(), Instant());
  clock.advance(microseconds(5));
  EXPECT_EQ(clock.now(), Instant(microseconds(5)));
  EXPECT_EQ(clock.unix_ns(), 6'000);
  clock.sleep_for(microseconds(1));
  EXPECT_EQ(clock.now(), Instant(microseconds(6)));
  clock.sleep_until(Instant());
  EXPECT_EQ(clock.now(), Instant(microseconds(6)));
  clock.jump_wall_clock(-500);
  EXPECT_EQ(clock.unix_ns(), 6'500);
  EXPECT_EQ(clock.now(), Instant(microseconds(6)));
}

TEST(UtcText, IsRfc3339) {
  EXPECT_EQ(utc_text(0), "1970-01-01T00:00:00.000Z");
  EXPECT_EQ(utc_text(1'795'958'645'123'999'999), "2026-11-29T13:24:05.123Z");
  EXPECT_EQ(utc_text(-1), "1969-12-31T23:59:59.999Z");
}

}  // namespace
}  // namespace rocetune
