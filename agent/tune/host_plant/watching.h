// What the hosts' counters did while a workload ran: frames of `watch --json`, or intervals read here, added
// up, and judged as they come.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "agent/counters/model.h"
#include "agent/tune/search/observation.h"
#include "agent/tune/soak.h"

namespace rocetune::tune {

// One quantity of one port: priority -1 is none.
struct CounterPlace {
  std::string host, port, counter;
  int priority = -1;
  auto operator<=>(const CounterPlace&) const = default;
};

// The worst rates of the state before any change: what was so already is not a candidate's doing.
using RatesBefore = std::map<CounterPlace, double>;  // a second; of durations the share of time

class Watching {
 public:
  explicit Watching(const SoakLimits& limits) : limits_(limits) {}

  // Takes a frame. The breach that it shows, against fixed limits and `before`; nothing: all is well. A line
  // that is no frame is counted.
  std::optional<search::Breach> take(const std::string& host, std::string_view line,
                                     const RatesBefore& before);
  // The same of an interval of which `watch --json` would print the frame.
  std::optional<search::Breach> take(const std::string& host, const counters::Interval& interval,
                                     const RatesBefore& before);

  // Sums over hosts and ports; a counter that no frame had is not there.
  const std::map<std::string, std::int64_t>& increments() const { return sums_; }
  // Largest share of time that a port or priority was paused, either way; nothing if no NIC counts it.
  std::optional<double> pause_ratio() const;
  // The worst rates seen, for a later `before`.
  const RatesBefore& rates() const { return worst_; }
  // Of each host, over time: throughput, pause ratio, CE marks, CNPs, pause frames, discards; each only of
  // frames that had the counter.
  std::vector<search::Series> series() const;
  int frames() const { return frames_; }
  int damaged() const { return damaged_; }
  // Ports of a host that had counters in an earlier frame and have none now.
  const std::vector<std::string>& vanished() const { return vanished_; }

 private:
  struct Paused {
    double us = 0, of_us = 0;
  };
  // A look at the ports of a host.
  struct Frame {
    double elapsed_us = 0;  // more than 0
    std::vector<std::string> ports;
    std::vector<std::pair<CounterPlace, double>> seen;  // increments
  };
  static std::optional<Frame> frame_of(const std::string& host, std::string_view line);
  static std::optional<Frame> frame_of(const std::string& host, const counters::Interval& interval);
  std::optional<search::Breach> take_frame(const std::string& host, const std::optional<Frame>& frame,
                                           const RatesBefore& before);
  void look_for_vanished(const std::string& host, const Frame& frame);
  void add_step(const std::string& host, const Frame& frame);
  std::optional<search::Breach> judge(const Frame& frame, const RatesBefore& before) const;
  void note(const CounterPlace& place, double increment, double elapsed_us);

  const SoakLimits& limits_;
  std::map<std::string, std::int64_t> sums_;
  std::map<CounterPlace, Paused> paused_;
  RatesBefore worst_;
  std::map<std::string, std::size_t> counters_of_;  // "host port" -> how many it had at most
  std::vector<std::string> vanished_;
  // What one frame adds to each curve of a host; nothing: the frame did not have it.
  static constexpr std::size_t kCurves = 7;
  struct Step {
    double at_us = 0;
    std::array<std::optional<double>, kCurves> values;
  };
  std::map<std::string, std::vector<Step>> steps_;  // by host
  int frames_ = 0;
  int damaged_ = 0;
};

}  // namespace rocetune::tune
