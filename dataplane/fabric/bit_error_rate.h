// How often a link turns a bit over, as its maker specifies it: "1e-12" after error correction. Integers all
// the way, as it decides which frames arrive.
#pragma once

#include <string_view>

#include "congestion/fixed_point.h"
#include "congestion/units.h"

namespace rocetune::fabric {

class BitErrorRate {
 public:
  // One wrong bit in a thousand: no link is in use beyond that.
  static constexpr std::int64_t kMost = 1'000'000'000'000'000;
  static constexpr std::int64_t kOne = 1'000'000'000'000'000'000;

  BitErrorRate() = default;
  // Wrong bits of kOne; 0 to kMost.
  explicit BitErrorRate(std::int64_t of_kone);
  // "1e-12", "2.5e-13", "0". Error: anything else, finer than 1e-18, above 1e-3.
  static Parsed<BitErrorRate> parse(std::string_view text);

  bool is_zero() const { return of_kone_ == 0; }
  bool operator==(const BitErrorRate&) const = default;
  // Whether at least one bit of a frame of so many bytes is wrong, given 64 uniformly random bits: with
  // probability 1 - (1 - rate)^(8 bytes), to about 1e-14 of it.
  bool spoils(std::uint32_t bytes, std::uint64_t random) const;

 private:
  std::int64_t of_kone_ = 0;
  std::uint64_t right_ = 0;  // of a bit to be right, in 2^-64; of no use when the rate is 0
};

}  // namespace rocetune::fabric
