#include "dataplane/base/tick_clock.h"

#include <cpuid.h>

#include "dataplane/base/clock.h"

namespace rocetune {
namespace {

constexpr std::int64_t kCalibrationNs = 20'000'000;

// "Invariant TSC": CPUID leaf 0x80000007, EDX bit 8 (Intel SDM vol. 3, 18.17.1; AMD APM vol. 3, E.4.6).
bool counter_is_steady() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  return __get_cpuid(0x80000007, &a, &b, &c, &d) != 0 && (d >> 8 & 1) != 0;
}

// Both clocks at one moment: of several tries the one with the least time between the two readings of the
// counter, in case this thread lost its core in between.
struct Moment {
  std::uint64_t ticks = 0;
  std::int64_t ns = 0;
};
Moment moment() {
  Moment best;
  std::uint64_t least = UINT64_MAX;
  for (int i = 0; i < 16; ++i) {
    const std::uint64_t before = __builtin_ia32_rdtsc();
    const std::int64_t ns = reading_ns(CLOCK_MONOTONIC);
    const std::uint64_t after = __builtin_ia32_rdtsc();
    if (after - before >= least) continue;
    least = after - before;
    best = {before + least / 2, ns};
  }
  return best;
}

}  // namespace

TickClock::TickClock() : origin_ns_(reading_ns(CLOCK_MONOTONIC)), is_steady_(counter_is_steady()) {
  if (!is_steady_) return;
  const Moment start = moment();
  while (reading_ns(CLOCK_MONOTONIC) - start.ns < kCalibrationNs) {
  }
  const Moment end = moment();
  const auto picoseconds = static_cast<UnsignedWide>(end.ns - start.ns) * 1000;
  picoseconds_per_tick_ = static_cast<std::uint64_t>((picoseconds << kFraction) / (end.ticks - start.ticks));
  origin_ = start.ticks;
}

Instant TickClock::slow_now() const { return Instant(nanoseconds(reading_ns(CLOCK_MONOTONIC) - origin_ns_)); }

}  // namespace rocetune
