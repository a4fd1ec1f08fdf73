// What a responder sends: READ responses and atomic results in the order of their requests, then one
// acknowledgement for all that came in a burst. Source: InfiniBand architecture specification, volume 1,
// sections 9.7.5.1 (coalescing, order), 9.7.5.2 (AETH), 9.4.4 (READ responses).
#include "dataplane/engine/frame_builder.h"
#include "dataplane/engine/responder.h"

namespace rocetune::engine {
namespace {

namespace opcode = wire::opcode;
using Answer = ReceiveSide::Answer;

// What an AETH says about receive requests: the most the code can express, or that nothing is said.
std::uint8_t credit_code(const QueuePair& pair) {
  if (!pair.end_to_end_credits) return wire::Aeth::kNoCredits;
  std::uint8_t code = 30;
  while (code > 0 && wire::credits(code) > pair.receive.queue.size) --code;
  return code;
}

std::uint8_t read_opcode(const ResponseSlot& slot) {
  const bool is_last = slot.sent + 1 == slot.packets;
  if (slot.sent == 0) return is_last ? opcode::kRcReadResponseOnly : opcode::kRcReadResponseFirst;
  return is_last ? opcode::kRcReadResponseLast : opcode::kRcReadResponseMiddle;
}

}  // namespace

bool Responder::transmit(std::uint32_t row, TransmitTurn& turn) {
  ReceiveSide& receive = state_->pairs[row].receive;
  if (receive.cnp_due) {
    if (!turn.has_room()) return true;
    build_cnp(*state_, row, turn.frame());
    turn.take();
    receive.cnp_due = false;
  }
  while (!receive.responses.is_empty()) {
    if (!state_->responses[receive.responses.head].is_atomic && !turn.pace_allows()) return false;
    if (!turn.has_room()) return true;
    send_response(row, turn);
  }
  if (receive.answer == Answer::none) return false;
  if (may_wait(row)) {
    ++receive.answer_waits;
    if (state_->patient_answers.is_empty()) {
      state_->answers_due = turn.now() + state_->options.acknowledgement_patience;
    }
    state_->patient_answers.push(row);
    return false;
  }
  if (!turn.has_room()) return true;
  send_answer(row, turn);
  return false;
}

bool Responder::may_wait(std::uint32_t row) const {
  const QueuePair& pair = state_->pairs[row];
  return state_->options.acknowledgement_patience > Duration() && pair.receive.answer == Answer::ack &&
         pair.receive.answer_waits < kMostWaits && pair.send.cursor != kNoSlot;
}

void Responder::send_response(std::uint32_t row, TransmitTurn& turn) {
  QueuePair& pair = state_->pairs[row];
  ReceiveSide& receive = pair.receive;
  ResponseSlot& slot = state_->responses[receive.responses.head];
  if (slot.data.length > 0 && !state_->regions.is_valid(slot.data.region)) {
    refuse(row, wire::Aeth::kRemoteAccess, DropReason::remote_access);
    receive.refused = slot.first + slot.sent;
    state_->responses.clear(receive.responses);
    receive.repeated_reads = receive.repeated_atomics = 0;
    return;
  }
  TransmitFrame& frame = turn.frame();
  const wire::MutableBytes extended = extended_of(frame, *state_->pairs.path(row).headers);
  FrameDraft draft{.opcode = slot.is_atomic ? opcode::kRcAtomicAcknowledge : read_opcode(slot),
                   .psn = (slot.first + slot.sent).psn()};
  if (draft.opcode != opcode::kRcReadResponseMiddle) {
    wire::Aeth{credit_code(pair), slot.msn}.emit(wire::fixed<wire::Aeth::kSize>(extended));
    draft.extended = wire::Aeth::kSize;
  }
  if (slot.is_atomic) {
    wire::AtomicAckEth{slot.original}.emit(
        wire::fixed<wire::AtomicAckEth::kSize>(extended, wire::Aeth::kSize));
    draft.extended += wire::AtomicAckEth::kSize;
  } else {
    const std::uint32_t offset = slot.sent << pair.mtu_shift;
    draft.payload = {slot.data.region, std::min(slot.data.length - offset, pair.mtu()),
                     slot.data.offset + offset};
  }
  finish_frame(*state_, row, draft, frame);
  if (slot.is_atomic) {
    turn.take();
  } else {
    turn.take_data();
  }
  if (++slot.sent < slot.packets) return;
  if (slot.is_repeat) --(slot.is_atomic ? receive.repeated_atomics : receive.repeated_reads);
  slot.is_repeat = false;
  if (slot.is_atomic) {
    state_->responses.move(receive.responses, kNoSlot, receive.remembered);
  } else {
    state_->responses.pop(receive.responses);
  }
}

void Responder::send_answer(std::uint32_t row, TransmitTurn& turn) {
  QueuePair& pair = state_->pairs[row];
  ReceiveSide& receive = pair.receive;
  // What the NAK was for came after all, late.
  if (receive.answer == Answer::sequence_nak && receive.gap_seen < receive.expected) {
    receive.answer = Answer::ack;
    receive.nak_outstanding = false;
  }
  const Answer answer = receive.answer;
  Statistics& statistics = state_->statistics;
  std::uint8_t syndrome = 0;
  Sequence at = receive.expected;
  switch (answer) {
    case Answer::none:
    case Answer::ack:
      syndrome = credit_code(pair);
      at = receive.expected - 1;
      ++statistics.acks_sent;
      break;
    case Answer::sequence_nak:
      syndrome = wire::Aeth::kSequenceError;
      ++statistics.sequence_naks_sent;
      break;
    case Answer::rnr_nak:
      syndrome = wire::Aeth::rnr(pair.rnr_timer);
      ++statistics.rnr_naks_sent;
      break;
    case Answer::fatal_nak:
      syndrome = receive.syndrome;
      at = receive.refused;
      ++statistics.fatal_naks_sent;
      break;
  }
  TransmitFrame& frame = turn.frame();
  const wire::MutableBytes extended = extended_of(frame, *state_->pairs.path(row).headers);
  FrameDraft draft{.opcode = opcode::kRcAcknowledge, .psn = at.psn(), .extended = wire::Aeth::kSize};
  wire::Aeth{syndrome, receive.msn}.emit(wire::fixed<wire::Aeth::kSize>(extended));
  if (answer == Answer::sequence_nak && !receive.early.is_empty()) {
    receive.early.emit(wire::fixed<SequenceWindow::kWireSize>(extended, wire::Aeth::kSize));
    draft.extended += SequenceWindow::kWireSize;
  }
  finish_frame(*state_, row, draft, frame);
  turn.take();
  receive.answer = Answer::none;
  receive.answer_waits = 0;
  if (answer == Answer::fatal_nak) state_->enter_error(row, CompletionStatus::flushed);
}

}  // namespace rocetune::engine
