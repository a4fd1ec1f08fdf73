// A bad network in front of any port: what is sent through it suffers the faults of a plan. What is received
// is left alone: for faults in both directions each side has its injector.
#pragma once

#include <algorithm>
#include <vector>

#include "dataplane/port/fault_plan.h"
#include "dataplane/port/frame_damage.h"
#include "dataplane/port/packet_port.h"

namespace rocetune::port {

struct FaultCounters {
  std::uint64_t frames = 0;  // that were to be sent
  std::uint64_t lost = 0;
  std::uint64_t duplicated = 0;
  std::uint64_t corrupted = 0;
  std::uint64_t reordered = 0;
  std::uint64_t delayed = 0;
  std::uint64_t marked_ce = 0;
  std::uint64_t queue_full = 0;  // lost: the queue in front of rate=
  std::uint64_t hold_full = 0;   // lost: more frames waiting than the port lends buffers for
  bool operator==(const FaultCounters&) const = default;
  static constexpr void fields(auto&& visit, auto&... self) {
    visit("frames", self.frames...);
    visit("lost", self.lost...);
    visit("duplicated", self.duplicated...);
    visit("corrupted", self.corrupted...);
    visit("reordered", self.reordered...);
    visit("delayed", self.delayed...);
    visit("marked_ce", self.marked_ce...);
    visit("queue_full", self.queue_full...);
    visit("hold_full", self.hold_full...);
  }
};

template <PacketPort Port>
class FaultInjector {
 public:
  FaultInjector(Port& port, FaultPlan plan)
      : port_(port), plan_(std::move(plan)), random_(plan_.seed), is_empty_(plan_.is_empty()) {
    // A heap never grows past this, so nothing is allocated later.
    max_held_ = port_.capabilities().transmit_buffers / 2;
    if (!is_empty_) held_.reserve(max_held_);
  }
  FaultInjector(const FaultInjector&) = delete;
  FaultInjector& operator=(const FaultInjector&) = delete;
  ~FaultInjector() {
    for (const Held& held : held_) port_.discard({&held.buffer, 1});
  }

  std::size_t receive(std::span<ReceivedFrame> in) { return port_.receive(in); }
  void release(std::span<const ReceivedFrame> done) { port_.release(done); }
  std::size_t reserve(std::span<TransmitBuffer> out) { return port_.reserve(out); }
  void discard(std::span<const TransmitBuffer> filled) { port_.discard(filled); }
  const Capabilities& capabilities() const { return port_.capabilities(); }
  PortCounters counters() { return port_.counters(); }
  const FaultCounters& faults() const { return counters_; }

  // How many frames left the injector now, held ones of earlier bursts and copies included.
  std::size_t transmit(Instant now, std::span<const TransmitBuffer> filled) {
    if (is_empty_) {
      counters_.frames += filled.size();
      return port_.transmit(now, filled);
    }
    sent_ = 0;
    release_due(now);
    for (const TransmitBuffer& buffer : filled) {
      suffer(now, buffer);
      release_due(now);
    }
    flush(now);
    return sent_;
  }
  // When transmit() has to be called again though there is nothing to send; never if nothing is held.
  Instant next_due() const { return held_.empty() ? Instant::never() : held_.front().due; }

 private:
  struct Held {
    Instant due;
    std::uint64_t order = 0;        // of equals the older first
    std::uint64_t after_frame = 0;  // reordered: leaves once this many frames were handled
    TransmitBuffer buffer;
    // std::push_heap keeps the greatest in front.
    friend bool operator<(const Held& a, const Held& b) {
      return a.due != b.due ? a.due > b.due : a.order > b.order;
    }
  };

  void suffer(Instant now, const TransmitBuffer& buffer) {
    const std::uint64_t index = counters_.frames++;
    if (plan_.loss.strikes(index, random_)) {
      ++counters_.lost;
      return port_.discard({&buffer, 1});
    }
    if (plan_.ce.strikes(index, random_)) mark(buffer);
    const bool is_doubled = plan_.duplicate.strikes(index, random_);
    TransmitBuffer copy;
    if (is_doubled && port_.reserve({&copy, 1}) == 1) {
      ++counters_.duplicated;
      copy.size = buffer.size;
      std::memcpy(copy.data, buffer.data, buffer.size);
    }
    if (plan_.corrupt.strikes(index, random_) && flip_random_bit(buffer.bytes(), random_))
      ++counters_.corrupted;
    pass(now, index, buffer);
    if (copy.data != nullptr) depart(now, now, copy);
  }

  // Decides when the frame may leave.
  void pass(Instant now, std::uint64_t index, const TransmitBuffer& buffer) {
    if (plan_.reorder.strikes(index, random_)) {
      ++counters_.reordered;
      const std::uint64_t after = index + 1 + static_cast<std::uint64_t>(plan_.reorder_frames);
      return hold({now + kReorderPatience, order_++, after, buffer});
    }
    if (plan_.delay.strikes(index, random_)) {
      ++counters_.delayed;
      return depart(now, now + plan_.delay_time, buffer);
    }
    depart(now, now, buffer);
  }

  // Through the wire of rate=, if there is one; not before `earliest`.
  void depart(Instant now, Instant earliest, const TransmitBuffer& buffer) {
    Instant due = earliest;
    if (plan_.rate) {
      const Bytes waiting = wire_free_ > now ? bytes_within(wire_free_ - now, *plan_.rate) : Bytes(0);
      if (waiting > plan_.rate_queue) {
        ++counters_.queue_full;
        return port_.discard({&buffer, 1});
      }
      if (plan_.mark && waiting > *plan_.mark) mark(buffer);
      wire_free_ =
          std::max(wire_free_, now) + transmission_time(Bytes(buffer.size) + kWireOverhead, *plan_.rate);
      due = std::max(due, wire_free_);
    }
    if (due > now) return hold({due, order_++, 0, buffer});
    leave(now, buffer);
  }

  void hold(const Held& held) {
    if (held_.size() == max_held_) {
      ++counters_.hold_full;
      return port_.discard({&held.buffer, 1});
    }
    held_.push_back(held);
    std::push_heap(held_.begin(), held_.end());
    if (held.after_frame != 0) ++reordered_held_;
  }

  void release_due(Instant now) {
    while (!held_.empty() && held_.front().due <= now) {
      std::pop_heap(held_.begin(), held_.end());
      const Held due = held_.back();
      held_.pop_back();
      if (due.after_frame != 0) --reordered_held_;
      leave(now, due.buffer);
    }
    if (reordered_held_ > 0) release_passed(now);
  }

  // Reordered frames whose followers have gone by.
  void release_passed(Instant now) {
    for (std::size_t i = 0; i < held_.size();) {
      const Held held = held_[i];
      if (held.after_frame == 0 || counters_.frames < held.after_frame) {
        ++i;
        continue;
      }
      held_[i] = held_.back();
      held_.pop_back();
      --reordered_held_;
      std::make_heap(held_.begin(), held_.end());
      depart(now, now, held.buffer);
      i = 0;
    }
  }

  void leave(Instant now, const TransmitBuffer& buffer) {
    if (ready_count_ == ready_.size()) flush(now);
    ready_[ready_count_++] = buffer;
  }
  void flush(Instant now) {
    sent_ += port_.transmit(now, std::span(ready_).first(ready_count_));
    ready_count_ = 0;
  }
  void mark(const TransmitBuffer& buffer) { counters_.marked_ce += mark_ce(buffer.bytes()) ? 1 : 0; }

  // What a frame takes on the wire besides its bytes: frame check sequence, preamble, gap (IEEE 802.3).
  static constexpr Bytes kWireOverhead = Bytes(24);

  Port& port_;
  FaultPlan plan_;
  Random random_;
  bool is_empty_;
  std::size_t max_held_ = 0;
  std::vector<Held> held_;  // a heap, the next one due in front
  std::size_t reordered_held_ = 0;
  std::uint64_t order_ = 0;
  Instant wire_free_;
  std::array<TransmitBuffer, kMaxBurst> ready_{};
  std::size_t ready_count_ = 0;
  std::size_t sent_ = 0;
  FaultCounters counters_;
};

}  // namespace rocetune::port
