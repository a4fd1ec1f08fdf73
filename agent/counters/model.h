// Counters under one name over vendors, as plain values. configs/counters/*.toml says what each name means,
// its unit, and what each vendor calls it. Absent is not zero; a wrap is not a fall.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "congestion/units.h"
#include "dataplane/base/observed.h"
#include "dataplane/base/reflect.h"

namespace rocetune::counters {

// "rx_pause_duration_us" of priority 3, or "cnp_sent" of the port.
struct CounterId {
  std::string name;
  std::optional<Priority> priority;
  auto operator<=>(const CounterId&) const = default;
};
std::string to_text(const CounterId&);  // "rx_pause_duration_us[3]", "cnp_sent"

// The interfaces that counters are read by. Each is read at its own moment.
enum class Source {
  ethtool,  // ETHTOOL_GSTATS of the netdev
  rdma,     // RDMA_NLDEV_CMD_STAT_GET, or hw_counters in sysfs
  dcb,      // the counts inside struct ieee_pfc: pfc_requests_N (sent), pfc_indications_N (received)
};
constexpr std::size_t kSourceCount = 3;
constexpr std::array<Source, kSourceCount> kSources{Source::ethtool, Source::rdma, Source::dcb};
constexpr std::size_t index_of(Source source) { return static_cast<std::size_t>(source); }

// Everything one port showed at one moment.
struct PortSample {
  std::string port;                                         // netdev
  std::string nic;                                          // row of configs/counters: "mlx5"
  std::optional<BitRate> speed;                             // bounds what an increment can be
  std::map<CounterId, Observed<std::uint64_t>> values;      // by schema; absent with its reason
  std::map<std::string, std::uint64_t> ethtool, rdma, dcb;  // raw, vendor's names
  Instant ethtool_at, rdma_at, dcb_at;                      // when each source was read
  std::map<Source, Unavailable> unread;                     // sources that could not be read, and why
  Duration rdma_resolution;                                 // the kernel caches RDMA values this long
  bool operator==(const PortSample&) const = default;

  const std::map<std::string, std::uint64_t>& raw(Source) const;
  std::map<std::string, std::uint64_t>& raw(Source);
  Instant at(Source) const;
  Instant& at(Source);
};

struct Sample {
  std::int64_t taken_unix_ns = 0;
  Instant at;          // monotonic, same clock for all samples of a run
  Duration read_time;  // how long reading all of it took
  std::vector<PortSample> ports;
  bool operator==(const Sample&) const = default;
  const PortSample* find_port(std::string_view name) const;
};

// What happened on one port between two samples.
struct PortDelta {
  std::string port;
  std::string nic;
  std::optional<BitRate> speed;
  // After − before; wraps resolved; absent with its reason. A level stands here only if it is absent.
  std::map<CounterId, Observed<std::uint64_t>> increments;
  std::map<CounterId, std::uint64_t> levels;  // counters that are levels (percent stalled), latest value
  std::map<std::string, Source> sources;      // counter's name -> where it was read
  Duration elapsed;                           // measured, of the ethtool source; 0 if it was not read twice
  Duration rdma_elapsed;                      // measured, of the RDMA source
  Duration dcb_elapsed;                       // measured, of the DCB source

  // Elapsed time of the source that `name` was read by.
  Duration elapsed_of(std::string_view name) const;
  // The increment, if known.
  std::optional<std::uint64_t> increment(std::string_view name, std::optional<Priority> priority = {}) const;
  // The latest value of a level, if known.
  std::optional<std::uint64_t> level(std::string_view name) const;
  // Why there is no increment (or level); nothing if there is one.
  std::optional<Unavailable> why_absent(std::string_view name, std::optional<Priority> priority = {}) const;
  // Increment ÷ elapsed, for *_duration_us counters: the share of time, 0..1 (may exceed 1 by the clock's
  // grain).
  std::optional<Ratio> share_of_time(std::string_view name, std::optional<Priority> priority = {}) const;
  // Increment ÷ elapsed, in events per second.
  std::optional<double> per_second(std::string_view name, std::optional<Priority> priority = {}) const;
  // Increment ÷ elapsed of a *_bytes counter.
  std::optional<BitRate> rate(std::string_view name, std::optional<Priority> priority = {}) const;
  // Duration ÷ transitions of the pause counters `side` ("rx" or "tx"): how long one stall lasted on average.
  // Nothing if either is not known or no stall ended.
  std::optional<Duration> mean_stall(std::string_view side, Priority priority) const;
};

struct Interval {
  std::int64_t from_unix_ns = 0;
  std::int64_t until_unix_ns = 0;
  Duration elapsed;
  std::vector<PortDelta> ports;
  const PortDelta* find_port(std::string_view name) const;
};

}  // namespace rocetune::counters

namespace rocetune {
ROCETUNE_ENUM(counters::Source, P{E::ethtool, "ethtool"}, P{E::rdma, "rdma"}, P{E::dcb, "dcb"});
}  // namespace rocetune
