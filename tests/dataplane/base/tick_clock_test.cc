#include "dataplane/base/tick_clock.h"

#include <gtest/gtest.h>

#include "dataplane/base/clock.h"

namespace rocetune {
namespace {

TEST(TickClock, NeverGoesBack) {
  const TickClock clock;
  Instant last = clock.now();
  for (int i = 0; i < 100'000; ++i) {
    const Instant now = clock.now();
    ASSERT_GE(now, last);
    last = now;
  }
}

TEST(TickClock, RunsAsFastAsTheMonotonicClock) {
  const TickClock ticks;
  const SystemClock system;
  // Each pair is read in one order at the start and in the other at the end, so that a lost core in between
  // can only widen the bound it is compared with.
  const Instant outer_start = system.now();
  const Instant inner_start = ticks.now();
  const Instant inner_bound = system.now();
  while (system.now() - inner_bound < milliseconds(50)) {
  }
  const Instant bound_end = system.now();
  const Instant inner_end = ticks.now();
  const Instant outer_end = system.now();
  const Duration measured = inner_end - inner_start;
  EXPECT_GE(measured, (bound_end - inner_bound) * 998 / 1000);
  EXPECT_LE(measured, (outer_end - outer_start) * 1002 / 1000);
}

}  // namespace
}  // namespace rocetune
