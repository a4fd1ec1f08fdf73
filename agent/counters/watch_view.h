// How an interval looks: tables for a person, one JSON object for a program.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "agent/counters/model.h"
#include "agent/counters/reading.h"
#include "dataplane/base/text_table.h"

namespace rocetune::counters {

// A vendor's counter by its own name, as --raw asks for.
struct RawCounter {
  std::string port;
  Source source = Source::ethtool;
  std::string name;
  std::uint64_t value = 0;                         // now
  Observed<std::uint64_t> increment = not_read();  // since the reading before; nothing is known of its width
  bool operator==(const RawCounter&) const = default;
};

// The raw counters of `after` whose name fits one of the shell patterns (fnmatch(3)), in order of port,
// source and list.
std::vector<RawCounter> find_raw(const Reading& before, const Reading& after,
                                 const std::vector<std::string>& patterns);

// A reason without the priority in it: rx_prio3_pause and rx_prio4_pause are absent for one, that of
// rx_prioN_pause.
std::string why_for_all(std::string why, std::optional<Priority> priority);

// What one look at the counters shows.
struct WatchFrame {
  Interval interval;
  std::vector<RawCounter> raw;
  Duration wanted;     // --interval
  Duration effective;  // what it became: reading takes its time
  Duration read_time;  // of the reading that ended the interval
  Duration typical_read_time;
};

// Per port a table of its priorities (idle ones in one line) and a line of its RDMA and PCIe counters; absent
// values are "–" with a footnote. `time`: of the interval's end, as shown in the title.
std::string to_table(const WatchFrame& frame, std::string_view time, const TextTable::Look& look);

// One line, newline included; every key carries its unit. Fields in docs/metrics.md.
std::string to_json_line(const WatchFrame& frame);

}  // namespace rocetune::counters
