// Some moments of which the soonest is asked for all the time: a tournament, whose winner costs nothing to
// name and a change the logarithm of their number.
#pragma once

#include <bit>
#include <vector>

#include "congestion/units.h"

namespace rocetune::fabric {

class Soonest {
 public:
  static constexpr std::size_t kMost = std::size_t{1} << 16;
  // All are never() at first.
  void resize(std::size_t count) {
    ROCETUNE_ASSERT(count <= kMost);
    leaves_ = std::bit_ceil(std::max<std::size_t>(count, 1));
    matches_.resize(2 * leaves_);
    for (std::size_t node = 2 * leaves_; node-- > 1;) {
      matches_[node] = {kNever, node < leaves_ ? matches_[2 * node].index : node - leaves_};
    }
  }
  Instant operator[](std::size_t index) const { return time_of(matches_[leaves_ + index]); }
  void set(std::size_t index, Instant at) {
    std::size_t node = leaves_ + index;
    Match winner{static_cast<std::uint64_t>(at.since_origin().count()), index};
    matches_[node] = winner;
    for (; node > 1; node /= 2) {
      // Whoever stands on the right has to be sooner, not only as soon.
      const Match& other = matches_[node ^ 1];
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
  std::size_t leaves_ = 1;
  std::vector<Match> matches_{{kNever, 0}, {kNever, 0}};  // match n is that of n's winners 2n and 2n + 1
};

}  // namespace rocetune::fabric
