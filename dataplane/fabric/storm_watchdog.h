// A switch's guard against pauses that never end, as SONiC's pfcwd and its peers have it: a lossless queue
// that stays held while it has something to send is in a storm; what is in it is dropped, or sent in spite of
// the pauses, until they have been gone for a while.
#pragma once

#include <array>

#include "congestion/units.h"

namespace rocetune::fabric {

struct WatchdogParameters {
  enum class Action : std::uint8_t { drop, forward };
  Duration detection = milliseconds(200);    // SONiC: 200 ms on most platforms
  Duration restoration = milliseconds(200);  // SONiC's default
  Action action = Action::drop;              // SONiC's default
  // Counters are looked at this often, as a control processor can.
  Duration interval() const { return std::max(detection / 4, nanoseconds(1)); }
};

// Of one port.
class StormWatchdog {
 public:
  enum class Change : std::uint8_t { none, began, ended };
  // `is_stuck`: the queue waits, is held, and nothing left it since the last look. `is_held`: held right now.
  Change on_look(Instant now, Priority p, bool is_stuck, bool is_held, const WatchdogParameters& parameters) {
    State& s = states_[static_cast<std::size_t>(p.value())];
    if (!s.in_storm) {
      if (!is_stuck) s.since = Instant::never();
      s.since = is_stuck ? std::min(s.since, now) : s.since;
      if (!is_stuck || now - s.since < parameters.detection) return Change::none;
      s = {.in_storm = true, .since = Instant::never(), .storms = s.storms + 1};
      return Change::began;
    }
    s.since = is_held ? Instant::never() : std::min(s.since, now);
    if (is_held || now - s.since < parameters.restoration) return Change::none;
    s.in_storm = false;
    s.since = Instant::never();
    return Change::ended;
  }
  bool in_storm(Priority p) const { return states_[static_cast<std::size_t>(p.value())].in_storm; }
  std::uint64_t storms() const {
    std::uint64_t sum = 0;
    for (const State& s : states_) sum += s.storms;
    return sum;
  }

 private:
  struct State {
    bool in_storm = false;
    Instant since = Instant::never();  // stuck since; in a storm: free of pauses since
    std::uint64_t storms = 0;
  };
  std::array<State, Priority::kCount> states_{};
};

}  // namespace rocetune::fabric
