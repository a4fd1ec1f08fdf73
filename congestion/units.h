// The vocabulary every layer shares: quantities with their unit in the type, and their text forms.
//
// No bare integer or double carries a time, rate, size, priority or code point. Arithmetic is integer; what
// would overflow or leave a documented range is a programmer's mistake and asserts. At text edges the unit is
// mandatory: "100Gbps", "55us", "64KiB"; a bare number is an error that says what was expected.
#pragma once

#include <tl/expected.hpp>

#include <compare>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace rocetune {

// Aborts with file, line and the violated condition, in release builds too.
[[noreturn]] void assertion_failed(const char* condition, const char* file, int line);
#define ROCETUNE_ASSERT(condition) \
  ((condition) ? void(0) : ::rocetune::assertion_failed(#condition, __FILE__, __LINE__))

// A text that is not a quantity: what was found, and what would have been right.
struct UnitError {
  std::string found;
  std::string allowed;
  bool operator==(const UnitError&) const = default;
};
template <class T>
using Parsed = tl::expected<T, UnitError>;

namespace detail {
// An additive quantity counted in one fixed unit. `Self` is the concrete type (CRTP).
template <class Self>
class Quantity {
 public:
  constexpr Quantity() = default;
  constexpr explicit Quantity(std::int64_t count) : count_(count) {}
  constexpr std::int64_t count() const { return count_; }
  constexpr bool is_zero() const { return count_ == 0; }

  friend constexpr auto operator<=>(const Quantity&, const Quantity&) = default;
  friend constexpr Self operator+(Self a, Self b) { return Self(checked_add(a.count(), b.count())); }
  friend constexpr Self operator-(Self a, Self b) { return Self(checked_sub(a.count(), b.count())); }
  friend constexpr Self operator*(Self a, std::int64_t n) { return Self(checked_mul(a.count(), n)); }
  friend constexpr Self operator*(std::int64_t n, Self a) { return a * n; }
  friend constexpr Self operator/(Self a, std::int64_t n) { return Self(a.count() / n); }
  friend constexpr std::int64_t operator/(Self a, Self b) { return a.count() / b.count(); }
  friend constexpr Self operator%(Self a, Self b) { return Self(a.count() % b.count()); }
  constexpr Self& operator+=(Self b) { return self() = self() + b; }
  constexpr Self& operator-=(Self b) { return self() = self() - b; }

 private:
  constexpr Self& self() { return static_cast<Self&>(*this); }
  static constexpr std::int64_t checked_add(std::int64_t a, std::int64_t b) {
    std::int64_t out{};
    ROCETUNE_ASSERT(!__builtin_add_overflow(a, b, &out));
    return out;
  }
  static constexpr std::int64_t checked_sub(std::int64_t a, std::int64_t b) {
    std::int64_t out{};
    ROCETUNE_ASSERT(!__builtin_sub_overflow(a, b, &out));
    return out;
  }
  static constexpr std::int64_t checked_mul(std::int64_t a, std::int64_t b) {
    std::int64_t out{};
    ROCETUNE_ASSERT(!__builtin_mul_overflow(a, b, &out));
    return out;
  }
  std::int64_t count_ = 0;
};

// A small code 0..Max whose values are names, not amounts.
template <class Self, int Max>
class Code {
 public:
  static constexpr int kCount = Max + 1;
  constexpr Code() = default;
  constexpr explicit Code(int value) : value_(static_cast<std::uint8_t>(value)) {
    ROCETUNE_ASSERT(value >= 0 && value <= Max);
  }
  static constexpr bool is_valid(std::int64_t value) { return value >= 0 && value <= Max; }
  constexpr int value() const { return value_; }
  friend constexpr auto operator<=>(const Code&, const Code&) = default;

 private:
  std::uint8_t value_ = 0;
};
}  // namespace detail

// An amount of data. Unit: bytes.
class Bytes : public detail::Quantity<Bytes> {
 public:
  using Quantity::Quantity;
  constexpr std::int64_t bits() const { return count() * 8; }
};

// A span of time. Unit: picoseconds; range about ±106 days. A byte at 800 Gb/s is exactly 10 ps.
class Duration : public detail::Quantity<Duration> {
 public:
  using Quantity::Quantity;
  static constexpr Duration max() { return Duration(INT64_MAX); }
  constexpr double seconds() const { return static_cast<double>(count()) * 1e-12; }
  constexpr double microseconds() const { return static_cast<double>(count()) * 1e-6; }
};
constexpr Duration picoseconds(std::int64_t n) { return Duration(n); }
constexpr Duration nanoseconds(std::int64_t n) { return Duration(1'000) * n; }
constexpr Duration microseconds(std::int64_t n) { return Duration(1'000'000) * n; }
constexpr Duration milliseconds(std::int64_t n) { return Duration(1'000'000'000) * n; }
constexpr Duration seconds(std::int64_t n) { return Duration(1'000'000'000'000) * n; }

// A point on one clock: picoseconds since an origin that the clock's owner chose (simulation start, process
// start).
class Instant {
 public:
  constexpr Instant() = default;
  constexpr explicit Instant(Duration since_origin) : since_origin_(since_origin) {}
  static constexpr Instant never() { return Instant(Duration::max()); }
  constexpr Duration since_origin() const { return since_origin_; }
  friend constexpr auto operator<=>(const Instant&, const Instant&) = default;
  friend constexpr Instant operator+(Instant t, Duration d) { return Instant(t.since_origin_ + d); }
  friend constexpr Instant operator-(Instant t, Duration d) { return Instant(t.since_origin_ - d); }
  friend constexpr Duration operator-(Instant a, Instant b) { return a.since_origin_ - b.since_origin_; }

 private:
  Duration since_origin_;
};

// A rate of data. Unit: bits per second.
class BitRate : public detail::Quantity<BitRate> {
 public:
  using Quantity::Quantity;
  constexpr std::int64_t bits_per_second() const { return count(); }
  constexpr std::int64_t megabits_per_second() const { return count() / 1'000'000; }
};
constexpr BitRate bits_per_second(std::int64_t n) { return BitRate(n); }
constexpr BitRate megabits_per_second(std::int64_t n) { return BitRate(1'000'000) * n; }
constexpr BitRate gigabits_per_second(std::int64_t n) { return BitRate(1'000'000'000) * n; }

// The time `size` takes on a wire of `rate`, rounded up to a picosecond. `rate` must be positive.
Duration transmission_time(Bytes size, BitRate rate);
// The bytes that pass at `rate` within `span`, rounded down.
Bytes bytes_within(Duration span, BitRate rate);

// A share or probability. Unit: parts per billion; usually 0..1, but nothing forbids more (a gain of 1.2).
class Ratio : public detail::Quantity<Ratio> {
 public:
  using Quantity::Quantity;
  static constexpr std::int64_t kOne = 1'000'000'000;
  static constexpr Ratio one() { return Ratio(kOne); }
  static constexpr Ratio from_percent(std::int64_t percent) { return Ratio(percent * (kOne / 100)); }
  // Numerator over denominator, rounded towards zero; the denominator must be positive.
  static Ratio of(std::int64_t numerator, std::int64_t denominator);
  constexpr double value() const { return static_cast<double>(count()) / static_cast<double>(kOne); }
  constexpr double percent() const { return value() * 100; }
};

// Length of a cable. Unit: metres.
class Metres : public detail::Quantity<Metres> {
 public:
  using Quantity::Quantity;
};

// IEEE 802.1Q priority (PCP), 0..7: what PFC pauses and what DSCP maps to.
class Priority : public detail::Code<Priority, 7> {
 public:
  using Code::Code;
};
// A hardware traffic class (queue group), 0..7: what ETS schedules.
class TrafficClass : public detail::Code<TrafficClass, 7> {
 public:
  using Code::Code;
};
// Differentiated-services code point, 0..63 (RFC 2474).
class Dscp : public detail::Code<Dscp, 63> {
 public:
  using Code::Code;
};
// ECN field (RFC 3168).
enum class Ecn : std::uint8_t { not_ect = 0, ect1 = 1, ect0 = 2, ce = 3 };

// The IPv4 ToS / IPv6 traffic-class byte. It is made only from its two halves: a raw DSCP written where this
// byte belongs is the field's most common bug.
class TosByte {
 public:
  constexpr TosByte() = default;
  constexpr TosByte(Dscp dscp, Ecn ecn)
      : byte_(static_cast<std::uint8_t>((dscp.value() << 2) | static_cast<int>(ecn))) {}
  // The byte as it stands in a header or in a file that is known to hold the whole byte.
  static constexpr TosByte from_wire(std::uint8_t byte) {
    return TosByte(Dscp(byte >> 2), static_cast<Ecn>(byte & 3));
  }
  constexpr std::uint8_t wire() const { return byte_; }
  constexpr Dscp dscp() const { return Dscp(byte_ >> 2); }
  constexpr Ecn ecn() const { return static_cast<Ecn>(byte_ & 3); }
  friend constexpr auto operator<=>(const TosByte&, const TosByte&) = default;

 private:
  std::uint8_t byte_ = 0;
};

// Pause time as PFC and 802.3x frames carry it. Unit: quanta of 512 bit times; 0 means resume (Xon).
class PauseQuanta {
 public:
  constexpr PauseQuanta() = default;
  constexpr explicit PauseQuanta(std::uint16_t quanta) : quanta_(quanta) {}
  constexpr std::uint16_t count() const { return quanta_; }
  Duration at(BitRate rate) const;
  friend constexpr auto operator<=>(const PauseQuanta&, const PauseQuanta&) = default;

 private:
  std::uint16_t quanta_ = 0;
};

// A set of priorities: the PFC enable vector and its like. Bit p stands for priority p.
class PrioritySet {
 public:
  constexpr PrioritySet() = default;
  constexpr explicit PrioritySet(std::uint8_t mask) : mask_(mask) {}
  static constexpr PrioritySet of(Priority p) {
    return PrioritySet(static_cast<std::uint8_t>(1 << p.value()));
  }
  constexpr std::uint8_t mask() const { return mask_; }
  constexpr bool contains(Priority p) const { return (mask_ >> p.value()) & 1; }
  constexpr bool is_empty() const { return mask_ == 0; }
  constexpr int size() const { return __builtin_popcount(mask_); }
  constexpr PrioritySet with(Priority p) const {
    return PrioritySet(static_cast<std::uint8_t>(mask_ | 1 << p.value()));
  }
  constexpr PrioritySet without(Priority p) const {
    return PrioritySet(static_cast<std::uint8_t>(mask_ & ~(1 << p.value())));
  }
  std::vector<Priority> members() const;
  friend constexpr auto operator<=>(const PrioritySet&, const PrioritySet&) = default;

 private:
  std::uint8_t mask_ = 0;
};

// Text forms. `to_text` picks the largest unit that is exact; `parse_*` accept an integer or decimal number
// followed by a unit (case-sensitive, blanks between allowed) and reject what cannot be held exactly.
std::string to_text(Bytes);         // "64KiB", "1500B"
std::string to_text(Duration);      // "55us", "1.5ms" is "1500us"
std::string to_text(BitRate);       // "100Gbps", "5Mbps"
std::string to_text(Ratio);         // "12.5%"
std::string to_text(Metres);        // "7m"
std::string to_text(Priority);      // "3"
std::string to_text(TrafficClass);  // "3"
std::string to_text(Dscp);          // "26"
std::string to_text(Ecn);           // "ECT(0)"
std::string to_text(PrioritySet);   // "{3}", "{3,4}", "{}"

Parsed<Bytes> parse_bytes(std::string_view);  // B kB MB GB (powers of 1000), KiB MiB GiB (powers of 1024)
Parsed<Duration> parse_duration(std::string_view);  // ps ns us ms s min h
Parsed<BitRate> parse_bit_rate(std::string_view);   // bps kbps Mbps Gbps Tbps
Parsed<Ratio> parse_ratio(std::string_view);        // "12.5%" or "0.125"
Parsed<Metres> parse_metres(std::string_view);      // m km
Parsed<Priority> parse_priority(std::string_view);  // 0..7
Parsed<Dscp> parse_dscp(std::string_view);          // 0..63, or a name: cs0..cs7, af11..af43, ef, va, le
Parsed<PrioritySet> parse_priority_set(std::string_view);  // "3", "3,4", "none"

}  // namespace rocetune

template <class T>
  requires std::derived_from<T, rocetune::detail::Code<T, T::kCount - 1>>
struct std::hash<T> {
  std::size_t operator()(const T& code) const noexcept { return static_cast<std::size_t>(code.value()); }
};
