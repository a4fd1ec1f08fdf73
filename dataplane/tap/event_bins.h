// Counts over time in a fixed number of bins whose width doubles whenever the time outgrows them: any
// capture, from microseconds to days, in the same memory.
#pragma once

#include <array>
#include <cstdint>

#include "congestion/units.h"
#include "dataplane/tap/facts.h"

namespace rocetune::tap {

enum class Event : std::uint8_t { bytes, retransmission, nak, ce, cnp };

class EventBins {
 public:
  static constexpr std::size_t kBins = 512;
  // Before the first event's time: counted in the first bin.
  void add(Instant now, Event event, std::int64_t amount = 1);
  TimelineFacts facts() const;

 private:
  using Bin = std::array<std::int64_t, 5>;  // by Event
  void double_width();

  std::array<Bin, kBins> bins_{};
  Instant start_;
  // Width in 2^shift picoseconds: bins are found by shifting, for every packet. Begins with 1.05 us.
  int shift_ = 20;
  std::size_t used_ = 0;
  bool any_ = false;
};

}  // namespace rocetune::tap
