// What arrives at a host: through the NIC's buffer at the rate the host takes it, then to the engine.
#include <algorithm>

#include "dataplane/fabric/host_frames.h"
#include "dataplane/fabric/host_node.h"

namespace rocetune::fabric {
namespace {

// Another ToS byte, and the header checksum that goes with it (RFC 1624).
void remark(wire::MutableBytes header, std::uint8_t tos) {
  const std::uint16_t before = wire::load16(header, kIp);
  const auto after = static_cast<std::uint16_t>((before & 0xFF00) | tos);
  std::uint32_t sum = std::uint32_t{static_cast<std::uint16_t>(~wire::load16(header, kIp + 10))} +
                      static_cast<std::uint16_t>(~before) + after;
  while (sum >> 16 != 0) sum = (sum & 0xFFFF) + (sum >> 16);
  wire::store16(header, kIp, after);
  wire::store16(header, kIp + 10, static_cast<std::uint16_t>(~sum));
}

}  // namespace

void HostNode::on_arrival(Instant now, std::uint16_t port, Packet& packet) {
  mutable_digest().add(now, std::uint64_t{port} << 32 | packet.wire_bytes);
  if (port != kFabric) {
    const Duration span = time_on_link(port, packet.wire_bytes);
    set_timer(neighbours_.on_arrival(now, span, packets().body(packet).link()), timer(kNeighbourHere));
    return packets().give_back(packet);
  }
  if (packet.kind != PacketKind::roce) return on_link_frame(now, packet);
  receive(now, packet);
  take_completions(now);
  transmit(now);
}

void HostNode::on_link_frame(Instant now, Packet& packet) {
  const PacketKind kind = packet.kind;
  const LinkMessage message = packets().body(packet).link();
  packets().give_back(packet);
  if (kind == PacketKind::credit) {
    gate_.on_message(now, kind, message);
    return transmit(now);
  }
  counters_.pauses_received.add(message.pause);
  // A NIC without PFC for a class does not listen to pauses of it.
  PfcMessage heard = message.pause;
  heard.enabled = PrioritySet(
      static_cast<std::uint8_t>(heard.enabled.mask() & parameters_.receiver.buffer.lossless.mask()));
  if (heard.enabled.is_empty()) return;
  effects_.push(heard);
  set_timer(now + parameters_.pause_reaction, timer(kEffect));
}

void HostNode::receive(Instant now, Packet& packet) {
  const Priority p = priority_of(packet.dscp);
  counters_.received.add(p, packet.wire_bytes);
  const bool is_slow = receive_rate_ > BitRate(0) || !taken_.is_empty();
  if (!is_slow) {
    if (parameters_.receiver.buffer.flow_control == FlowControl::credits) {
      ingress_.release(0, p, packet.wire_bytes);
      tell(now, p);
    }
    return deliver(now, packet);
  }
  if (!ingress_.admit(0, p, packet.wire_bytes)) {
    ++counters_.discards[index_of(p)];
    counters_.discarded_wire_bytes += packet.wire_bytes;
    return packets().give_back(packet);
  }
  taken_.push(packets(), packet);
  if (!is_taking_) {
    is_taking_ = true;
    take_next(now);
  } else if (stalled_since_ == Instant::never()) {
    stalled_since_ = now;
  }
  tell(now, p);
}

// The host is done with one frame: the next one takes its time.
void HostNode::take_next(Instant now) {
  if (taken_.is_empty()) {
    is_taking_ = false;
    return;
  }
  Packet& packet = taken_.pop(packets());
  if (taken_.is_empty() && stalled_since_ != Instant::never()) {
    stalled_ += now - stalled_since_;
    stalled_since_ = Instant::never();
  }
  const Priority p = priority_of(packet.dscp);
  const std::uint32_t bytes = packet.wire_bytes;
  const Duration span =
      receive_rate_ > BitRate(0) ? transmission_time(Bytes(bytes), receive_rate_) : Duration(0);
  set_timer(now + span, timer(kTake));
  ingress_.release(0, p, bytes);
  tell(now, p);
  deliver(now, packet);
  take_completions(now);
}

void HostNode::tell(Instant now, Priority p) {
  if (!ingress_.is_lossless(p)) return;
  if (prevented_.contains(p)) {
    if (!ingress_.has_room(0, p)) return;
    prevented_ = prevented_.without(p);
  }
  const auto frame = ingress_.tell(now, 0, p);
  if (!frame) return;
  if (frame->is_xoff(p)) {
    ++xoffs_[index_of(p)];
    holding_since_[index_of(p)] = now;
    const Duration limit = parameters_.receiver.storm_prevention;
    const Instant check = now + limit;
    if (limit < Duration::max() && check < storm_check_) {
      storm_check_ = check;
      set_timer(check, timer(kStorm));
    }
  } else if (frame->kind == PacketKind::pause) {
    held_back_[index_of(p)] += now - holding_since_[index_of(p)];
  }
  send_link_frame(now, *frame);
  refresh_in_time();
}

// A class that has been held for too long is let go; what then finds no room is dropped.
void HostNode::on_storm(Instant now) {
  storm_check_ = Instant::never();
  const Duration limit = parameters_.receiver.storm_prevention;
  for (int i = 0; i < Priority::kCount; ++i) {
    const Priority p(i);
    if (!ingress_.is_holding(0, p)) continue;
    const Instant due = holding_since_[index_of(p)] + limit;
    if (due > now) {
      storm_check_ = std::min(storm_check_, due);
      continue;
    }
    prevented_ = prevented_.with(p);
    ++storms_prevented_;
    held_back_[index_of(p)] += now - holding_since_[index_of(p)];
    if (const auto frame = ingress_.let_go(now, 0, p)) send_link_frame(now, *frame);
  }
  if (storm_check_ != Instant::never()) set_timer(storm_check_, timer(kStorm));
}

void HostNode::refresh_in_time() {
  if (ingress_.next_timer(0) >= refresh_) return;
  refresh_ = ingress_.next_timer(0);
  set_timer(refresh_, timer(kRefresh));
}

void HostNode::send_link_frame(Instant now, const LinkFrame& frame) {
  if (!is_up(0)) return;
  Packet& packet = packets().take();
  packet.kind = frame.kind;
  packet.wire_bytes = frame.wire_bytes();
  packets().body(packet).set_link(frame.message);
  if (frame.kind == PacketKind::pause) counters_.pauses_sent.add(frame.message.pause);
  control_.push(packets(), packet);
  transmit(now);
}

void HostNode::deliver(Instant now, Packet& packet) {
  PacketBody& body = packets().body(packet);
  Ecn ecn = packet.ecn;
  if (parameters_.echoes_ce) {
    if (packet.ce_echo) echo_arrived(now, body);
    if (ecn == Ecn::ce) {
      const auto echo = std::ranges::find(echoes_, destination_of(body), &Echo::ours);
      if (echo != echoes_.end()) echo->ce_seen = true;
      ecn = Ecn::ect0;  // its notification point stays silent
    }
  }
  remark(body.header, TosByte(packet.dscp, ecn).wire());
  std::array<std::byte, kEthernet + PacketBody::kHeaderRoom + wire::kIcrcSize> bytes{};
  std::ranges::copy(kEthernetHeader, bytes.begin());
  std::ranges::copy(body.header, bytes.begin() + kEthernet);
  engine::ReceivedFrame frame;
  // Without payload the ICRC follows at once; nobody looks at its value here.
  const engine::SyntheticContent content = content_of(packet, body);
  const bool has_payload = content.length > 0;
  if (has_payload) note_delay(now - body.fetched);
  frame.bytes =
      wire::ConstBytes(bytes).first(kEthernet + packet.header_size + (has_payload ? 0 : wire::kIcrcSize));
  if (has_payload) frame.content = &content;
  endpoint_.on_frames(now, {&frame, 1});
  packets().give_back(packet);
}

// An ACK that reports a mark is a CNP to the queue pair that it is for.
void HostNode::echo_arrived(Instant now, const PacketBody& body) {
  std::array<std::byte, 128> bytes;
  const wire::PathHeaders path(
      {.source = address_of(id_of(wire::load32(body.header, kIp + 12))), .destination = address_of(id())});
  const std::size_t size = wire::emit_cnp(path, destination_of(body), bytes);
  const engine::ReceivedFrame frame{wire::ConstBytes(bytes).first(size)};
  endpoint_.on_frames(now, {&frame, 1});
}

void HostNode::plan_receive_rate(Instant at, BitRate rate) {
  planned_rates_.push_back(rate);
  set_timer(at, timer(kRate, planned_rates_.size() - 1));
}

}  // namespace rocetune::fabric
