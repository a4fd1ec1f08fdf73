#include "dataplane/engine/requester.h"

#include <algorithm>

#include "dataplane/engine/frame_builder.h"

namespace rocetune::engine {
namespace {

namespace opcode = wire::opcode;

// `alone`: the packet is a message of its own, of which only the last one of the request has the immediate.
std::uint8_t opcode_of(const SendSlot& slot, bool first, bool last, bool alone) {
  switch (slot.kind) {
    case SendKind::send: {
      if (!last) return first ? opcode::kRcSendFirst : opcode::kRcSendMiddle;
      if (slot.has_immediate) return first ? opcode::kRcSendOnlyImm : opcode::kRcSendLastImm;
      if (slot.has_invalidate) return first ? opcode::kRcSendOnlyInvalidate : opcode::kRcSendLastInvalidate;
      return first ? opcode::kRcSendOnly : opcode::kRcSendLast;
    }
    case SendKind::write: {
      if (!last && alone) return opcode::kRcWriteOnly;
      if (!last) return first ? opcode::kRcWriteFirst : opcode::kRcWriteMiddle;
      if (slot.has_immediate) return first ? opcode::kRcWriteOnlyImm : opcode::kRcWriteLastImm;
      return first ? opcode::kRcWriteOnly : opcode::kRcWriteLast;
    }
    case SendKind::read:
      return opcode::kRcReadRequest;
    case SendKind::compare_swap:
      return opcode::kRcCompareSwap;
    case SendKind::fetch_add:
      return opcode::kRcFetchAdd;
  }
  return 0;
}

// What makes no sense whatever the state of the queue pair.
std::optional<PostRefusal> nonsense_in(const SendRequest& request) {
  if (request.local.length > kLongestMessage) return PostRefusal::too_long;
  switch (request.kind) {
    case SendKind::send:
      if (request.has_immediate && request.has_invalidate) return PostRefusal::not_supported;
      break;
    case SendKind::write:
      if (request.has_invalidate) return PostRefusal::not_supported;
      break;
    case SendKind::compare_swap:
    case SendKind::fetch_add:
      if (request.remote_address % 8 != 0 || request.local.length != 8) return PostRefusal::misaligned;
      [[fallthrough]];
    case SendKind::read:
      if (request.has_immediate || request.has_invalidate) return PostRefusal::not_supported;
      break;
  }
  return std::nullopt;
}

}  // namespace

Posted Requester::post(std::uint32_t row, const SendRequest& request) {
  QueuePair& pair = state_->pairs[row];
  SendSide& send = pair.send;
  if (pair.service != wire::Service::rc) return tl::unexpected(PostRefusal::not_supported);
  if (pair.state != QueuePairState::connected) return tl::unexpected(PostRefusal::not_connected);
  if (const auto refusal = nonsense_in(request)) return tl::unexpected(*refusal);
  const bool has_answer = request.kind >= SendKind::read;
  if (has_answer && pair.initiator_depth == 0) return tl::unexpected(PostRefusal::not_supported);
  std::optional<PayloadReference> local = PayloadReference{};
  if (request.local.length > 0) {
    local = state_->regions.resolve(request.local.key, request.local.address, request.local.length,
                                    has_answer ? kLocalWrite : 0);
    if (!local) return tl::unexpected(PostRefusal::bad_local_key);
  }
  if (send.queue.size >= pair.send_depth) return tl::unexpected(PostRefusal::queue_full);
  if (state_->sends.is_exhausted()) return tl::unexpected(PostRefusal::endpoint_full);
  if (!state_->completions.reserve()) return tl::unexpected(PostRefusal::completions_full);

  const std::uint32_t packets = request.kind <= SendKind::read ? pair.packets_of(request.local.length) : 1;
  // Selective repeat makes every packet of a WRITE a message.
  send.messages += pair.selective_repeat && request.kind == SendKind::write ? packets : 1;
  const std::uint32_t index = state_->sends.push(send.queue);
  SendSlot& slot = state_->sends[index];
  // Field by field: a whole slot made elsewhere and copied would be read before its stores are there.
  slot.work_id = request.work_id;
  slot.local = *local;
  slot.remote_address = request.remote_address;
  slot.first = send.posted_end;
  slot.last_ticket = 0;
  slot.message = send.messages & wire::Psn::kMask;
  slot.immediate = request.has_invalidate ? request.invalidate.value() : request.immediate;
  slot.remote_key = request.remote_key;
  slot.kind = request.kind;
  slot.signaled = request.signaled;
  slot.solicited = request.solicited;
  slot.fenced = request.fenced;
  slot.has_immediate = request.has_immediate;
  slot.has_invalidate = request.has_invalidate;
  if (slot.is_atomic()) (*state_->atomics)[index] = {request.swap_or_add, request.compare};
  send.posted_end = slot.first + packets;
  if (send.oldest == kNoSlot) send.oldest = index;
  // Behind something else that waits to be sent it changes nothing yet.
  if (send.cursor == kNoSlot) {
    send.cursor = index;
    state_->active.push(row);
  }
  return {};
}

// Whether the request at the cursor may send its next packet now. broken: never.
Requester::Gate Requester::gate(const QueuePair& pair, const SendSlot& slot, const TransmitTurn& turn) const {
  const SendSide& send = pair.send;
  if (send.next == slot.first) {
    if (slot.fenced && send.reads_in_flight > 0) return Gate::closed;
  }
  if (slot.has_answer()) {
    if (send.reads_in_flight >= pair.initiator_depth) return Gate::closed;
  } else if (slot.local.length > 0 && !state_->regions.is_valid(slot.local.region)) {
    return Gate::broken;
  }
  // Half the circle of sequence numbers may be outstanding, no more (section 9.7.2); of packets that a peer
  // can only keep in its window, as many as that holds.
  constexpr std::int64_t kMaxOutstanding = std::int64_t{1} << 23;
  const Sequence behind = slot.has_answer() ? pair.end_of(slot) : send.next + 1;
  const bool fits_window =
      !pair.selective_repeat || slot.has_answer() || behind - send.unacked <= SequenceWindow::kPlaces;
  if (behind - send.unacked > kMaxOutstanding || !fits_window) return Gate::closed;
  // Without credit one packet may probe; the rest of its message follows once it is acknowledged (section
  // 9.7.7.2.5).
  if (pair.end_to_end_credits && send.has_credits && slot.takes_receive_request() &&
      wire::Psn::distance(wire::Psn(send.credit_limit & wire::Psn::kMask), wire::Psn(slot.message)) > 0) {
    const bool is_accepted = send.unacked > slot.first;
    if (!is_accepted && send.next != send.unacked) return Gate::closed;
  }
  if (turn.window()) {
    // An acknowledgement that was asked for opens it again. If the window has shrunk below what was sent
    // without asking, nobody would ever answer: one packet more asks.
    const bool will_hear = send.asked_end > send.unacked;
    const std::int64_t outstanding = (send.next - send.unacked) << pair.mtu_shift;
    if (will_hear && outstanding > 0 && Bytes(outstanding + pair.mtu()) > *turn.window()) return Gate::closed;
  }
  return Gate::open;
}

bool Requester::transmit(std::uint32_t row, TransmitTurn& turn) {
  const bool has_more = send_requests(row, turn);
  // Whatever comes next may not be allowed to leave, so the end of the last request asks.
  const SendSide& send = state_->pairs[row].send;
  const bool is_between = send.cursor == kNoSlot || send.next == state_->sends[send.cursor].first;
  if (turn.last_request() != nullptr && send.next > send.asked_end && is_between) {
    ask_acknowledge(*state_, row, *turn.last_request());
    note_asked(row, send.next - 1, turn.now());
  }
  return has_more;
}

bool Requester::send_requests(std::uint32_t row, TransmitTurn& turn) {
  SendSide& send = state_->pairs[row].send;
  if (send.rnr_until != Instant::never()) return false;
  if (!send.missing.is_empty() && resend_missing(row, turn)) return true;
  while (send.cursor != kNoSlot) {
    if (!turn.pace_allows()) return false;
    SendSlot& slot = state_->sends[send.cursor];
    const Gate gate = this->gate(state_->pairs[row], slot, turn);
    if (gate == Gate::closed) return false;
    if (gate == Gate::broken) {
      // Its turn to fail comes when everything before it is done.
      if (send.cursor == send.oldest) state_->enter_error(row, CompletionStatus::local_protection_error);
      return false;
    }
    if (!turn.has_room()) return true;
    const bool asks_ack = wants_ack(state_->pairs[row], slot, turn);
    build_request(row, send.cursor, send.next, asks_ack, turn.frame());
    turn.take_request();
    advance_cursor(row, slot, asks_ack, turn.now());
  }
  return false;
}

bool Requester::wants_ack(const QueuePair& pair, const SendSlot& slot, const TransmitTurn& turn) const {
  const SendSide& send = pair.send;
  if (slot.has_answer()) return false;  // it is answered anyway
  const bool is_last = send.next + 1 == pair.end_of(slot);
  if (is_last && slot.signaled) return true;
  if (send.next + 1 - send.asked_end >= kAckInterval) return true;
  // It may be a probe, and whoever waits for credit hears of it by an acknowledgement.
  if (pair.end_to_end_credits && (is_last || send.next == slot.first)) return true;
  if (turn.window() && Bytes((send.next + 2 - send.unacked) << pair.mtu_shift) > *turn.window()) return true;
  return turn.crawls();
}

void Requester::build_request(std::uint32_t row, std::uint32_t index, Sequence at, bool asks_ack,
                              TransmitFrame& frame) {
  const QueuePair& pair = state_->pairs[row];
  const SendSlot& slot = state_->sends[index];
  const auto offset = static_cast<std::uint32_t>(at - slot.first) << pair.mtu_shift;
  const std::uint32_t rest = slot.local.length - offset;
  const bool is_last = at + 1 == pair.end_of(slot) || slot.has_answer();
  const bool is_alone = pair.selective_repeat && slot.kind == SendKind::write;
  const bool names_place = is_alone || at == slot.first;
  FrameDraft draft{.opcode = opcode_of(slot, names_place, is_last, is_alone),
                   .psn = at.psn(),
                   .ack_request = asks_ack,
                   .solicited = slot.solicited && is_last && slot.takes_receive_request()};
  if (!slot.has_answer()) {
    draft.payload = {slot.local.region, std::min(rest, pair.mtu()), slot.local.offset + offset};
  }
  const wire::MutableBytes extended = extended_of(frame, *state_->pairs.path(row).headers);
  if (slot.is_atomic()) {
    const AtomicOperands& operands = (*state_->atomics)[index];
    wire::AtomicEth{slot.remote_address, slot.remote_key.value(), operands.swap_or_add, operands.compare}
        .emit(wire::fixed<wire::AtomicEth::kSize>(extended));
    draft.extended = wire::AtomicEth::kSize;
  } else if (slot.kind == SendKind::read || (slot.kind == SendKind::write && names_place)) {
    // A READ may be asked again from its middle. A WRITE names its whole length: once, or, where each packet
    // is alone, with the immediate, whose receiver wants to know it.
    wire::Reth reth{slot.remote_address + offset, slot.remote_key.value(), rest};
    if (is_alone && !(is_last && slot.has_immediate)) reth.length = draft.payload.length;
    if (is_alone && is_last && slot.has_immediate) reth = {slot.remote_address, reth.rkey, slot.local.length};
    reth.emit(wire::fixed<wire::Reth::kSize>(extended));
    draft.extended = wire::Reth::kSize;
  }
  if (is_last && slot.has_immediate) {
    wire::ImmDt{slot.immediate}.emit(wire::fixed<wire::ImmDt::kSize>(extended, draft.extended));
    draft.extended += wire::ImmDt::kSize;
  } else if (is_last && slot.has_invalidate) {
    wire::Ieth{slot.immediate}.emit(wire::fixed<wire::Ieth::kSize>(extended));
    draft.extended = wire::Ieth::kSize;
  }
  finish_frame(*state_, row, draft, frame);
}

void Requester::note_asked(std::uint32_t row, Sequence at, Instant now) {
  SendSide& send = state_->pairs[row].send;
  send.asked_end = at + 1;
  // A packet sent twice is no sample: its acknowledgement may be the first one's.
  if (send.has_probe || at < send.repeat_end) return;
  send.has_probe = true;
  send.probe = at;
  send.probe_sent = now;
  send.probe_epoch = state_->epoch;
}

void Requester::advance_cursor(std::uint32_t row, SendSlot& slot, bool asks_ack, Instant now) {
  QueuePair& pair = state_->pairs[row];
  SendSide& send = pair.send;
  if (send.next < send.repeat_end) ++state_->statistics.retransmitted_frames;
  if (asks_ack) note_asked(row, send.next, now);
  if (slot.has_answer()) {
    ++send.reads_in_flight;
    send.next = send.asked_end = pair.end_of(slot);
  } else {
    ++send.next;
    slot.last_ticket = state_->ticket;
  }
  send.sent_end = std::max(send.sent_end, send.next);
  if (send.next == pair.end_of(slot)) send.cursor = state_->sends.next(send.cursor);
  if (send.ack_deadline == Instant::never() && pair.ack_timeout != 0) {
    send.ack_deadline = now + pair.ack_timeout_span();
    state_->schedule(row);
  }
}

}  // namespace rocetune::engine
