// What a requester makes of answers. Source: InfiniBand architecture specification, volume 1,
// sections 9.7.3.1 (PSN validation), 9.7.5.2 (AETH), 9.7.6 (retries), 9.7.7 (acknowledgements).
#include <algorithm>

#include "dataplane/engine/requester.h"

namespace rocetune::engine {
namespace {

CompletionStatus status_of(wire::AckKind nak) {
  switch (nak) {
    case wire::AckKind::nak_invalid_request:
    case wire::AckKind::nak_invalid_rd_request:
      return CompletionStatus::remote_invalid_request;
    case wire::AckKind::nak_remote_access:
      return CompletionStatus::remote_access_error;
    default:
      return CompletionStatus::remote_operational_error;
  }
}

void move_window(SendSide& send, Sequence unacked) {
  if (!send.missing.is_empty()) send.missing.advance(unacked - send.unacked);
  if (!send.resent.is_empty()) send.resent.advance(unacked - send.unacked);
  send.unacked = unacked;
}

}  // namespace

void Requester::on_response(std::uint32_t row, Instant now, const Inbound& in) {
  switch (in.packet.opcode->operation) {
    case wire::Operation::acknowledge:
      return on_acknowledge(row, now, in);
    case wire::Operation::read_response:
      return on_read_response(row, now, in);
    case wire::Operation::atomic_acknowledge:
      return on_atomic_answer(row, now, in);
    default:
      return state_->statistics.drop(DropReason::unknown_opcode);
  }
}

void Requester::on_acknowledge(std::uint32_t row, Instant now, const Inbound& in) {
  QueuePair& pair = state_->pairs[row];
  SendSide& send = pair.send;
  const auto aeth = in.header<wire::Aeth>(0);
  const wire::AckKind kind = aeth.kind();
  if (kind == wire::AckKind::reserved) return state_->statistics.drop(DropReason::reserved_syndrome);
  const Sequence at = send.unacked.near(in.packet.bth.psn);
  // A NAK names the packet that was refused, and acknowledges all before it.
  const bool is_ack = kind == wire::AckKind::ack;
  if (at >= send.sent_end) return state_->statistics.drop(DropReason::unexpected_response);
  if (at < send.unacked) {
    if (is_ack) note_credits(pair, aeth);
    // The one before the oldest: a renewed acknowledgement, or one that only brings credits.
    if (is_ack && pair.end_to_end_credits) state_->active.push(row);
    return state_->statistics.drop(DropReason::duplicate_response);
  }
  if (is_ack) note_credits(pair, aeth);
  const Progress progress = acknowledge_before(pair, is_ack ? at + 1 : at, now);
  after_progress(row, now, progress);
  if (progress.has_gap) return on_implied_nak(row, now);
  switch (kind) {
    case wire::AckKind::ack:
      return;
    case wire::AckKind::rnr_nak:
      ++state_->statistics.rnr_naks_received;
      return on_rnr_nak(row, now, aeth.code());
    case wire::AckKind::nak_sequence:
      ++state_->statistics.sequence_naks_received;
      if (pair.selective_repeat && in.packet.payload == SequenceWindow::kWireSize && in.payload != nullptr) {
        return on_selective_nak(row, now, in.header<SequenceWindow>(wire::Aeth::kSize));
      }
      if (send.rewound_at == send.unacked) return state_->statistics.drop(DropReason::duplicate_response);
      send.rewound_at = send.unacked;
      return retry(row, now);
    default:
      ++state_->statistics.fatal_naks_received;
      return state_->enter_error(row, status_of(kind));
  }
}

Requester::Progress Requester::acknowledge_before(QueuePair& pair, Sequence end, Instant now) {
  SendSide& send = pair.send;
  Progress progress;
  while (send.oldest != kNoSlot && send.unacked < end) {
    const SendSlot& slot = state_->sends[send.oldest];
    if (slot.has_answer()) {
      progress.has_gap = true;
      break;
    }
    const auto offset = [&](Sequence s) {
      return std::min<std::int64_t>((s - slot.first) << pair.mtu_shift, slot.local.length);
    };
    const Sequence reached = std::min(end, pair.end_of(slot));
    progress.bytes += Bytes(offset(reached) - offset(send.unacked));
    progress.any = true;
    move_window(send, reached);
    if (reached == pair.end_of(slot)) send.oldest = state_->sends.next(send.oldest);
  }
  if (send.has_probe && send.unacked > send.probe) {
    if (send.probe_epoch == state_->epoch) progress.rtt = now - send.probe_sent;
    send.has_probe = false;
  }
  return progress;
}

void Requester::after_progress(std::uint32_t row, Instant now, const Progress& progress) {
  if (!progress.any) return;
  QueuePair& pair = state_->pairs[row];
  SendSide& send = pair.send;
  send.retries_left = pair.retry_count;
  send.rnr_retries_left = pair.rnr_retry;
  // Answers to what was about to be sent again have arrived after all.
  if (send.next < send.unacked) {
    send.next = send.unacked;
    send.cursor = send.oldest;
  }
  const bool is_idle = send.unacked == send.sent_end;
  send.ack_deadline = is_idle || pair.ack_timeout == 0 || send.rnr_until != Instant::never()
                          ? Instant::never()
                          : now + pair.ack_timeout_span();
  if (!is_idle) state_->schedule(row);
  std::visit(
      [&](auto& controller) {
        controller.on_ack(now, {progress.rtt, progress.bytes, false});
      },
      *state_->pairs.path(row).controller);
  state_->complete_sends(row);
  if (send.cursor != kNoSlot) state_->active.push(row);
}

void Requester::note_credits(QueuePair& pair, wire::Aeth aeth) const {
  if (!pair.end_to_end_credits) return;
  SendSide& send = pair.send;
  send.has_credits = aeth.code() != wire::Aeth::kNoCredits;
  if (!send.has_credits) return;
  // The peer's 24 bit count, unwrapped near our own.
  const auto completed =
      send.messages + static_cast<std::uint32_t>(wire::Psn::distance(
                          wire::Psn(send.messages & wire::Psn::kMask), wire::Psn(aeth.msn)));
  const std::uint32_t limit = completed + wire::credits(aeth.code());
  // Acknowledgements may be overtaken; a limit that moves back is an old one.
  if (static_cast<std::int32_t>(limit - send.credit_limit) > 0) send.credit_limit = limit;
}

void Requester::on_rnr_nak(std::uint32_t row, Instant now, std::uint8_t timer_code) {
  QueuePair& pair = state_->pairs[row];
  SendSide& send = pair.send;
  if (send.rnr_until != Instant::never() || send.next == send.unacked) {
    return state_->statistics.drop(DropReason::duplicate_response);
  }
  constexpr std::uint8_t kForEver = 7;
  if (pair.rnr_retry != kForEver) {
    if (send.rnr_retries_left == 0) return state_->enter_error(row, CompletionStatus::rnr_retries_exceeded);
    --send.rnr_retries_left;
  }
  rewind(row, now);
  send.ack_deadline = Instant::never();
  send.rnr_until = now + wire::rnr_wait(timer_code);
  state_->schedule(row);
}

void Requester::on_rnr_timeout(std::uint32_t row) {
  state_->pairs[row].send.rnr_until = Instant::never();
  state_->active.push(row);
}

bool Requester::reach_answer(std::uint32_t row, Instant now, Sequence at) {
  QueuePair& pair = state_->pairs[row];
  SendSide& send = pair.send;
  if (at < send.unacked) {
    state_->statistics.drop(DropReason::duplicate_response);
    return false;
  }
  if (at >= send.sent_end) {
    state_->statistics.drop(DropReason::unexpected_response);
    return false;
  }
  // The answer acknowledges every SEND and WRITE before it.
  const Progress progress = acknowledge_before(pair, at, now);
  after_progress(row, now, progress);
  if (progress.has_gap) {
    state_->statistics.drop(DropReason::response_gap);
    on_implied_nak(row, now);
    return false;
  }
  return true;
}

void Requester::take_answer(std::uint32_t row, Instant now, Bytes bytes) {
  QueuePair& pair = state_->pairs[row];
  SendSide& send = pair.send;
  const SendSlot& slot = state_->sends[send.oldest];
  const bool was_in_flight = send.next >= pair.end_of(slot);
  move_window(send, send.unacked + 1);
  if (send.unacked == pair.end_of(slot)) {
    if (was_in_flight) --send.reads_in_flight;
    send.oldest = state_->sends.next(send.oldest);
  }
  after_progress(row, now, {.bytes = bytes, .any = true});
}

void Requester::on_read_response(std::uint32_t row, Instant now, const Inbound& in) {
  QueuePair& pair = state_->pairs[row];
  SendSide& send = pair.send;
  const Sequence at = send.unacked.near(in.packet.bth.psn);
  if (!reach_answer(row, now, at)) return;
  const SendSlot& slot = state_->sends[send.oldest];
  if (slot.kind != SendKind::read) {
    return state_->statistics.drop(DropReason::unexpected_response);
  }
  const wire::OpcodeInfo& opcode = *in.packet.opcode;
  if (opcode.has(wire::kAeth) && in.header<wire::Aeth>(0).kind() != wire::AckKind::ack) {
    return state_->statistics.drop(DropReason::reserved_syndrome);
  }
  const auto offset = static_cast<std::uint32_t>(at - slot.first) << pair.mtu_shift;
  const std::uint32_t length = std::min(slot.local.length - offset, pair.mtu());
  // Where it begins is the responder's business: the READ may have been asked again from its middle.
  const bool is_last = at + 1 == pair.end_of(slot);
  if (in.packet.payload != length || opcode.ends_message != is_last) {
    state_->statistics.drop(DropReason::bad_response);
    return state_->enter_error(row, CompletionStatus::bad_response);
  }
  if (length > 0 && !state_->regions.is_valid(slot.local.region)) {
    return state_->enter_error(row, CompletionStatus::local_protection_error);
  }
  state_->placements.add({slot.local.region, length, slot.local.offset + offset}, in);
  state_->statistics.rx_payload_bytes += length;
  take_answer(row, now, Bytes(length));
}

void Requester::on_atomic_answer(std::uint32_t row, Instant now, const Inbound& in) {
  QueuePair& pair = state_->pairs[row];
  SendSide& send = pair.send;
  if (!reach_answer(row, now, send.unacked.near(in.packet.bth.psn))) return;
  const SendSlot& slot = state_->sends[send.oldest];
  if (!slot.is_atomic()) {
    return state_->statistics.drop(DropReason::unexpected_response);
  }
  if (in.header<wire::Aeth>(0).kind() != wire::AckKind::ack) {
    return state_->statistics.drop(DropReason::reserved_syndrome);
  }
  if (!state_->regions.is_valid(slot.local.region)) {
    return state_->enter_error(row, CompletionStatus::local_protection_error);
  }
  state_->placements.add(slot.local, in.header<wire::AtomicAckEth>(wire::Aeth::kSize).original);
  take_answer(row, now, Bytes(8));
}

void Requester::on_implied_nak(std::uint32_t row, Instant now) {
  SendSide& send = state_->pairs[row].send;
  if (send.rewound_at == send.unacked) return;
  send.rewound_at = send.unacked;
  ++state_->statistics.implied_naks;
  retry(row, now);
}

void Requester::on_ack_timeout(std::uint32_t row, Instant now) {
  QueuePair& pair = state_->pairs[row];
  SendSide& send = pair.send;
  if (send.next == send.unacked) {
    // Nothing is on its way: the port or the pace has held it back. Not the peer's silence.
    send.ack_deadline = now + pair.ack_timeout_span();
    return;
  }
  ++state_->statistics.ack_timeouts;
  retry(row, now);
}

bool Requester::count_retry(std::uint32_t row, Instant now) {
  SendSide& send = state_->pairs[row].send;
  std::visit([&](auto& controller) { controller.on_loss(now); }, *state_->pairs.path(row).controller);
  if (send.retries_left == 0) {
    state_->enter_error(row, CompletionStatus::retries_exceeded);
    return false;
  }
  --send.retries_left;
  return true;
}

void Requester::retry(std::uint32_t row, Instant now) {
  if (!count_retry(row, now)) return;
  rewind(row, now);
  state_->schedule(row);
}

void Requester::rewind(std::uint32_t row, Instant now) {
  QueuePair& pair = state_->pairs[row];
  SendSide& send = pair.send;
  send.next = send.asked_end = send.unacked;
  send.repeat_end = send.sent_end;
  send.cursor = send.oldest;
  send.reads_in_flight = 0;
  send.has_probe = false;
  send.missing.clear();
  send.resent.clear();
  if (pair.ack_timeout != 0) send.ack_deadline = now + pair.ack_timeout_span();
  state_->active.push(row);
}

}  // namespace rocetune::engine
