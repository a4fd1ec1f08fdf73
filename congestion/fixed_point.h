// Exact integer arithmetic for whatever decides: a product is held in 128 bits and rounded once, where the
// caller says. No libm, no floating point, so every machine decides alike.
#pragma once

#include <cstdint>

#include "congestion/units.h"

namespace rocetune {

__extension__ typedef __int128 Wide;
__extension__ typedef unsigned __int128 UnsignedWide;

// a·b/c rounded towards zero. c must be positive and the result must fit in 64 bits.
constexpr std::int64_t mul_div(std::int64_t a, std::int64_t b, std::int64_t c) {
  ROCETUNE_ASSERT(c > 0);
  const Wide quotient = Wide(a) * b / c;
  ROCETUNE_ASSERT(quotient >= INT64_MIN && quotient <= INT64_MAX);
  return static_cast<std::int64_t>(quotient);
}

// The largest r with r·r <= n. n must not be negative.
constexpr std::int64_t integer_sqrt(std::int64_t n) {
  ROCETUNE_ASSERT(n >= 0);
  std::int64_t root = 0;
  for (std::int64_t bit = std::int64_t{1} << 31; bit != 0; bit >>= 1) {
    const std::int64_t next = root | bit;
    if (static_cast<Wide>(next) * next <= n) root = next;
  }
  return root;
}

// Whether an event of probability `p` happens, given 64 uniformly random bits. Ratio::one() always does.
constexpr bool happens(Ratio p, std::uint64_t random) {
  const auto scaled = static_cast<std::int64_t>(UnsignedWide(random) * Ratio::kOne >> 64);
  return scaled < p.count();
}

}  // namespace rocetune
