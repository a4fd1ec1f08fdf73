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
    times_.assign(leaves_, Instant::never());
    winners_.assign(2 * leaves_, 0);
    for (std::size_t i = 0; i < leaves_; ++i) winners_[leaves_ + i] = static_cast<std::uint16_t>(i);
    for (std::size_t node = leaves_ - 1; node > 0; --node) winners_[node] = winner_below(node);
  }
  Instant operator[](std::size_t index) const { return times_[index]; }
  void set(std::size_t index, Instant at) {
    times_[index] = at;
    for (std::size_t node = (leaves_ + index) / 2; node > 0; node /= 2) winners_[node] = winner_below(node);
  }
  // Of several at one time the one with the lowest index.
  std::size_t index() const { return leaves_ == 1 ? 0 : winners_[1]; }
  Instant time() const { return times_[index()]; }

 private:
  std::uint16_t winner_below(std::size_t node) const {
    const std::uint16_t left = winners_[2 * node];
    const std::uint16_t right = winners_[2 * node + 1];
    return times_[right] < times_[left] ? right : left;
  }
  std::size_t leaves_ = 1;
  std::vector<Instant> times_{Instant::never()};
  std::vector<std::uint16_t> winners_{0, 0};
};

}  // namespace rocetune::fabric
