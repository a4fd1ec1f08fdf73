// Seeded random numbers: the same seed gives the same numbers on every machine. Integer arithmetic only, no
// libm, no std::*_distribution (whose results differ between libraries).
//
// Generator: xoshiro256** of Blackman and Vigna, "Scrambled linear pseudorandom number generators", ACM TOMS
// 47(4), 2021; https://prng.di.unimi.it. Seeded through splitmix64, as its authors advise. Not for secrets.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <utility>

#include "congestion/units.h"

namespace rocetune {

// One step of splitmix64 (Steele, Lea, Flood, OOPSLA 2014): advances `state`, returns a well mixed word.
std::uint64_t splitmix64(std::uint64_t& state);

class Random {
 public:
  // The stream `stream` of `seed`: one per node, so that adding a node does not disturb the others. Streams
  // of one seed never share a state.
  explicit Random(std::uint64_t seed, std::uint64_t stream = 0);
  static Random from_state(const std::array<std::uint64_t, 4>& state);

  std::uint64_t next();
  // Uniform in 0..bound-1, without bias (Lemire, "Fast random integer generation in an interval", ACM TOMACS
  // 29(1), 2019). `bound` must not be 0.
  std::uint64_t below(std::uint64_t bound);
  // Uniform in first..last, both included; first <= last.
  std::int64_t between(std::int64_t first, std::int64_t last);
  // True with probability `p`, exact to its one part per billion; p >= 1 is always, p <= 0 never.
  bool happens(Ratio p);
  // Exponentially distributed with that mean, in whole picoseconds (Knuth, TAOCP vol. 2, 3.4.1, algorithm S).
  // 0 <= mean <= 1 day.
  Duration exponential(Duration mean);

  // Every order is equally likely (Fisher and Yates).
  template <class T>
  void shuffle(std::span<T> items) {
    for (std::size_t i = items.size(); i > 1; --i) std::swap(items[i - 1], items[below(i)]);
  }

 private:
  Random() = default;
  std::array<std::uint64_t, 4> state_{};
};

}  // namespace rocetune
