// An unwrapped packet sequence number: where a queue pair stands, with an order. The wire carries its low 24
// bits (wire::Psn), which have none. Source: InfiniBand architecture specification, volume 1, section 9.7.2.
#pragma once

#include <compare>
#include <cstdint>

#include "dataplane/wire/psn.h"

namespace rocetune::engine {

class Sequence {
 public:
  constexpr Sequence() = default;
  // The first one of a connection that starts at `psn`. Not near zero, so that older ones exist too.
  static constexpr Sequence starting_at(wire::Psn psn) { return Sequence(kStart + psn.value()); }
  constexpr wire::Psn psn() const { return wire::Psn(static_cast<std::uint32_t>(count_ & wire::Psn::kMask)); }
  // The one that `psn` stands for, within half the circle of this one.
  constexpr Sequence near(wire::Psn psn) const { return *this + wire::Psn::distance(this->psn(), psn); }

  friend constexpr auto operator<=>(Sequence, Sequence) = default;
  friend constexpr Sequence operator+(Sequence s, std::int64_t n) {
    return Sequence(s.count_ + static_cast<std::uint64_t>(n));
  }
  friend constexpr Sequence operator-(Sequence s, std::int64_t n) { return s + -n; }
  friend constexpr std::int64_t operator-(Sequence a, Sequence b) {
    return static_cast<std::int64_t>(a.count_ - b.count_);
  }
  constexpr Sequence& operator++() { return *this = *this + 1; }

 private:
  static constexpr std::uint64_t kStart = std::uint64_t{1} << 32;
  constexpr explicit Sequence(std::uint64_t count) : count_(count) {}
  std::uint64_t count_ = 0;
};

}  // namespace rocetune::engine
