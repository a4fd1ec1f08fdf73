#include "dataplane/base/clock.h"

#include <fmt/core.h>

#include <ctime>

namespace rocetune {
namespace {

constexpr std::int64_t kNsPerSecond = 1'000'000'000;

// The origin keeps instants small: picoseconds since boot would leave the range after 106 days of uptime.
std::int64_t origin_ns() {
  static const std::int64_t kOrigin = reading_ns(CLOCK_MONOTONIC);
  return kOrigin;
}

}  // namespace

std::int64_t reading_ns(clockid_t clock) {
  timespec time{};
  ROCETUNE_ASSERT(::clock_gettime(clock, &time) == 0);
  return std::int64_t{time.tv_sec} * kNsPerSecond + time.tv_nsec;
}

Instant SystemClock::now() const {
  const std::int64_t origin = origin_ns();  // before the reading, or the first one would be negative
  return Instant(nanoseconds(reading_ns(CLOCK_MONOTONIC) - origin));
}

std::int64_t SystemClock::unix_ns() const { return reading_ns(CLOCK_REALTIME); }

void SystemClock::sleep_until(Instant when) {
  const std::int64_t at = origin_ns() + when.since_origin() / nanoseconds(1);
  const timespec time{at / kNsPerSecond, at % kNsPerSecond};
  ::clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, nullptr);
}

std::string utc_text(std::int64_t unix_ns) {
  std::int64_t seconds = unix_ns / kNsPerSecond;
  std::int64_t rest = unix_ns % kNsPerSecond;
  if (rest < 0) {
    rest += kNsPerSecond;
    --seconds;
  }
  const std::time_t time = seconds;
  std::tm parts{};
  ::gmtime_r(&time, &parts);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:03}Z", parts.tm_year + 1900, parts.tm_mon + 1,
                     parts.tm_mday, parts.tm_hour, parts.tm_min, parts.tm_sec, rest / 1'000'000);
}

}  // namespace rocetune
