#include "dataplane/fabric/host_node.h"

#include <algorithm>
#include <cstring>

#include "dataplane/fabric/host_frames.h"

namespace rocetune::fabric {
namespace {

// Preamble, frame check sequence, gap.
constexpr std::uint32_t kAroundFrame = 8 + 4 + 12;
constexpr std::uint32_t kShortestFrame = 60;
// InfiniBand: a local route header and a VCRC instead of Ethernet, IP and UDP.
constexpr std::uint32_t kInfiniBandAround = 8 + 2;
// HPCC's model has its own headers around a segment and paces with them; what a flow could not send in time
// is no credit for later, and the gap to the next segment is that of the rate at which the last one was sent.
constexpr Bytes kHpccAround{48};
constexpr std::uint32_t kHpccAcknowledgement = 60;
// Frames that may wait in the NIC for a class that is paused, so that another class gets its turn.
constexpr std::uint32_t kMostHeld = 32;
// So many a NIC with shares has ready if there are, to choose among. Ours.
constexpr std::uint32_t kReady = 8;

engine::EndpointOptions options_of(const HostParameters& p, BitRate line_rate,
                                   const HostNode::Capacity& capacity) {
  engine::EndpointOptions out;
  out.queue_pairs = std::max(capacity.queue_pairs, 1U);
  out.send_requests = std::max(capacity.send_requests, 1U);
  out.receive_requests = std::max(capacity.receive_requests, 1U);
  out.responder_resources = 1;
  out.memory_regions = std::max(capacity.regions, 1U);
  out.line_rate = line_rate;
  out.controller = p.controller;
  out.notification = p.notification;
  out.verify_icrc = false;
  out.compute_icrc = false;
  out.payload_is_copied = true;
  if (p.framing == Framing::hpcc) {
    out.pace = {.around_payload = kHpccAround, .catch_up = Bytes(0), .follows_rate = false};
  }
  return out;
}

std::uint32_t hash_of(wire::ConstBytes header) {
  // Addresses and UDP ports; the protocol is the same for all.
  std::uint64_t state = wire::load64(header, kIp + 12) ^ std::uint64_t{wire::load32(header, kUdp)} << 17;
  return static_cast<std::uint32_t>(splitmix64(state));
}

}  // namespace

HostNode::HostNode(NodeId id, Lane& lane, const HostParameters& parameters, BitRate line_rate,
                   std::uint64_t seed, const Capacity& capacity)
    : Node(id, lane, seed, Opens::packets),
      parameters_(parameters),
      memory_(std::max(capacity.regions, 1U), id),
      endpoint_(options_of(parameters, line_rate, capacity), memory_),
      gate_(line_rate, parameters.receiver.buffer.flow_control, parameters.receiver.buffer.lane_buffer),
      receive_rate_(parameters.receiver.rate),
      ingress_(parameters.receiver.buffer) {
  if (parameters.ets != EtsConfig() || parameters.class_of != a_class_each())
    scheduler_ = std::make_unique<EtsScheduler>(parameters.ets);
}

void HostNode::on_port(std::uint16_t port, BitRate rate) {
  if (port == kFabric) ingress_.add_port(rate, delay_of(port));
}

void HostNode::on_timer(Instant now, std::uint32_t what) {
  const std::uint32_t which = what >> 4;
  switch (static_cast<Purpose>(what & 15)) {
    case kEndpoint:
      if (endpoint_wake_ != now) return;
      endpoint_wake_ = Instant::never();
      endpoint_.on_timeout(now);
      take_completions(now);
      return transmit(now);
    case kEffect:
      gate_.on_message(now, PacketKind::pause, {.pause = effects_.front()});
      effects_.pop();
      return transmit(now);
    case kStart:
      if ((which & 1) == 0) {
        post(sendings_[which >> 1]);
      } else {
        begin_step(now, which >> 1);
      }
      return transmit(now);
    case kCompute:
      start_step(now, which);
      return transmit(now);
    case kTake:
      take_next(now);
      return transmit(now);
    case kRate:
      receive_rate_ = planned_rates_[which];
      return;
    case kRefresh:
      if (refresh_ != now) return;
      refresh_ = Instant::never();
      if (const auto frame = ingress_.on_timer(now, 0)) send_link_frame(now, *frame);
      return refresh_in_time();
    case kStorm:
      return on_storm(now);
    case kNeighbourSent:
      on_sent_to_neighbour(now);
      return transmit(now);
    case kNeighbourHere:
      on_from_neighbour(now);
      return transmit(now);
  }
}

std::uint32_t HostNode::wire_bytes_of(const engine::TransmitFrame& frame) const {
  const bool has_payload = frame.payload.length > 0;
  switch (parameters_.framing) {
    case Framing::hpcc:
      return has_payload ? frame.payload.length + static_cast<std::uint32_t>(kHpccAround.count())
                         : kHpccAcknowledgement;
    case Framing::infiniband:
      return static_cast<std::uint32_t>(frame.size() - kEthernet - kBth) + kInfiniBandAround;
    case Framing::ethernet:
      break;
  }
  return std::max(static_cast<std::uint32_t>(frame.size()), kShortestFrame) + kAroundFrame;
}

Packet& HostNode::packet_of(const engine::TransmitFrame& frame) {
  Packet& packet = packets().take();
  PacketBody& body = packets().body(packet);
  ROCETUNE_ASSERT(frame.header_size <= kEthernet + PacketBody::kHeaderRoom);
  ROCETUNE_ASSERT(std::memcmp(frame.header.data(), kEthernetHeader.data(), kEthernet) == 0);
  std::memcpy(body.header.data(), frame.header.data() + kEthernet, PacketBody::kHeaderRoom);
  packet.header_size = static_cast<std::uint8_t>(frame.header_size - kEthernet);
  packet.kind = PacketKind::roce;
  packet.hops = 0;
  packet.ce_echo = false;
  set_content(packet, body,
              frame.payload.length > 0 ? memory_.content_of(frame.payload) : engine::SyntheticContent());
  const TosByte tos = TosByte::from_wire(wire::load8(body.header, kIp + 1));
  packet.dscp = tos.dscp();
  packet.ecn = parameters_.framing == Framing::infiniband ? Ecn::not_ect : tos.ecn();
  packet.destination = id_of(wire::load32(body.header, kIp + 16));
  packet.flow_hash = parameters_.hash == FlowHash::hpcc
                         ? hpcc_key(id(), wire::load16(body.header, kUdp), is_acknowledgement(body))
                         : hash_of(body.header);
  packet.wire_bytes = wire_bytes_of(frame);
  if (!is_acknowledgement(body)) return packet;
  if (parameters_.ack_dscp) {
    packet.dscp = *parameters_.ack_dscp;
    packet.ecn = Ecn::not_ect;
  }
  if (parameters_.echoes_ce) {
    for (Echo& echo : echoes_) {
      if (echo.theirs != destination_of(body) || echo.from != packet.destination) continue;
      packet.ce_echo = std::exchange(echo.ce_seen, false);
    }
  }
  return packet;
}

bool HostNode::fetch(Instant now) {
  if (held_packets_ >= kMostHeld) return false;
  engine::TransmitFrame frame;
  if (endpoint_.poll_transmit(now, {&frame, 1}) == 0) return false;
  if (frame.payload.length > 0) on_fetched(frame.payload);
  Packet& packet = packet_of(frame);
  packets().body(packet).fetched = now;
  held_[index_of(priority_of(packet.dscp))].push(packets(), packet);
  ++held_packets_;
  return true;
}

void HostNode::transmit(Instant now) {
  if (free_at_ > now) {
    wake_port(0, free_at_);
    return wake_for_endpoint(now);
  }
  if (!is_up(0)) return wake_for_endpoint(now);
  if (!control_.is_empty()) {
    free_at_ = send(now, 0, control_.pop(packets()));
    wake_port(0, free_at_);
    return wake_for_endpoint(now);
  }
  while (scheduler_ != nullptr && held_packets_ < kReady && fetch(now)) {
  }
  while (true) {
    Instant soonest = Instant::never();
    if (const auto p = choose(now, soonest)) {
      PacketQueue& queue = held_[index_of(*p)];
      const std::uint32_t bytes = packet(queue.head).wire_bytes;
      gate_.on_sent(*p, bytes);
      counters_.sent.add(*p, bytes);
      free_at_ = send(now, 0, queue.pop(packets()));
      --held_packets_;
      // Without anything to send, whoever brings something transmits.
      if (held_packets_ > 0 || endpoint_.has_frames()) wake_port(0, free_at_);
      return wake_for_endpoint(now);
    }
    if (!fetch(now)) {
      if (soonest != Instant::never()) wake_port(0, soonest);
      return wake_for_endpoint(now);
    }
  }
}

std::optional<Priority> HostNode::choose(Instant now, Instant& soonest) {
  EtsScheduler::Heads heads{};
  std::array<Priority, TrafficClass::kCount> first_of{};
  for (int i = held_packets_ > 0 ? Priority::kCount - 1 : -1; i >= 0; --i) {
    const Priority p(i);
    const PacketQueue& queue = held_[index_of(p)];
    if (queue.is_empty()) continue;
    const std::uint32_t bytes = packet(queue.head).wire_bytes;
    if (!gate_.may_send(now, p, bytes)) {
      soonest = std::min(soonest, gate_.on_blocked(now, p));
      continue;
    }
    if (scheduler_ == nullptr) return p;
    const auto tc = static_cast<std::size_t>(parameters_.class_of[index_of(p)].value());
    if (heads[tc]) continue;
    heads[tc] = Bytes(bytes);
    first_of[tc] = p;
  }
  if (scheduler_ == nullptr) return std::nullopt;
  const auto tc = scheduler_->next(heads);
  if (!tc) return std::nullopt;
  return first_of[static_cast<std::size_t>(tc->value())];
}

void HostNode::wake_for_endpoint(Instant now) {
  const Instant at = std::max(endpoint_.next_timeout(), now);
  if (endpoint_wake_ <= at) return;
  endpoint_wake_ = at;
  set_timer(at, timer(kEndpoint));
}

}  // namespace rocetune::fabric
