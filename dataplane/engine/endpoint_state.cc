#include "dataplane/engine/endpoint_state.h"

#include <algorithm>
#include <utility>

namespace rocetune::engine {
namespace {

CompletionKind kind_of(SendKind kind) {
  switch (kind) {
    case SendKind::send:
      return CompletionKind::send;
    case SendKind::write:
      return CompletionKind::write;
    case SendKind::read:
      return CompletionKind::read;
    case SendKind::compare_swap:
      return CompletionKind::compare_swap;
    case SendKind::fetch_add:
      break;
  }
  return CompletionKind::fetch_add;
}

}  // namespace

EndpointState::EndpointState(const EndpointOptions& chosen, PayloadAccess& payload_access)
    : options(chosen),
      access(payload_access),
      regions(chosen.memory_regions, payload_access),
      pairs(chosen.queue_pairs, chosen.shard, chosen.shard_bits),
      // Twice: as many again may be completed and not polled while new ones are on their way.
      completions(2 * (chosen.send_requests + chosen.receive_requests)),
      sends(chosen.send_requests),
      receives(chosen.receive_requests),
      responses(chosen.responder_resources),
      timers(chosen.queue_pairs),
      active(chosen.queue_pairs),
      patient_answers(chosen.acknowledgement_patience > Duration() ? chosen.queue_pairs : 0),
      waiting_for_port(chosen.queue_pairs),
      placements(payload_access) {}

void EndpointState::schedule(std::uint32_t row) {
  const QueuePair& pair = pairs[row];
  Instant first = std::min({pair.send.ack_deadline, pair.send.rnr_until, pair.pacing.wake});
  if (pair.notification) first = std::min(first, pair.notification->next_timer());
  if (first < timers.deadline(row)) timers.arm(row, first);
}

void EndpointState::complete_sends(std::uint32_t row) {
  QueuePair& pair = pairs[row];
  SlotQueue& queue = pair.send.queue;
  const bool has_failed = pair.state == QueuePairState::error;
  bool succeeds = true;  // everything in front of the oldest unacknowledged one
  while (!queue.is_empty()) {
    const SendSlot& slot = sends[queue.head];
    if (queue.head == pair.send.oldest) succeeds = false;
    if (!succeeds && !has_failed) return;
    if (slot.last_ticket > released) {
      waiting_for_port.push(row);
      return;
    }
    if (succeeds && !slot.signaled) {
      completions.cancel();
    } else {
      completions.push({.work_id = slot.work_id,
                        .qpn = pair.qpn,
                        .kind = kind_of(slot.kind),
                        .status = succeeds ? CompletionStatus::success
                                           : std::exchange(pair.send.failure, CompletionStatus::flushed),
                        .length = succeeds && slot.has_answer() ? slot.local.length : 0});
    }
    if (queue.head == pair.send.oldest) pair.send.oldest = sends.next(queue.head);
    sends.pop(queue);
  }
}

void EndpointState::complete_receive(std::uint32_t row, const Inbound& in, Completion completion) {
  QueuePair& pair = pairs[row];
  const wire::OpcodeInfo& opcode = *in.packet.opcode;
  completion.work_id = receives[pair.receive.queue.head].work_id;
  completion.qpn = pair.qpn;
  completion.is_solicited = in.packet.bth.solicited;
  if (opcode.has(wire::kImmDt)) {
    completion.has_immediate = true;
    completion.immediate = in.header<wire::ImmDt>(opcode.offset_of(wire::kImmDt)).data;
  }
  if (opcode.has(wire::kIeth)) {
    completion.has_invalidated = true;
    completion.invalidated = MemoryKey(in.header<wire::Ieth>(opcode.offset_of(wire::kIeth)).rkey);
  }
  completions.push(completion);
  receives.pop(pair.receive.queue);
}

void EndpointState::enter_error(std::uint32_t row, CompletionStatus oldest_send) {
  QueuePair& pair = pairs[row];
  if (pair.state == QueuePairState::error) return;
  pair.state = QueuePairState::error;
  SendSide& send = pair.send;
  if (send.oldest != kNoSlot) send.failure = oldest_send;
  send.cursor = kNoSlot;
  send.ack_deadline = Instant::never();
  send.rnr_until = Instant::never();
  pair.pacing.wake = Instant::never();
  timers.disarm(row);
  complete_sends(row);
  ReceiveSide& receive = pair.receive;
  responses.clear(receive.responses);
  responses.clear(receive.remembered);
  receive.answer = ReceiveSide::Answer::none;
  receive.cnp_due = false;
  while (!receive.queue.is_empty()) {
    completions.push({.work_id = receives[receive.queue.head].work_id,
                      .qpn = pair.qpn,
                      .kind = CompletionKind::receive,
                      .status = receive.failure});
    receive.failure = CompletionStatus::flushed;
    receives.pop(receive.queue);
  }
}

}  // namespace rocetune::engine
