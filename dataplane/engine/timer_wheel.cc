#include "dataplane/engine/timer_wheel.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace rocetune::engine {
namespace {

constexpr int kPlaceBits = 6;

std::uint64_t tick_at_or_after(Instant t) {
  const std::int64_t ps = std::max<std::int64_t>(t.since_origin().count(), 0);
  return (static_cast<std::uint64_t>(ps) + (std::uint64_t{1} << TimerWheel::kTickBits) - 1) >>
         TimerWheel::kTickBits;
}
std::uint64_t tick_at_or_before(Instant t) {
  return static_cast<std::uint64_t>(std::max<std::int64_t>(t.since_origin().count(), 0)) >>
         TimerWheel::kTickBits;
}

}  // namespace

TimerWheel::TimerWheel(std::uint32_t timers) : nodes_(timers) { buckets_.fill(kEnd); }

void TimerWheel::arm(std::uint32_t timer, Instant deadline) {
  if (nodes_[timer].bucket != kNone) remove(timer);
  if (deadline == Instant::never()) return;
  nodes_[timer].deadline = deadline;
  insert(timer);
}

void TimerWheel::disarm(std::uint32_t timer) { arm(timer, Instant::never()); }

// The level is that of the highest six bits in which the deadline differs from now: whatever lies on a level
// is later than everything on the levels below.
void TimerWheel::insert(std::uint32_t timer) {
  Node& node = nodes_[timer];
  const std::uint64_t tick = std::max(tick_at_or_after(node.deadline), tick_);
  const std::uint64_t difference = tick ^ tick_;
  const int level = difference == 0 ? 0 : (63 - std::countl_zero(difference)) / kPlaceBits;
  ROCETUNE_ASSERT(level < kLevels);
  const auto place = static_cast<std::uint32_t>(tick >> (kPlaceBits * level)) % kPlaces;
  node.bucket = static_cast<std::uint16_t>(static_cast<std::uint32_t>(level) * kPlaces + place);
  std::uint32_t& first = buckets_[node.bucket];
  if (first == kEnd) {
    node.previous = node.next = first = timer;
  } else {
    node.previous = nodes_[first].previous;
    node.next = first;
    nodes_[node.previous].next = timer;
    nodes_[first].previous = timer;
  }
  occupied_[static_cast<std::size_t>(level)] |= std::uint64_t{1} << place;
}

void TimerWheel::remove(std::uint32_t timer) {
  Node& node = nodes_[timer];
  std::uint32_t& first = buckets_[node.bucket];
  if (node.next == timer) {
    first = kEnd;
    occupied_[node.bucket / kPlaces] &= ~(std::uint64_t{1} << node.bucket % kPlaces);
  } else {
    nodes_[node.previous].next = node.next;
    nodes_[node.next].previous = node.previous;
    if (first == timer) first = node.next;
  }
  node.bucket = kNone;
}

bool TimerWheel::next_expiry(Expiry& out) const {
  for (int level = 0; level < kLevels; ++level) {
    const std::uint64_t occupied = occupied_[static_cast<std::size_t>(level)];
    if (occupied == 0) continue;
    const auto place = static_cast<std::uint32_t>(std::countr_zero(occupied));
    const int shift = kPlaceBits * level;
    const std::uint64_t above = tick_ >> (shift + kPlaceBits) << (shift + kPlaceBits);
    out = {above | std::uint64_t{place} << shift, level, place};
    return true;
  }
  return false;
}

Instant TimerWheel::next() const {
  Expiry expiry;
  if (!next_expiry(expiry)) return Instant::never();
  return Instant(Duration(static_cast<std::int64_t>(expiry.tick << kTickBits)));
}

void TimerWheel::cascade(const Expiry& expiry) {
  const std::uint32_t first =
      std::exchange(buckets_[static_cast<std::uint32_t>(expiry.level) * kPlaces + expiry.place], kEnd);
  occupied_[static_cast<std::size_t>(expiry.level)] &= ~(std::uint64_t{1} << expiry.place);
  std::uint32_t timer = first;
  do {
    const std::uint32_t behind = nodes_[timer].next;
    insert(timer);
    timer = behind;
  } while (timer != first);
}

bool TimerWheel::pop_due(Instant now, std::uint32_t& timer) {
  const std::uint64_t now_tick = tick_at_or_before(now);
  Expiry expiry;
  while (next_expiry(expiry) && expiry.tick <= now_tick) {
    tick_ = expiry.tick;
    if (expiry.level > 0) {
      cascade(expiry);
      continue;
    }
    timer = buckets_[expiry.place];
    remove(timer);
    return true;
  }
  tick_ = std::max(tick_, now_tick);
  return false;
}

}  // namespace rocetune::engine
