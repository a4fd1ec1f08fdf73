// Everything an endpoint holds, shared by its requester and responder halves.
#pragma once

#include <array>

#include "dataplane/engine/endpoint.h"
#include "dataplane/engine/inbound.h"
#include "dataplane/engine/queue_pair_list.h"
#include "dataplane/engine/queue_pair_table.h"
#include "dataplane/engine/slot_pool.h"
#include "dataplane/engine/timer_wheel.h"

namespace rocetune::engine {

// Received payload on its way to memory: handed to the PayloadAccess a burst at a time.
class PlacementBatch {
 public:
  explicit PlacementBatch(PayloadAccess& access) : access_(&access) {}
  // The payload of a received packet.
  void add(const PayloadReference& destination, const Inbound& in) {
    if (destination.length == 0) return;
    if (count_ == items_.size()) flush();
    items_[count_++] = {destination, in.payload, in.content};
  }
  void add(const PayloadReference& destination, const std::byte* bytes) {
    if (count_ == items_.size()) flush();
    items_[count_++] = {destination, bytes, nullptr};
  }
  // A word in this host's byte order: an atomic's result.
  void add(const PayloadReference& destination, std::uint64_t word) {
    if (count_ == items_.size()) flush();
    std::memcpy(words_[count_].data(), &word, sizeof(word));
    items_[count_] = {destination, words_[count_].data(), nullptr};
    ++count_;
  }
  void flush() {
    if (count_ > 0) access_->place({items_.data(), count_});
    count_ = 0;
  }

 private:
  static constexpr std::size_t kMost = 16;  // a part of a burst of received frames, of two pieces each
  PayloadAccess* access_;
  std::array<Placement, kMost> items_;
  std::array<std::array<std::byte, 8>, kMost> words_;
  std::size_t count_ = 0;
};

struct EndpointState {
  EndpointState(const EndpointOptions& chosen, PayloadAccess& payload_access);

  EndpointOptions options;
  PayloadAccess& access;
  RegionTable regions;
  QueuePairTable pairs;
  CompletionQueue completions;  // in front of the requests, of which it is rarely more than the beginning
  SlotPool<SendSlot> sends;
  // By slot of `sends`, written where that is an atomic; there once a queue pair may send some.
  std::optional<UntouchedArray<AtomicOperands>> atomics;
  SlotPool<ReceiveSlot> receives;
  SlotPool<ResponseSlot> responses;
  std::uint32_t responses_granted = 0;  // of that pool, to connected queue pairs
  TimerWheel timers;
  QueuePairList active;            // may have frames to send
  QueuePairList patient_answers;   // their acknowledgement lets requests go first, until answers_due
  QueuePairList waiting_for_port;  // oldest request acknowledged, its memory still referred to
  PlacementBatch placements;
  std::array<Inbound, 8>
      inbound;  // part of a burst: what was summed stays in the nearest cache until it is placed
  Instant answers_due = Instant::never();
  Statistics statistics;
  std::uint64_t ticket = 0;    // frames handed out
  std::uint64_t released = 0;  // of these, no longer referring to memory
  std::uint32_t epoch = 0;     // pauses so far

  // Arms the queue pair's timer for the first thing it waits for. A timer that is early already stays.
  void schedule(std::uint32_t row);
  // Everything that was posted completes, as far as the port lets go; nothing more is taken or sent.
  void enter_error(std::uint32_t row, CompletionStatus oldest_send);
  // Completes what is done at the head of the send queue.
  void complete_sends(std::uint32_t row);
  // The first receive request is done; `completion` says of what kind and length.
  void complete_receive(std::uint32_t row, const Inbound& in, Completion completion);
};

}  // namespace rocetune::engine
