// Counters under one name over vendors, as plain values. configs/counters/*.toml says what each name means,
// its unit, and what each vendor calls it. Absent is not zero; a wrap is not a fall.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "congestion/units.h"
#include "dataplane/base/observed.h"

namespace rocetune::counters {

// "rx_pause_duration_us" of priority 3, or "cnp_sent" of the port.
struct CounterId {
  std::string name;
  std::optional<Priority> priority;
  auto operator<=>(const CounterId&) const = default;
};

// Everything one port showed at one moment.
struct PortSample {
  std::string port;                                     // netdev
  std::map<CounterId, Observed<std::uint64_t>> values;  // by schema; absent with its reason
  std::map<std::string, std::uint64_t> ethtool, rdma;   // raw, vendor's names
  Instant ethtool_at, rdma_at;                          // when each source was read
  bool operator==(const PortSample&) const = default;
};

struct Sample {
  std::int64_t taken_unix_ns = 0;
  Instant at;          // monotonic, same clock for all samples of a run
  Duration read_time;  // how long reading all of it took
  std::vector<PortSample> ports;
  bool operator==(const Sample&) const = default;
};

// What happened on one port between two samples.
struct PortDelta {
  std::string port;
  std::optional<BitRate> speed;
  std::map<CounterId, Observed<std::uint64_t>>
      increments;                             // after − before; wraps resolved; absent with its reason
  std::map<CounterId, std::uint64_t> levels;  // counters that are levels (percent stalled), latest value
  Duration elapsed;                           // measured, of the ethtool source
  Duration rdma_elapsed;                      // measured, of the RDMA source
  // The increment, if known.
  std::optional<std::uint64_t> increment(std::string_view name, std::optional<Priority> priority = {}) const;
  // Increment ÷ elapsed, for *_duration_us counters: the share of time, 0..1 (may exceed 1 by the clock's
  // grain).
  std::optional<Ratio> share_of_time(std::string_view name, std::optional<Priority> priority = {}) const;
};

struct Interval {
  std::int64_t from_unix_ns = 0;
  std::int64_t until_unix_ns = 0;
  Duration elapsed;
  std::vector<PortDelta> ports;
  const PortDelta* find_port(std::string_view name) const;
};

}  // namespace rocetune::counters
