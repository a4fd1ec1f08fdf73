// The recent past, bounded: the newest intervals as they came, older ones joined into longer ones, the oldest
// forgotten. What an always-on agent can afford to remember.
#pragma once

#include <cstddef>
#include <deque>
#include <vector>

#include "agent/counters/model.h"

namespace rocetune::counters {

class History {
 public:
  // One resolution: up to `capacity` intervals, each made of `joins` of the finer tier's. Coarser tiers
  // follow finer ones; the first tier's `joins` is 1.
  struct Tier {
    std::size_t capacity = 0;
    std::size_t joins = 1;
  };
  // `tiers`: at least one; capacity and joins at least 1. 600 × as it comes, then 360 × 100 of them: at ten
  // samples a second, a minute in full and an hour by tens of seconds.
  explicit History(std::vector<Tier> tiers = {{600, 1}, {360, 100}});

  // Intervals come in order of time. A gap or an overlap (the sampler was restarted) starts every unfinished
  // joined interval anew: nothing is ever joined across it.
  void add(const Interval& interval);

  std::size_t tier_count() const { return tiers_.size(); }
  // Complete intervals of one tier, oldest first.
  const std::deque<Interval>& tier(std::size_t index) const { return tiers_.at(index).kept; }
  // The newest `count` intervals of the finest tier as one; nothing if there are fewer, or a gap among them.
  std::optional<Interval> last(std::size_t count) const;

 private:
  struct Level {
    Tier tier;
    std::deque<Interval> kept;
    std::optional<Interval> pending;  // `parts` of tier.joins
    std::size_t parts = 0;
  };
  void add_to(std::size_t level, const Interval& interval);

  std::vector<Level> tiers_;
};

}  // namespace rocetune::counters
