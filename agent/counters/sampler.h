// Reads the counters of many ports again and again. Ports and sources that fail are absent with their reason;
// they never stop the others.
#pragma once

#include <array>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "agent/counters/counter_reader.h"
#include "agent/counters/reading.h"

namespace rocetune::counters {

// A port and how to read it.
struct PortReaders {
  std::string port;
  std::string nic;
  std::optional<BitRate> speed;
  // By source; null: `missing` says why there is none.
  std::array<std::unique_ptr<CounterReader>, kSourceCount> readers;
  std::array<Unavailable, kSourceCount> missing{not_read().value(), not_read().value(), not_read().value()};
};

class Sampler {
 public:
  // Schema and clock must outlive the sampler, the schema also its readings.
  Sampler(const Schema& schema, std::vector<PortReaders> ports, const Clock& clock);

  // All ports, one after another: ethtool, then DCB, then RDMA.
  Reading read();

  // The least time between the starts of two reads that take `read_time`: ethtool and DCB requests hold the
  // kernel's RTNL lock, so reading may take a twentieth of the time and no more.
  static Duration least_interval(Duration read_time) { return read_time * kIntervalPerReadTime; }
  static constexpr std::int64_t kIntervalPerReadTime = 20;
  // What `wanted` becomes after `last`: never under least_interval of its typical read time, nor under the
  // kernel's cache of RDMA counters.
  static Duration effective_interval(Duration wanted, const Reading& last);
  // How many read times the typical one is the median of.
  static constexpr std::size_t kReadTimesKept = 5;

 private:
  struct Port {
    PortReaders readers;
    PortReading last;  // its memory is reused
    // The DCB configuration that the ethtool names were read under; nothing: not known yet.
    std::optional<std::uint64_t> configuration;
  };
  void read_port(Port& port);
  void read_source(Port& port, Source source);

  const Schema& schema_;
  std::vector<Port> ports_;
  std::deque<Duration> read_times_;  // the latest
  const Clock& clock_;
};

}  // namespace rocetune::counters
