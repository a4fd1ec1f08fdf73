// Selective repeat, the requester's part: between two of ours a sequence NAK brings a window of what has
// arrived beyond the gap, and only the rest is sent again. The idea is that of IRN (Mittal et al.,
// "Revisiting Network Support for RDMA", SIGCOMM 2018): every packet of a WRITE says where it belongs, as a
// message of its own, so that it can be placed whenever it comes.
//
// Order between WRITEs to the same bytes then exists only once the first is completed.
#include "dataplane/engine/requester.h"

namespace rocetune::engine {

void Requester::on_selective_nak(std::uint32_t row, Instant now, const SequenceWindow& arrived) {
  QueuePair& pair = state_->pairs[row];
  SendSide& send = pair.send;
  const int last = arrived.last();
  if (last < 0 || send.unacked + last >= send.sent_end) {
    return state_->statistics.drop(DropReason::unexpected_response);
  }
  if (send.rewound_at != send.unacked) {
    send.rewound_at = send.unacked;
    if (!count_retry(row, now)) return;
  }
  // Something sent after the last repair has arrived: what is still missing was lost again.
  if (send.unacked + last >= send.repaired_until) {
    send.resent.clear();
    send.repaired_until = send.sent_end;
  }
  for (int place = 0; place < last; ++place) {
    if (!arrived.contains(place) && !send.resent.contains(place)) send.missing.add(place);
  }
  state_->active.push(row);
}

bool Requester::resend_missing(std::uint32_t row, TransmitTurn& turn) {
  QueuePair& pair = state_->pairs[row];
  SendSide& send = pair.send;
  while (!send.missing.is_empty()) {
    if (!turn.pace_allows()) return false;
    if (!turn.has_room()) return true;
    const int place = send.missing.first();
    const Sequence at = send.unacked + place;
    std::uint32_t index = send.oldest;
    while (index != kNoSlot && pair.end_of(state_->sends[index]) <= at) index = state_->sends.next(index);
    // Gone back to before it: it will be sent anyway.
    if (index == kNoSlot || at >= send.next) {
      send.missing.clear();
      return false;
    }
    SendSlot& slot = state_->sends[index];
    if (!slot.has_answer() && slot.local.length > 0 && !state_->regions.is_valid(slot.local.region)) {
      send.missing.clear();
      if (index == send.oldest) state_->enter_error(row, CompletionStatus::local_protection_error);
      return false;
    }
    // A READ holds the numbers of all its responses and is one packet.
    const Sequence first = slot.has_answer() ? std::max(slot.first, send.unacked) : at;
    const std::int64_t packets = slot.has_answer() ? pair.end_of(slot) - at : 1;
    for (std::int64_t i = place; i < place + packets && i < SequenceWindow::kPlaces; ++i) {
      send.missing.remove(static_cast<int>(i));
      send.resent.add(static_cast<int>(i));
    }
    build_request(row, index, first, true, turn.frame());
    turn.take_data();
    ++state_->statistics.retransmitted_frames;
    if (!slot.has_answer()) slot.last_ticket = state_->ticket;
  }
  return false;
}

}  // namespace rocetune::engine
