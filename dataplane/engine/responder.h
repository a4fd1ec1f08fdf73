// The responder half of every queue pair: carries out requests in order, and answers them. Source: InfiniBand
// architecture specification, volume 1, sections 9.7.4 (request validation), 9.7.5 (acknowledging), 9.7.5.2.8
// (RNR), 9.9 (error classes).
#pragma once

#include "dataplane/engine/endpoint_state.h"
#include "dataplane/engine/transmit_turn.h"

namespace rocetune::engine {

class Responder {
 public:
  explicit Responder(EndpointState& state) : state_(&state) {}

  Posted post(std::uint32_t row, const ReceiveRequest& request);
  // A request packet of a reliable connection.
  void on_request(std::uint32_t row, const Inbound& in);
  // Sends what is owed: CNP, READ responses and atomic results in order, then one acknowledgement or NAK.
  // True if it stopped only for want of room.
  bool transmit(std::uint32_t row, TransmitTurn& turn);

 private:
  void on_gap(std::uint32_t row, Sequence at, const Inbound& in);
  void on_duplicate(std::uint32_t row, Sequence at, const Inbound& in);
  void repeat_read(std::uint32_t row, Sequence at, const Inbound& in);
  void repeat_atomic(std::uint32_t row, Sequence at);

  // Whether the opcode may follow the one before, and its payload has the length it must have.
  bool is_well_formed(const QueuePair& pair, const wire::RocePacket& packet) const;
  void on_send(std::uint32_t row, const Inbound& in);
  void on_write(std::uint32_t row, const Inbound& in);
  void on_read(std::uint32_t row, const Inbound& in);
  void on_atomic(std::uint32_t row, const Inbound& in);

  // A packet in sequence was carried out.
  void accept(std::uint32_t row, std::uint32_t packets, bool ends_message, bool asks_ack);
  void refuse_not_ready(std::uint32_t row);
  // A request that no repetition can help. The queue pair fails once the NAK has left.
  void refuse(std::uint32_t row, std::uint8_t syndrome, DropReason reason);
  void owe(std::uint32_t row, ReceiveSide::Answer answer);

  // Room for one more READ or atomic; the oldest remembered result goes if it must. never: the peer has more
  // outstanding than it was granted. later: repetitions take it all.
  enum class Room : std::uint8_t { now, later, never };
  Room make_room(QueuePair& pair);
  void forget_oldest(ReceiveSide& receive);
  void add_response(std::uint32_t row, const ResponseSlot& slot);

  // Selective repeat: carries out a packet beyond a gap. False: it cannot be, now.
  bool place_early(std::uint32_t row, Sequence at, const Inbound& in);
  // The packets in sequence may have closed the gap in front of what came early.
  void catch_up(std::uint32_t row, std::uint32_t packets);

  void send_response(std::uint32_t row, TransmitTurn& turn);
  void send_answer(std::uint32_t row, TransmitTurn& turn);
  // Whether requests of this turn go before the acknowledgement.
  bool may_wait(std::uint32_t row) const;

  EndpointState* state_;
};

}  // namespace rocetune::engine
