// The requester half of every queue pair: takes send requests, turns them into packets, and understands what
// comes back. Source: InfiniBand architecture specification, volume 1, sections 9.4, 9.7.2 to 9.7.7.
//
// Loss is repaired by going back: everything from the first packet that is not acknowledged is sent again
// (requester_selective.cc has the other way, between two of ours).
#pragma once

#include "dataplane/engine/endpoint_state.h"
#include "dataplane/engine/transmit_turn.h"

namespace rocetune::engine {

class Requester {
 public:
  explicit Requester(EndpointState& state) : state_(&state) {}

  Posted post(std::uint32_t row, const SendRequest& request);
  // Sends what it may. True if it stopped only for want of room.
  bool transmit(std::uint32_t row, TransmitTurn& turn);

  // An acknowledgement, NAK, READ response or atomic answer.
  void on_response(std::uint32_t row, Instant now, const Inbound& in);
  // Nothing was acknowledged for the whole timeout.
  void on_ack_timeout(std::uint32_t row, Instant now);
  // The wait that an RNR NAK asked for is over.
  void on_rnr_timeout(std::uint32_t row);

 private:
  enum class Gate : std::uint8_t { open, closed, broken };
  struct Progress {
    Bytes bytes;  // newly acknowledged payload
    std::optional<Duration> rtt;
    bool any = false;
    bool has_gap = false;  // a READ or atomic before it has no answer yet
  };

  bool send_requests(std::uint32_t row, TransmitTurn& turn);
  // Packet `at` asks for an acknowledgement.
  void note_asked(std::uint32_t row, Sequence at, Instant now);
  Gate gate(const QueuePair& pair, const SendSlot& slot, const TransmitTurn& turn) const;
  bool wants_ack(const QueuePair& pair, const SendSlot& slot, const TransmitTurn& turn) const;
  void build_request(std::uint32_t row, std::uint32_t index, Sequence at, bool asks_ack,
                     TransmitFrame& frame);
  void advance_cursor(std::uint32_t row, SendSlot& slot, bool asks_ack, Instant now);

  void on_acknowledge(std::uint32_t row, Instant now, const Inbound& in);
  void on_rnr_nak(std::uint32_t row, Instant now, std::uint8_t timer_code);
  void on_read_response(std::uint32_t row, Instant now, const Inbound& in);
  void on_atomic_answer(std::uint32_t row, Instant now, const Inbound& in);
  // Brings the acknowledged part up to `at`, which then is a packet of the oldest request, a READ or atomic
  // that waits for it. False if that is not so; why is counted.
  bool reach_answer(std::uint32_t row, Instant now, Sequence at);
  // The answer to one packet of the oldest request is here.
  void take_answer(std::uint32_t row, Instant now, Bytes bytes);
  // Everything before `end` is acknowledged; stops at a READ or atomic without its answer.
  Progress acknowledge_before(QueuePair& pair, Sequence end, Instant now);
  void after_progress(std::uint32_t row, Instant now, const Progress& progress);
  void note_credits(QueuePair& pair, wire::Aeth aeth) const;
  // An answer is missing that must have been sent.
  void on_implied_nak(std::uint32_t row, Instant now);
  // Goes back to the first packet not acknowledged; fails the queue pair if it did so too often.
  void retry(std::uint32_t row, Instant now);
  // False, and the queue pair has failed, if there are none left.
  bool count_retry(std::uint32_t row, Instant now);

  // Selective repeat.
  void on_selective_nak(std::uint32_t row, Instant now, const SequenceWindow& arrived);
  bool resend_missing(std::uint32_t row, TransmitTurn& turn);
  void rewind(std::uint32_t row, Instant now);

  EndpointState* state_;
};

}  // namespace rocetune::engine
