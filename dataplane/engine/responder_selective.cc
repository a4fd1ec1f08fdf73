// Selective repeat, the responder's part: a WRITE packet beyond a gap is placed at once and remembered. See
// requester_selective.cc.
#include "dataplane/engine/responder.h"

namespace rocetune::engine {

bool Responder::place_early(std::uint32_t row, Sequence at, const Inbound& in) {
  ReceiveSide& receive = state_->pairs[row].receive;
  const wire::OpcodeInfo& opcode = *in.packet.opcode;
  const std::int64_t place = at - receive.expected;
  const bool stands_alone = opcode.operation == wire::Operation::write && opcode.starts_message &&
                            opcode.ends_message && !opcode.has(wire::kImmDt);
  // Behind an RNR NAK the peer goes back anyway.
  if (!stands_alone || place >= SequenceWindow::kPlaces || receive.nak_outstanding) return false;
  if (receive.early.contains(static_cast<int>(place))) {
    ++state_->statistics.duplicate_requests;
    state_->statistics.drop(DropReason::duplicate_request);
    owe(row, ReceiveSide::Answer::sequence_nak);
    return true;
  }
  const auto reth = in.header<wire::Reth>(0);
  const std::uint32_t length = in.packet.payload;
  PayloadReference target;
  if (length > 0) {
    const auto found = state_->regions.resolve(MemoryKey(reth.rkey), reth.address, length, kRemoteWrite);
    // Not remembered: it comes again in its turn, and is refused then.
    if (!found || reth.length != length) return false;
    target = *found;
  }
  state_->placements.add(target, in);
  state_->statistics.rx_payload_bytes += length;
  receive.early.add(static_cast<int>(place));
  receive.gap_seen = std::max(receive.gap_seen, at);
  owe(row, ReceiveSide::Answer::sequence_nak);
  return true;
}

void Responder::catch_up(std::uint32_t row, std::uint32_t packets) {
  ReceiveSide& receive = state_->pairs[row].receive;
  receive.early.advance(packets);
  if (receive.early.is_empty()) return;
  while (receive.early.contains(0)) {
    // A message of its own in the middle of another.
    if (receive.message != ReceiveSide::Message::none) {
      return refuse(row, wire::Aeth::kInvalidRequest, DropReason::invalid_request);
    }
    receive.early.advance(1);
    ++receive.expected;
    receive.msn = (receive.msn + 1) & wire::Psn::kMask;
  }
  owe(row, receive.early.is_empty() ? ReceiveSide::Answer::ack : ReceiveSide::Answer::sequence_nak);
}

}  // namespace rocetune::engine
