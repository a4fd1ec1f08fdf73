// A hierarchical timing wheel: arming, moving and disarming a timer cost the same however many there are.
// Source: Varghese and Lauck, "Hashed and Hierarchical Timing Wheels", SOSP 1987, scheme 7.
//
// One timer per queue pair. A timer fires at the first tick at or after its deadline, never before it.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "congestion/units.h"

namespace rocetune::engine {

class TimerWheel {
 public:
  // Unit: 2^13 ps, about 8.2 ns: a tenth of a 1024 B packet at 100 Gb/s.
  static constexpr int kTickBits = 13;

  explicit TimerWheel(std::uint32_t timers);

  // Sets or moves a timer. never() disarms it.
  void arm(std::uint32_t timer, Instant deadline);
  void disarm(std::uint32_t timer);
  // never() if it is not armed.
  Instant deadline(std::uint32_t timer) const {
    return nodes_[timer].bucket == kNone ? Instant::never() : nodes_[timer].deadline;
  }
  // When pop_due() should be called next; never() without armed timers. Early where many far timers share a
  // place of a coarse wheel, never late.
  Instant next() const;
  // Disarms one timer that is due at `now` and names it; false if there is none left. `now` never goes back.
  bool pop_due(Instant now, std::uint32_t& timer);

 private:
  static constexpr int kLevels = 8;  // of 64 places: 2^48 ticks, 26 days
  static constexpr std::uint32_t kPlaces = 64;
  static constexpr std::uint16_t kNone = 0xFFFF;
  static constexpr std::uint32_t kEnd = 0xFFFFFFFF;
  struct Node {
    Instant deadline;
    std::uint32_t previous = kEnd;  // before the first one stands the last
    std::uint32_t next = kEnd;
    std::uint16_t bucket = kNone;
  };
  struct Expiry {
    std::uint64_t tick;
    int level;
    std::uint32_t place;
  };

  void insert(std::uint32_t timer);
  void remove(std::uint32_t timer);
  bool next_expiry(Expiry& out) const;
  void cascade(const Expiry& expiry);

  std::vector<Node> nodes_;
  std::array<std::uint32_t, std::size_t{kLevels} * kPlaces> buckets_;  // the first of a ring; kEnd: empty
  std::array<std::uint64_t, kLevels> occupied_{};  // bit p: place p of that level holds timers
  std::uint64_t tick_ = 0;                         // all before it has fired
};

}  // namespace rocetune::engine
