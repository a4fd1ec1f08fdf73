// Which of the 128 packets from some sequence number on: what a receiver has beyond a gap, what a sender must
// send again. Place 0 is the first of them.
#pragma once

#include <bit>
#include <cstdint>

#include "dataplane/wire/bytes.h"

namespace rocetune::engine {

class SequenceWindow {
 public:
  static constexpr int kPlaces = 128;
  static constexpr std::size_t kWireSize = 16;
  static constexpr std::size_t kSize = kWireSize;  // as headers call it

  bool is_empty() const { return (low_ | high_) == 0; }
  bool contains(int place) const { return (word(place) >> (place & 63) & 1) != 0; }
  void add(int place) { word(place) |= std::uint64_t{1} << (place & 63); }
  void remove(int place) { word(place) &= ~(std::uint64_t{1} << (place & 63)); }
  void clear() { low_ = high_ = 0; }
  // First and last member; kPlaces and −1 if there is none.
  int first() const { return low_ != 0 ? std::countr_zero(low_) : 64 + std::countr_zero(high_); }
  int last() const { return high_ != 0 ? 127 - std::countl_zero(high_) : 63 - std::countl_zero(low_); }
  // The window now begins `places` later; what lay before is forgotten.
  void advance(std::int64_t places) {
    if (places >= kPlaces) return clear();
    if (places >= 64) {
      low_ = high_;
      high_ = 0;
      places -= 64;
    }
    if (places == 0) return;
    low_ = low_ >> places | high_ << (64 - places);
    high_ >>= places;
  }

  // Two words in network byte order, the later places first.
  void emit(std::span<std::byte, kWireSize> out) const {
    wire::store64(out, 0, high_);
    wire::store64(out, 8, low_);
  }
  static SequenceWindow parse(std::span<const std::byte, kWireSize> in) {
    SequenceWindow window;
    window.high_ = wire::load64(in, 0);
    window.low_ = wire::load64(in, 8);
    return window;
  }
  bool operator==(const SequenceWindow&) const = default;

 private:
  std::uint64_t& word(int place) { return place < 64 ? low_ : high_; }
  std::uint64_t word(int place) const { return place < 64 ? low_ : high_; }
  std::uint64_t low_ = 0;
  std::uint64_t high_ = 0;
};

}  // namespace rocetune::engine
