// The one place that reads clocks. Whatever needs the time takes an Instant as an argument; whatever must
// wait or read the time again takes a Clock, so that tests run without sleeping.
#pragma once

#include <cstdint>
#include <ctime>
#include <string>

#include "congestion/units.h"

namespace rocetune {

class Clock {
 public:
  virtual ~Clock() = default;
  // Monotonic, since the first reading in this process; never goes back, whatever happens to the wall clock.
  virtual Instant now() const = 0;
  // Wall clock. Unit: nanoseconds since 1970-01-01 UTC. May jump.
  virtual std::int64_t unix_ns() const = 0;
  // Returns at `when` or later, or earlier if a signal came: callers look at their stop flag and the time.
  virtual void sleep_until(Instant when) = 0;
  void sleep_for(Duration span) { sleep_until(now() + span); }
};

// One of the kernel's clocks (clock_gettime(2)). Unit: nanoseconds.
std::int64_t reading_ns(clockid_t clock);

// CLOCK_MONOTONIC and CLOCK_REALTIME (clock_gettime(2)).
class SystemClock final : public Clock {
 public:
  Instant now() const override;
  std::int64_t unix_ns() const override;
  void sleep_until(Instant when) override;
};

// Stands still until told; sleeping moves it.
class ManualClock final : public Clock {
 public:
  explicit ManualClock(std::int64_t unix_ns = 0) : unix_ns_(unix_ns) {}
  Instant now() const override { return now_; }
  std::int64_t unix_ns() const override { return unix_ns_; }
  void sleep_until(Instant when) override {
    if (when > now_) advance(when - now_);
  }
  void advance(Duration span) {
    now_ = now_ + span;
    unix_ns_ += span / nanoseconds(1);
  }
  // The wall clock jumps, the monotonic one does not notice.
  void jump_wall_clock(std::int64_t ns) { unix_ns_ += ns; }

 private:
  Instant now_;
  std::int64_t unix_ns_;
};

// "2026-11-29T13:24:05.123Z" (RFC 3339, UTC, milliseconds) of a wall clock reading.
std::string utc_text(std::int64_t unix_ns);

}  // namespace rocetune
