// The numbers that order and address InfiniBand packets.
#pragma once

#include <compare>
#include <cstdint>

#include "congestion/units.h"

namespace rocetune::wire {

// Packet sequence number: 24 bits that wrap. It has no order; distance() has, within half the circle.
class Psn {
 public:
  static constexpr std::uint32_t kMask = 0xFFFFFF;
  constexpr Psn() = default;
  constexpr explicit Psn(std::uint32_t value) : value_(value) { ROCETUNE_ASSERT(value <= kMask); }
  constexpr std::uint32_t value() const { return value_; }
  friend constexpr bool operator==(Psn, Psn) = default;
  friend constexpr Psn operator+(Psn psn, std::int64_t n) {
    return Psn(static_cast<std::uint32_t>(psn.value_ + n) & kMask);
  }
  friend constexpr Psn operator-(Psn psn, std::int64_t n) { return psn + -n; }
  // Steps from `from` forward to `to`: −2^23 to 2^23−1; negative means that `to` is older.
  static constexpr std::int32_t distance(Psn from, Psn to) {
    return static_cast<std::int32_t>((to.value_ - from.value_) << 8) >> 8;
  }

 private:
  std::uint32_t value_ = 0;
};

// Queue pair number: 24 bits.
class Qpn {
 public:
  constexpr Qpn() = default;
  constexpr explicit Qpn(std::uint32_t value) : value_(value) { ROCETUNE_ASSERT(value <= 0xFFFFFF); }
  constexpr std::uint32_t value() const { return value_; }
  friend constexpr auto operator<=>(Qpn, Qpn) = default;

 private:
  std::uint32_t value_ = 0;
};

}  // namespace rocetune::wire
