// The state of one queue pair, in the order in which it is touched, and of the requests it holds. Plain data:
// requester.cc and responder.cc are the ones who change it.
#pragma once

#include <cstdint>
#include <optional>

#include "congestion/controllers/any_controller.h"
#include "congestion/dcqcn/notification_point.h"
#include "dataplane/engine/completion.h"
#include "dataplane/engine/endpoint.h"
#include "dataplane/engine/sequence.h"
#include "dataplane/engine/sequence_window.h"
#include "dataplane/engine/slot_pool.h"

namespace rocetune::engine {

// Every so many packets one asks for an acknowledgement, so that a window opens and a loss is noticed early;
// so does the end of a request that wants a completion, and the last one there is. Ours; the specification
// leaves it open (section 9.7.5.1.1).
constexpr std::uint32_t kAckInterval = 16;
// Turns in which an acknowledgement lets requests go first, if it may
// (EndpointOptions::acknowledgement_patience).
constexpr std::uint8_t kMostWaits = 4;

// A posted send request: what is needed of a SendRequest, and how far it is. Many may be on their way, so
// what only atomics have is apart, and a slot is one cache line.
struct alignas(64) SendSlot {
  std::uint64_t work_id = 0;
  PayloadReference local;  // resolved when it was posted
  std::uint64_t remote_address = 0;
  Sequence first;                 // of its packets; READ: of its responses
  std::uint64_t last_ticket = 0;  // of the last frame that referred to its payload
  std::uint32_t immediate = 0;    // or the key to invalidate: a request has one at most
  MemoryKey remote_key;
  std::uint32_t message : 24 = 0;  // its number on this queue pair, from 1: the specification's SSN
  SendKind kind : 3 = SendKind::send;
  bool signaled : 1 = true;
  bool solicited : 1 = false;
  bool fenced : 1 = false;
  bool has_immediate : 1 = false;
  bool has_invalidate : 1 = false;
  std::uint32_t next = kNoSlot;  // SlotPool's

  // Done only when its answer is here: an acknowledgement is not enough.
  bool has_answer() const { return kind >= SendKind::read; }
  bool is_atomic() const { return kind > SendKind::read; }
  bool takes_receive_request() const {
    return kind == SendKind::send || (kind == SendKind::write && has_immediate);
  }
};
static_assert(sizeof(SendSlot) == 64);

// Of an atomic, beside its SendSlot.
struct AtomicOperands {
  std::uint64_t swap_or_add = 0;
  std::uint64_t compare = 0;
};

// A posted receive request.
struct ReceiveSlot {
  std::uint64_t work_id = 0;
  PayloadReference local;
};

// What a responder still owes: a READ's data, an atomic's result. Kept for atomics until pushed out by newer
// ones, because they must not be carried out twice.
struct ResponseSlot {
  Sequence first;
  std::uint32_t packets = 1;
  std::uint32_t sent = 0;
  PayloadReference data;       // READ
  std::uint64_t original = 0;  // atomic
  std::uint32_t msn = 0;
  bool is_atomic = false;
  bool is_repeat = false;  // asked for again

  Sequence end() const { return first + packets; }
};

// The requester half. Slots from the head of `queue` to `oldest` are acknowledged and wait for the port to
// let go of their memory; from `oldest` to `cursor` they are on their way; from `cursor` on they wait to be
// sent.
struct SendSide {
  SlotQueue queue;
  std::uint32_t oldest = kNoSlot;
  std::uint32_t cursor = kNoSlot;
  Sequence unacked;     // first packet not acknowledged; READ: first response not here
  Sequence next;        // to be sent
  Sequence sent_end;    // behind the last one ever sent
  Sequence asked_end;   // behind the last one that asked for an acknowledgement
  Sequence repeat_end;  // what is sent before this was sent before
  Sequence posted_end;  // behind the last one posted
  Sequence
      rewound_at;  // `unacked` when a NAK or a gap last led back to it: later ones of the same are echoes
  Instant ack_deadline = Instant::never();
  Instant rnr_until = Instant::never();  // nothing is sent before
  Instant probe_sent;                    // round-trip sample under way: of `probe`, if has_probe
  Sequence probe;
  std::uint32_t probe_epoch = 0;
  std::uint32_t messages = 0;      // posted ones
  std::uint32_t credit_limit = 0;  // last message the peer has a receive request for; with has_credits
  std::uint8_t reads_in_flight = 0;
  std::uint8_t retries_left = 0;
  std::uint8_t rnr_retries_left = 0;
  bool has_probe = false;
  bool has_credits = false;
  CompletionStatus failure = CompletionStatus::flushed;  // of the oldest one, once in error
  // Selective repeat, counted from `unacked`: to be sent again, and sent again already.
  SequenceWindow missing;
  SequenceWindow resent;
  Sequence repaired_until;  // sent after that shows whether a repair was lost in turn
};

// The responder half.
struct ReceiveSide {
  enum class Message : std::uint8_t { none, send, write };
  enum class Answer : std::uint8_t { none, ack, sequence_nak, rnr_nak, fatal_nak };
  Sequence expected;
  Sequence gap_seen;          // newest packet that came too early
  Sequence refused;           // what a fatal NAK names
  SlotQueue queue;            // receive requests; the first one is in use while a SEND is arriving
  SlotQueue responses;        // to be sent, in order
  SlotQueue remembered;       // atomics already answered
  PayloadReference target;    // where the message under way goes
  std::uint32_t arrived = 0;  // bytes of it
  std::uint32_t msn = 0;      // messages completed, 24 bits
  Message message = Message::none;
  Answer answer = Answer::none;
  std::uint8_t syndrome = 0;     // of a fatal NAK
  bool nak_outstanding = false;  // one NAK per gap: silence until the expected packet comes
  bool has_failed = false;       // takes no more requests; in error once its NAK has left
  bool cnp_due = false;
  std::uint8_t answer_waits = 0;    // turns in which `answer` let requests go first
  std::uint8_t repeated_reads = 0;  // of `responses`
  std::uint8_t repeated_atomics = 0;
  CompletionStatus failure = CompletionStatus::flushed;  // of the receive request in use
  SequenceWindow early;  // selective repeat: has arrived, counted from `expected`
};

// Spacing between data frames, READ responses included.
struct Pacing {
  Instant next_send;                // the controller's rate allows the next frame
  Instant wake = Instant::never();  // blocked until
  BitRate rate{0};                  // that next_send was computed with
  bool was_idle = true;             // had nothing to send: no credit for the past
};

struct QueuePair {
  wire::Qpn qpn;
  wire::Qpn peer;
  QueuePairState state = QueuePairState::unused;
  wire::Service service = wire::Service::rc;
  std::uint8_t mtu_shift = 8;
  std::uint8_t ack_timeout = 0;
  std::uint8_t retry_count = 0;
  std::uint8_t rnr_retry = 0;
  std::uint8_t rnr_timer = 0;
  std::uint8_t initiator_depth = 0;
  std::uint8_t responder_resources = 0;
  bool end_to_end_credits = false;
  bool selective_repeat = false;
  std::uint16_t partition = 0xFFFF;
  wire::IpAddress peer_address;
  SendSide send;
  ReceiveSide receive;
  Pacing pacing;
  std::optional<dcqcn::NotificationPoint> notification;
  std::uint32_t send_depth = 0;
  std::uint32_t receive_depth = 0;
  std::uint32_t queue_key = 0;

  // 4.096 us · 2^n (section 9.7.6.1.3); without end for n = 0.
  Duration ack_timeout_span() const {
    return ack_timeout == 0 ? Duration::max() : Duration(std::int64_t{4'096'000} << ack_timeout);
  }
  std::uint32_t mtu() const { return std::uint32_t{1} << mtu_shift; }
  // Packets of a message; one for an empty one.
  std::uint32_t packets_of(std::uint32_t length) const {
    return length == 0 ? 1 : (length + mtu() - 1) >> mtu_shift;
  }
  // Behind the last packet of a request; READ: of its responses.
  Sequence end_of(const SendSlot& slot) const {
    return slot.first + (slot.is_atomic() ? 1 : packets_of(slot.local.length));
  }
};

// What only sending touches.
struct QueuePairPath {
  std::optional<wire::PathHeaders> headers;
  std::optional<AnyController> controller;
};

}  // namespace rocetune::engine
