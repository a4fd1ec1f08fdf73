// Time for loops that ask for it millions of times a second: the processor's time-stamp counter, scaled to
// CLOCK_MONOTONIC.
#pragma once

#include "congestion/fixed_point.h"
#include "congestion/units.h"

namespace rocetune {

class TickClock {
 public:
  // Measures the counter against CLOCK_MONOTONIC for 20 ms. Where the counter does not run steadily
  // (/proc/cpuinfo without constant_tsc and nonstop_tsc), now() reads CLOCK_MONOTONIC itself.
  TickClock();
  // Since the construction of this clock; the same on all cores. Never goes back within a thread.
  Instant now() const {
    if (!is_steady_) return slow_now();
    const auto ticks = static_cast<UnsignedWide>(__builtin_ia32_rdtsc() - origin_);
    return Instant(Duration(static_cast<std::int64_t>(ticks * picoseconds_per_tick_ >> kFraction)));
  }

 private:
  static constexpr int kFraction = 32;
  Instant slow_now() const;
  std::uint64_t origin_ = 0;
  std::uint64_t picoseconds_per_tick_ = 0;  // in 2^-32 ps
  std::int64_t origin_ns_ = 0;
  bool is_steady_ = false;
};

}  // namespace rocetune
