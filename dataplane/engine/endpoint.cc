// The main flow of an endpoint. In: a frame is validated, finds its queue pair, and goes to the half it
// concerns. Out: the queue pairs that may send take turns.
#include "dataplane/engine/endpoint.h"

#include <algorithm>
#include <bit>

#include "dataplane/engine/requester.h"
#include "dataplane/engine/responder.h"
#include "dataplane/engine/unreliable.h"

namespace rocetune::engine {
namespace {

// Frames one queue pair may send before the next one's turn.
constexpr std::size_t kTurn = 16;

// Default partition, or its limited member; the peer must be a full one (section 10.9.3).
bool is_same_partition(std::uint16_t ours, std::uint16_t theirs) {
  return ((ours ^ theirs) & 0x7FFF) == 0 && ((ours | theirs) & 0x8000) != 0;
}

// Checks that need the queue pair (section 9.6.1.2). Empty: the packet is for it.
std::optional<DropReason> mismatch(const QueuePair& pair, const wire::RocePacket& packet) {
  const bool is_cnp = packet.opcode->service == wire::Service::cnp;
  if (packet.opcode->service != pair.service && !is_cnp) return DropReason::wrong_service;
  if (!is_same_partition(pair.partition, packet.bth.partition)) return DropReason::wrong_partition;
  if (pair.service == wire::Service::ud) return std::nullopt;
  if (pair.state != QueuePairState::connected) return DropReason::not_ready;
  if (packet.source != pair.peer_address) return DropReason::wrong_peer;
  return std::nullopt;
}

void on_congestion(EndpointState& state, std::uint32_t row, Instant now) {
  dcqcn::NotificationPoint& notification = *state.pairs[row].notification;
  ++state.statistics.rx_ce_packets;
  if (notification.on_packet(now, true)) {
    state.pairs[row].receive.cnp_due = true;
    state.active.push(row);
  }
  state.schedule(row);
}

void on_cnp(EndpointState& state, std::uint32_t row, Instant now) {
  ++state.statistics.cnps_handled;
  std::visit([now](auto& controller) { controller.on_cnp(now); }, *state.pairs.path(row).controller);
  // The pace is another one now.
  if (state.pairs[row].pacing.wake != Instant::never()) state.active.push(row);
}

void on_frame(EndpointState& state, Instant now, const Inbound& in) {
  const wire::RocePacket& packet = in.packet;
  if (packet.bth.destination.value() <= 1) return state.statistics.drop(DropReason::special_queue_pair);
  const std::uint32_t row = state.pairs.row_of(packet.bth.destination);
  if (row == kNoSlot) return state.statistics.drop(DropReason::unknown_queue_pair);
  const QueuePair& pair = state.pairs[row];
  if (const auto reason = mismatch(pair, packet)) return state.statistics.drop(*reason);
  if (pair.service == wire::Service::ud) return receive_datagram(state, row, in);
  if (packet.opcode->service == wire::Service::cnp) return on_cnp(state, row, now);
  if (packet.tos.ecn() == Ecn::ce) on_congestion(state, row, now);
  if (pair.service == wire::Service::uc) return receive_unreliable(state, row, in);
  if (packet.opcode->is_request()) return Responder(state).on_request(row, in);
  return Requester(state).on_response(row, now, in);
}

// One queue pair's turn. Returns how many frames it filled.
std::size_t take_turn(EndpointState& state, std::uint32_t row, Instant now, std::span<TransmitFrame> frames) {
  if (state.pairs[row].state != QueuePairState::connected) return 0;
  TransmitTurn turn(state, row, now, frames);
  bool has_more = Responder(state).transmit(row, turn);
  if (!has_more && state.pairs[row].state == QueuePairState::connected) {
    has_more = Requester(state).transmit(row, turn);
  }
  const QueuePair& pair = state.pairs[row];
  if (pair.state != QueuePairState::connected) return turn.count();
  turn.end(pair.send.cursor == kNoSlot && pair.receive.responses.is_empty());
  if (has_more) {
    state.active.push(row);
  } else {
    state.schedule(row);
  }
  return turn.count();
}

}  // namespace

void Endpoint::on_frames(Instant now, std::span<const ReceivedFrame> frames) {
  EndpointState& state = *state_;
  state.statistics.rx_frames += frames.size();
  // Validate some, then act on them: by then the state of their queue pairs is on its way to the cache.
  while (!frames.empty()) {
    const auto batch = frames.first(std::min(frames.size(), state.inbound.size()));
    std::size_t valid = 0;
    for (const ReceivedFrame& frame : batch) {
      Inbound& in = state.inbound[valid];
      if (const auto fine = validate(frame, state.options.verify_icrc, in); !fine) {
        state.statistics.drop(fine.error());
        continue;
      }
      state.pairs.prefetch(in.packet.bth.destination);
      ++valid;
    }
    for (std::size_t i = 0; i < valid; ++i) on_frame(state, now, state.inbound[i]);
    frames = frames.subspan(batch.size());
    state.placements.flush();
  }
}

void Endpoint::on_timeout(Instant now) {
  if (state_->answers_due <= now) {
    while (!state_->patient_answers.is_empty()) {
      const std::uint32_t row = state_->patient_answers.pop();
      state_->pairs[row].receive.answer_waits = kMostWaits;
      state_->active.push(row);
    }
    state_->answers_due = Instant::never();
  }
  std::uint32_t row = 0;
  while (state_->timers.pop_due(now, row)) {
    QueuePair& pair = state_->pairs[row];
    if (pair.pacing.wake <= now) {
      pair.pacing.wake = Instant::never();
      state_->active.push(row);
    }
    if (pair.notification && pair.notification->on_timer(now)) {
      pair.receive.cnp_due = true;
      state_->active.push(row);
    }
    if (pair.send.rnr_until <= now) Requester(*state_).on_rnr_timeout(row);
    if (pair.send.ack_deadline <= now) Requester(*state_).on_ack_timeout(row, now);
    state_->schedule(row);
  }
}

std::size_t Endpoint::poll_transmit(Instant now, std::span<TransmitFrame> frames) {
  std::size_t filled = 0;
  while (filled < frames.size() && !state_->active.is_empty()) {
    const std::uint32_t row = state_->active.pop();
    if (!state_->active.is_empty()) state_->pairs.prefetch_row(state_->active.front());
    const std::size_t room = std::min(kTurn, frames.size() - filled);
    filled += take_turn(*state_, row, now, frames.subspan(filled, room));
  }
  if (state_->options.payload_is_copied) state_->released = state_->ticket;
  return filled;
}

void Endpoint::on_transmitted(std::uint64_t ticket) {
  ROCETUNE_ASSERT(ticket <= state_->ticket);
  state_->released = std::max(state_->released, ticket);
  // Who still waits afterwards is at the end of the list again.
  for (std::uint32_t left = state_->waiting_for_port.size(); left > 0; --left) {
    state_->complete_sends(state_->waiting_for_port.pop());
  }
}

void Endpoint::on_pause() { ++state_->epoch; }
Instant Endpoint::next_timeout() const { return std::min(state_->timers.next(), state_->answers_due); }
bool Endpoint::has_frames() const { return !state_->active.is_empty(); }
bool Endpoint::poll_completion(Completion& completion) { return state_->completions.pop(completion); }
const Statistics& Endpoint::statistics() const { return state_->statistics; }

Posted Endpoint::post_send(wire::Qpn qpn, const SendRequest& request) {
  const std::uint32_t row = state_->pairs.row_of(qpn);
  if (row == kNoSlot) return tl::unexpected(PostRefusal::unknown_queue_pair);
  return Requester(*state_).post(row, request);
}

Posted Endpoint::post_receive(wire::Qpn qpn, const ReceiveRequest& request) {
  const std::uint32_t row = state_->pairs.row_of(qpn);
  if (row == kNoSlot) return tl::unexpected(PostRefusal::unknown_queue_pair);
  return Responder(*state_).post(row, request);
}

}  // namespace rocetune::engine
