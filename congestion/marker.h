// WRED: the queue's length decides, with a probability, whether a packet is marked or dropped.
#pragma once

#include <cstdint>

#include "congestion/units.h"

namespace rocetune {

// The probability curve: 0 up to and including `minimum`, rising linearly to `probability` at `maximum`, 1
// above. Requires 0 <= minimum <= maximum and 0 <= probability <= 1.
// Source: Floyd and Jacobson 1993 as DCQCN (SIGCOMM 2015, figure 5) uses it, without RED's averaging.
struct RedCurve {
  Bytes minimum{5'000};                       // Kmin
  Bytes maximum{200'000};                     // Kmax
  Ratio probability{Ratio::from_percent(1)};  // Pmax
  // Rounded down to a part per billion.
  Ratio probability_at(Bytes queue) const;
  bool operator==(const RedCurve&) const = default;
};

// The queue length WRED looks at: exponentially averaged with weight 2^-exponent per packet, held in
// 1/2^16 byte. Exponent 0 is the length itself (what DCQCN needs); switches allow up to 15.
class AverageQueue {
 public:
  static constexpr int kMaxExponent = 15;
  explicit AverageQueue(int exponent = 0);
  void on_packet(Bytes queue);
  Bytes average() const { return Bytes(scaled_ >> kFraction); }

 private:
  static constexpr int kFraction = 16;
  int exponent_;
  std::int64_t scaled_ = 0;
};

// What happens to a packet that asks for room in, or leaves, a marked queue.
enum class MarkVerdict : std::uint8_t { pass, mark, drop };

// One queue's WRED profile. ECN-capable packets are marked by `ecn`; the others are dropped by `not_ecn`, as
// RFC 3168 asks, if `drop_not_ecn` is set (a lossless class leaves it off: PFC protects what cannot be
// marked).
struct WredProfile {
  RedCurve ecn;
  RedCurve not_ecn;
  bool drop_not_ecn = false;
  int averaging_exponent = 0;
};

class Wred {
 public:
  explicit Wred(const WredProfile& profile) : profile_(profile), queue_(profile.averaging_exponent) {}
  // `queue` counts the bytes waiting, `random` is 64 uniformly random bits of the switch's own stream. A
  // packet that carries CE already passes.
  MarkVerdict on_packet(Bytes queue, Ecn ecn, std::uint64_t random);
  const WredProfile& profile() const { return profile_; }

 private:
  WredProfile profile_;
  AverageQueue queue_;
};

}  // namespace rocetune
