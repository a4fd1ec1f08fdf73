// `rocetune watch`: sample, subtract, show, again.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "agent/counters/record.h"
#include "agent/counters/sampler.h"
#include "agent/counters/watch_view.h"
#include "dataplane/base/clock.h"
#include "dataplane/base/terminal.h"

namespace rocetune::counters {

struct WatchOptions {
  Duration interval = seconds(1);
  std::optional<std::uint64_t> count;  // intervals to show; nothing: until stopped
  std::vector<std::string> ports;      // nothing: every port with RDMA
  std::vector<std::string> raw;        // shell patterns of the NICs' own names
  std::string record;                  // file to write readings to; empty: none
  std::string replay;                  // file to read them from; empty: the live host

  static constexpr Duration kShortestInterval = milliseconds(1);
  static constexpr Duration kLongestInterval = seconds(3600);
};

// Where the frames go.
struct WatchOutput {
  bool json = false;
  bool redraw = false;  // a terminal: each frame replaces the one before
  TextTable::Look look;
  std::function<void(std::string_view)> write;  // standard output
  std::function<void(std::string_view)> warn;   // standard error, a line at a time without newline
};

// Turns readings into frames and writes them.
class WatchPrinter {
 public:
  WatchPrinter(const Schema& schema, const WatchOptions& options, const WatchOutput& output)
      : schema_(schema), options_(options), output_(output) {}

  // Shows the interval since the last shown reading, if there is one. False once `count` were shown.
  bool take(const Reading& reading, Duration effective);
  std::uint64_t shown() const { return shown_; }

 private:
  void write(const WatchFrame& frame);

  const Schema& schema_;
  const WatchOptions& options_;
  const WatchOutput& output_;
  std::optional<Reading> before_;
  LiveBlock block_;
  std::uint64_t shown_ = 0;
};

using StopQuestion = std::function<bool()>;

// Samples until it is stopped or `count` intervals were shown. Errors: the record cannot be written.
Expected<> watch_live(Sampler& sampler, const Schema& schema, const RecordHeader& header,
                      const WatchOptions& options, const WatchOutput& output, Clock& clock,
                      const StopQuestion& is_stopped);

// Shows a record, as fast as it can be read; readings closer together than the interval are joined if
// `join` is set. Damaged lines are told by `warn`. Errors: as read_record; bad_input at the end if lines were
// damaged or nothing could be shown.
Expected<> watch_replay(const Schema& schema, const WatchOptions& options, bool join,
                        const WatchOutput& output, const StopQuestion& is_stopped);

// Leaves only the ports asked for; with none asked for, those with an RDMA device or a counter table. Error:
// bad_input with the nearest name for a port that is not there, or if nothing is left.
Expected<std::vector<PortReaders>> choose_ports(std::vector<PortReaders> ports,
                                                const std::vector<std::string>& wanted, const Schema& schema);

}  // namespace rocetune::counters
