#include "dataplane/engine/responder.h"

#include <algorithm>

namespace rocetune::engine {
namespace {

using Answer = ReceiveSide::Answer;
using Message = ReceiveSide::Message;

// Longest RDMA message of the specification (section 9.7.2).
constexpr std::uint32_t kMaxRdma = std::uint32_t{1} << 31;

}  // namespace

Posted Responder::post(std::uint32_t row, const ReceiveRequest& request) {
  QueuePair& pair = state_->pairs[row];
  if (pair.state == QueuePairState::error) return tl::unexpected(PostRefusal::not_connected);
  if (request.local.length > kLongestMessage) return tl::unexpected(PostRefusal::too_long);
  std::optional<PayloadReference> local = PayloadReference{};
  if (request.local.length > 0) {
    local =
        state_->regions.resolve(request.local.key, request.local.address, request.local.length, kLocalWrite);
    if (!local) return tl::unexpected(PostRefusal::bad_local_key);
  }
  ReceiveSide& receive = pair.receive;
  if (receive.queue.size >= pair.receive_depth) return tl::unexpected(PostRefusal::queue_full);
  if (state_->receives.is_exhausted()) return tl::unexpected(PostRefusal::endpoint_full);
  if (!state_->completions.reserve()) return tl::unexpected(PostRefusal::completions_full);
  const bool was_dry = receive.queue.is_empty();
  state_->receives[state_->receives.push(receive.queue)] = {request.work_id, *local};
  // A peer that waits for credit hears of it (section 9.7.7.2.4).
  if (was_dry && pair.end_to_end_credits && pair.state == QueuePairState::connected &&
      receive.answer == Answer::none) {
    receive.answer = Answer::ack;
    state_->active.push(row);
  }
  return {};
}

void Responder::on_request(std::uint32_t row, const Inbound& in) {
  QueuePair& pair = state_->pairs[row];
  ReceiveSide& receive = pair.receive;
  if (receive.has_failed) return state_->statistics.drop(DropReason::not_ready);
  const Sequence at = receive.expected.near(in.packet.bth.psn);
  if (at < receive.expected) return on_duplicate(row, at, in);
  if (at > receive.expected) return on_gap(row, at, in);
  if (!is_well_formed(pair, in.packet))
    return refuse(row, wire::Aeth::kInvalidRequest, DropReason::invalid_request);
  switch (in.packet.opcode->operation) {
    case wire::Operation::send:
      return on_send(row, in);
    case wire::Operation::write:
      return on_write(row, in);
    case wire::Operation::read_request:
      return on_read(row, in);
    case wire::Operation::compare_swap:
    case wire::Operation::fetch_add:
      return on_atomic(row, in);
    default:
      return refuse(row, wire::Aeth::kInvalidRequest, DropReason::invalid_request);
  }
}

bool Responder::is_well_formed(const QueuePair& pair, const wire::RocePacket& packet) const {
  const wire::OpcodeInfo& opcode = *packet.opcode;
  const Message message = pair.receive.message;
  if (opcode.starts_message != (message == Message::none)) return false;
  if (message == Message::send && opcode.operation != wire::Operation::send) return false;
  if (message == Message::write && opcode.operation != wire::Operation::write) return false;
  if (!opcode.has_payload) return packet.payload == 0;
  if (!opcode.ends_message) return packet.payload == pair.mtu() && packet.bth.pad == 0;
  return packet.payload <= pair.mtu() && (opcode.starts_message || packet.payload > 0);
}

void Responder::on_send(std::uint32_t row, const Inbound& in) {
  QueuePair& pair = state_->pairs[row];
  ReceiveSide& receive = pair.receive;
  const wire::OpcodeInfo& opcode = *in.packet.opcode;
  if (opcode.starts_message) {
    if (receive.queue.is_empty()) return refuse_not_ready(row);
    receive.target = state_->receives[receive.queue.head].local;
    receive.arrived = 0;
    receive.message = Message::send;
  }
  const std::uint32_t length = in.packet.payload;
  if (length > receive.target.length - receive.arrived) {
    receive.failure = CompletionStatus::local_length_error;
    return refuse(row, wire::Aeth::kInvalidRequest, DropReason::invalid_request);
  }
  if (length > 0 && !state_->regions.is_valid(receive.target.region)) {
    receive.failure = CompletionStatus::local_protection_error;
    return refuse(row, wire::Aeth::kRemoteOperational, DropReason::remote_access);
  }
  if (opcode.has(wire::kIeth)) {
    // Only what the peer may use it may take away.
    const MemoryKey key(in.header<wire::Ieth>(0).rkey);
    if (!state_->regions.is_remote(key) || !state_->regions.remove(key)) {
      return refuse(row, wire::Aeth::kRemoteAccess, DropReason::remote_access);
    }
  }
  state_->placements.add({receive.target.region, length, receive.target.offset + receive.arrived}, in);
  state_->statistics.rx_payload_bytes += length;
  receive.arrived += length;
  if (opcode.ends_message) {
    state_->complete_receive(row, in, {.kind = CompletionKind::receive, .length = receive.arrived});
  }
  accept(row, 1, opcode.ends_message, in.packet.bth.ack_request);
}

void Responder::on_write(std::uint32_t row, const Inbound& in) {
  QueuePair& pair = state_->pairs[row];
  ReceiveSide& receive = pair.receive;
  const wire::OpcodeInfo& opcode = *in.packet.opcode;
  PayloadReference target = receive.target;
  std::uint32_t arrived = receive.arrived;
  if (opcode.starts_message) {
    const auto reth = in.header<wire::Reth>(0);
    if (reth.length > kMaxRdma) return refuse(row, wire::Aeth::kInvalidRequest, DropReason::invalid_request);
    target = {};
    arrived = 0;
    if (reth.length > 0) {  // an empty WRITE's key is not looked at (section 9.7.4.1.5)
      const auto found =
          state_->regions.resolve(MemoryKey(reth.rkey), reth.address, reth.length, kRemoteWrite);
      if (!found) return refuse(row, wire::Aeth::kRemoteAccess, DropReason::remote_access);
      target = *found;
      // The end of a message whose other packets came by themselves.
      const bool is_tail =
          pair.selective_repeat && opcode.has(wire::kImmDt) && reth.length > in.packet.payload;
      if (is_tail) arrived = reth.length - in.packet.payload;
    }
  } else if (!state_->regions.is_valid(target.region)) {
    return refuse(row, wire::Aeth::kRemoteAccess, DropReason::remote_access);
  }
  const std::uint32_t length = in.packet.payload;
  const std::uint32_t rest = target.length - arrived;
  if (opcode.ends_message ? length != rest : length >= rest) {
    return refuse(row, wire::Aeth::kInvalidRequest, DropReason::invalid_request);
  }
  if (opcode.has(wire::kImmDt) && receive.queue.is_empty()) return refuse_not_ready(row);
  state_->placements.add({target.region, length, target.offset + arrived}, in);
  state_->statistics.rx_payload_bytes += length;
  receive.message = Message::write;
  receive.target = target;
  receive.arrived = arrived + length;
  if (opcode.has(wire::kImmDt)) {
    state_->complete_receive(row, in, {.kind = CompletionKind::receive_immediate, .length = receive.arrived});
  }
  accept(row, 1, opcode.ends_message, in.packet.bth.ack_request);
}

void Responder::on_read(std::uint32_t row, const Inbound& in) {
  QueuePair& pair = state_->pairs[row];
  const auto reth = in.header<wire::Reth>(0);
  if (reth.length > kMaxRdma) return refuse(row, wire::Aeth::kInvalidRequest, DropReason::invalid_request);
  const Room room = make_room(pair);
  if (room == Room::never) return refuse(row, wire::Aeth::kInvalidRequest, DropReason::invalid_request);
  if (room == Room::later) return state_->statistics.drop(DropReason::responder_full);
  PayloadReference data;
  if (reth.length > 0) {
    const auto found = state_->regions.resolve(MemoryKey(reth.rkey), reth.address, reth.length, kRemoteRead);
    if (!found) return refuse(row, wire::Aeth::kRemoteAccess, DropReason::remote_access);
    data = *found;
  }
  const Sequence first = pair.receive.expected;
  const std::uint32_t packets = pair.packets_of(reth.length);
  accept(row, packets, true, false);
  add_response(row, {.first = first, .packets = packets, .data = data, .msn = pair.receive.msn});
}

void Responder::on_atomic(std::uint32_t row, const Inbound& in) {
  QueuePair& pair = state_->pairs[row];
  const auto atomic = in.header<wire::AtomicEth>(0);
  if (atomic.address % 8 != 0) return refuse(row, wire::Aeth::kInvalidRequest, DropReason::invalid_request);
  const Room room = make_room(pair);
  if (room == Room::never) return refuse(row, wire::Aeth::kInvalidRequest, DropReason::invalid_request);
  if (room == Room::later) return state_->statistics.drop(DropReason::responder_full);
  const auto where = state_->regions.resolve(MemoryKey(atomic.rkey), atomic.address, 8, kRemoteAtomic);
  if (!where) return refuse(row, wire::Aeth::kRemoteAccess, DropReason::remote_access);
  const bool is_add = in.packet.opcode->operation == wire::Operation::fetch_add;
  state_->placements.flush();  // what came before it must be there
  const std::uint64_t original = state_->access.apply(
      *where, {is_add ? AtomicOperation::Kind::fetch_add : AtomicOperation::Kind::compare_swap,
               atomic.swap_or_add, atomic.compare});
  const Sequence first = pair.receive.expected;
  accept(row, 1, true, false);
  add_response(row, {.first = first, .original = original, .msn = pair.receive.msn, .is_atomic = true});
}

void Responder::accept(std::uint32_t row, std::uint32_t packets, bool ends_message, bool asks_ack) {
  ReceiveSide& receive = state_->pairs[row].receive;
  receive.expected = receive.expected + packets;
  if (ends_message) {
    receive.message = Message::none;
    receive.msn = (receive.msn + 1) & wire::Psn::kMask;
  }
  if (!receive.early.is_empty()) catch_up(row, packets);
  // A NAK not yet sent will ask for what is expected then.
  if (receive.answer == Answer::sequence_nak || receive.answer == Answer::fatal_nak) return;
  receive.nak_outstanding = false;
  if (receive.answer == Answer::rnr_nak) receive.answer = Answer::none;
  if (asks_ack) owe(row, Answer::ack);
}

void Responder::owe(std::uint32_t row, ReceiveSide::Answer answer) {
  state_->pairs[row].receive.answer = answer;
  state_->active.push(row);
}

void Responder::refuse_not_ready(std::uint32_t row) {
  state_->statistics.drop(DropReason::receiver_not_ready);
  state_->pairs[row].receive.nak_outstanding = true;
  owe(row, Answer::rnr_nak);
}

void Responder::refuse(std::uint32_t row, std::uint8_t syndrome, DropReason reason) {
  state_->statistics.drop(reason);
  ReceiveSide& receive = state_->pairs[row].receive;
  receive.has_failed = true;
  receive.syndrome = syndrome;
  receive.refused = receive.expected;
  owe(row, Answer::fatal_nak);
}

void Responder::on_gap(std::uint32_t row, Sequence at, const Inbound& in) {
  QueuePair& pair = state_->pairs[row];
  ReceiveSide& receive = pair.receive;
  if (pair.selective_repeat && place_early(row, at, in)) return;
  state_->statistics.drop(DropReason::out_of_sequence);
  receive.gap_seen = std::max(receive.gap_seen, at);
  if (receive.nak_outstanding) return;
  receive.nak_outstanding = true;
  owe(row, Answer::sequence_nak);
}

void Responder::on_duplicate(std::uint32_t row, Sequence at, const Inbound& in) {
  ++state_->statistics.duplicate_requests;
  switch (in.packet.opcode->operation) {
    case wire::Operation::read_request:
      return repeat_read(row, at, in);
    case wire::Operation::compare_swap:
    case wire::Operation::fetch_add:
      return repeat_atomic(row, at);
    default:
      // Acknowledged again, up to the newest (section 9.7.5.1.4).
      state_->statistics.drop(DropReason::duplicate_request);
      if (state_->pairs[row].receive.answer == Answer::none) owe(row, Answer::ack);
  }
}

void Responder::repeat_read(std::uint32_t row, Sequence at, const Inbound& in) {
  QueuePair& pair = state_->pairs[row];
  ReceiveSide& receive = pair.receive;
  const auto reth = in.header<wire::Reth>(0);
  const std::uint32_t packets = pair.packets_of(reth.length);
  if (reth.length > kMaxRdma || at + packets > receive.expected) {
    return state_->statistics.drop(DropReason::invalid_request);
  }
  for (std::uint32_t i = receive.responses.head; i != kNoSlot; i = state_->responses.next(i)) {
    const ResponseSlot& slot = state_->responses[i];
    const bool will_send_it = !slot.is_atomic && slot.first + slot.sent <= at && at < slot.end();
    if (will_send_it) return state_->statistics.drop(DropReason::responder_full);
  }
  // No result may be forgotten for a mere repetition: there is one place more than was granted.
  if (receive.responses.size + receive.remembered.size > pair.responder_resources) {
    return state_->statistics.drop(DropReason::responder_full);
  }
  PayloadReference data;
  if (reth.length > 0) {
    // No NAK: it may be an old copy, of a READ that is done and whose region is gone.
    const auto found = state_->regions.resolve(MemoryKey(reth.rkey), reth.address, reth.length, kRemoteRead);
    if (!found) return state_->statistics.drop(DropReason::remote_access);
    data = *found;
  }
  state_->statistics.drop(DropReason::duplicate_request);
  ++receive.repeated_reads;
  add_response(row, {.first = at, .packets = packets, .data = data, .msn = receive.msn, .is_repeat = true});
}

void Responder::repeat_atomic(std::uint32_t row, Sequence at) {
  ReceiveSide& receive = state_->pairs[row].receive;
  for (std::uint32_t i = receive.responses.head; i != kNoSlot; i = state_->responses.next(i)) {
    if (state_->responses[i].first == at) return state_->statistics.drop(DropReason::responder_full);
  }
  std::uint32_t before = kNoSlot;
  for (std::uint32_t i = receive.remembered.head; i != kNoSlot; i = state_->responses.next(i)) {
    ResponseSlot& slot = state_->responses[i];
    if (slot.first == at) {
      state_->statistics.drop(DropReason::duplicate_request);
      slot.sent = 0;
      slot.is_repeat = true;
      ++receive.repeated_atomics;
      state_->responses.move(receive.remembered, before, receive.responses);
      return state_->active.push(row);
    }
    before = i;
  }
  state_->statistics.drop(DropReason::atomic_forgotten);
}

Responder::Room Responder::make_room(QueuePair& pair) {
  ReceiveSide& receive = pair.receive;
  const std::uint32_t granted = pair.responder_resources;
  const std::uint32_t repeats = receive.repeated_reads + receive.repeated_atomics;
  if (receive.responses.size - repeats >= granted) return Room::never;
  const auto held = [&] { return receive.responses.size + receive.remembered.size; };
  // Repeated READs do not count: they must not push out a result that may be asked for again.
  while (held() - receive.repeated_reads >= granted &&
         (!receive.remembered.is_empty() || receive.repeated_atomics > 0)) {
    forget_oldest(receive);
  }
  return held() > granted ? Room::later : Room::now;
}

// By sequence, not by place, and whether its result waits to be sent again or not: whoever asks for something
// new has had the oldest of as many as it was granted, but not necessarily any other.
void Responder::forget_oldest(ReceiveSide& receive) {
  SlotQueue* queue = nullptr;
  std::uint32_t before_oldest = kNoSlot;
  Sequence oldest{};
  for (SlotQueue* const candidate : {&receive.remembered, &receive.responses}) {
    std::uint32_t before = kNoSlot;
    for (std::uint32_t i = candidate->head; i != kNoSlot; i = state_->responses.next(i)) {
      const ResponseSlot& slot = state_->responses[i];
      const bool is_result = candidate == &receive.remembered || (slot.is_repeat && slot.is_atomic);
      if (is_result && (queue == nullptr || slot.first < oldest)) {
        queue = candidate;
        before_oldest = before;
        oldest = slot.first;
      }
      before = i;
    }
  }
  if (queue == &receive.responses) --receive.repeated_atomics;
  state_->responses.pop(*queue, before_oldest);
}

void Responder::add_response(std::uint32_t row, const ResponseSlot& slot) {
  state_->responses[state_->responses.push(state_->pairs[row].receive.responses)] = slot;
  state_->active.push(row);
}

}  // namespace rocetune::engine
