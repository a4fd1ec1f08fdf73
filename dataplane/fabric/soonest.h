// Some moments of which the soonest is asked for all the time: a tournament, whose winner costs nothing to
// name and a change the logarithm of their number.
#pragma once

#include <bit>
#include <memory>

#include "congestion/units.h"

namespace rocetune::fabric {

class Soonest {
 public:
  static constexpr std::size_t kMost = std::size_t{1} << 16;
  // All are never() at first. Before anything else.
  void resize(std::size_t count) {
    ROCETUNE_ASSERT(count <= kMost);
    leaves_ = std::bit_ceil(std::max<std::size_t>(count, 1));
    matches_ = std::make_unique<Match[]>(2 * leaves_);
    for (std::size_t node = 2 * leaves_; node-- > 1;) {
      matches_[node] = {kNever, node < leaves_ ? matches_[2 * node].index : node - leaves_};
    }
  }
  Instant operator[](std::size_t index) const { return time_of(matches_[leaves_ + index]); }
  // `index` < count.
  void set(std::size_t index, Instant at) {
    Match winner{static_cast<std::uint64_t>(at.since_origin().count()), index};
    std::size_t node = leaves_ + index;
    matches_[node] = winner;
    for (; node > 1; node /= 2) {
      // Whoever stands on the right has to be sooner, not only as soon.
      const Match other = matches_[node ^ 1];
      if (other.time < winner.time + (node & 1)) winner = other;
      matches_[node / 2] = winner;
    }
  }
  // Of several at one time the one with the lowest index.
  std::size_t index() const { return matches_[1].index; }
  Instant time() const { return time_of(matches_[1]); }

 private:
  // Its winner. Times are not negative.
  struct Match {
    std::uint64_t time;
    std::size_t index;
  };
  static constexpr std::uint64_t kNever = INT64_MAX;
  static Instant time_of(const Match& match) {
    return Instant(Duration(static_cast<std::int64_t>(match.time)));
  }
  std::size_t leaves_ = 0;
  // Match n is between the winners of 2n and 2n + 1. An array without a size to look up: this is where a run
  // spends its time.
  std::unique_ptr<Match[]> matches_;
};

}  // namespace rocetune::fabric
