#include "dataplane/fabric/host_node.h"

#include <algorithm>

#include "dataplane/base/random.h"
#include "dataplane/wire/opcode.h"

namespace rocetune::fabric {
namespace {

constexpr std::uint64_t kBase = 0x10000;  // what requests call the first byte of a region
constexpr std::size_t kIp = wire::EthernetHeader::kSize;
constexpr std::size_t kUdp = kIp + wire::Ipv4Header::kSize;
constexpr std::size_t kBth = kUdp + wire::UdpHeader::kSize;
// Preamble, frame check sequence, gap.
constexpr std::uint32_t kAroundFrame = 8 + 4 + 12;
constexpr std::uint32_t kShortestFrame = 60;
// Frames that may wait in the NIC for a class that is paused, so that another class gets its turn.
constexpr std::uint32_t kMostHeld = 32;

engine::EndpointOptions options_of(const HostParameters& p, BitRate line_rate, std::uint32_t pairs,
                                   std::uint32_t requests) {
  engine::EndpointOptions out;
  out.queue_pairs = std::max(pairs, 1U);
  out.send_requests = std::max(requests, 1U);
  out.receive_requests = 1;
  out.responder_resources = 1;
  out.memory_regions = std::max(pairs, 1U);
  out.line_rate = line_rate;
  out.controller = p.controller;
  out.notification = p.notification;
  out.verify_icrc = false;
  out.compute_icrc = false;
  out.payload_is_copied = true;
  return out;
}

std::uint32_t hash_of(wire::ConstBytes header) {
  // Addresses and UDP ports; the protocol is the same for all.
  std::uint64_t state = wire::load64(header, kIp + 12) ^ std::uint64_t{wire::load32(header, kUdp)} << 17;
  return static_cast<std::uint32_t>(splitmix64(state));
}

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

std::uint8_t opcode_of(const PacketBody& body) { return wire::load8(body.header, kBth); }
wire::Qpn destination_of(const PacketBody& body) {
  return wire::Qpn(wire::load32(body.header, kBth + 4) & 0xFFFFFF);
}

}  // namespace

HostNode::HostNode(NodeId id, Shared& shared, const HostParameters& parameters, BitRate line_rate,
                   std::uint32_t sends, std::uint32_t receives, std::uint32_t largest_window)
    : Node(id, shared),
      parameters_(parameters),
      memory_(std::max(sends + receives, 1U), id),
      endpoint_(options_of(parameters, line_rate, sends + receives, sends * largest_window), memory_),
      paused_(line_rate) {
  sendings_.reserve(sends);
}

void HostNode::on_port(std::uint16_t port, BitRate) {
  ROCETUNE_ASSERT(port == 0);  // its flows come after it
}

void HostNode::connect(HostNode& from, HostNode& to, const Flow& flow, std::uint32_t number) {
  const auto region = [&](HostNode& host, std::uint8_t access) {
    return host.endpoint_.add_region({.address = kBase, .length = flow.bytes, .access = access}).value();
  };
  Sending sending{.flow = flow, .number = number};
  sending.local = region(from, 0);
  sending.remote = region(to, engine::kLocalWrite | engine::kRemoteWrite);
  to.memory_.expect(
      sending.remote, 0,
      from.memory_.content_of(
          {sending.local, static_cast<std::uint32_t>(std::min<std::uint64_t>(flow.bytes, UINT32_MAX)), 0}));
  sending.qpn = from.endpoint_.create({.send_depth = flow.window, .receive_depth = 1}).value();
  const wire::Qpn peer = to.endpoint_.create({.send_depth = 1, .receive_depth = 1}).value();
  const auto join = [&](HostNode& here, const HostNode& there, wire::Qpn ours, wire::Qpn theirs) {
    const engine::ConnectParameters p{
        .path = {.source = address_of(here.id()),
                 .destination = address_of(there.id()),
                 .tos = TosByte(here.parameters_.data_dscp, Ecn::ect0),
                 .source_port = static_cast<std::uint16_t>(0xC000 | (number * 0x9E37U >> 2 & 0x3FFF))},
        .peer = theirs,
        .mtu = here.parameters_.mtu,
        .ack_timeout = here.parameters_.ack_timeout,
        .initiator_depth = 0,
        .responder_resources = 0};
    ROCETUNE_ASSERT(here.endpoint_.connect(ours, p).has_value());
  };
  join(from, to, sending.qpn, peer);
  join(to, from, peer, sending.qpn);
  to.echoes_.push_back({peer, sending.qpn, from.id()});
  from.sending_of_.emplace(sending.qpn.value(), from.sendings_.size());
  from.sendings_.push_back(sending);
  from.set_timer(flow.start, timer(kStart, from.sendings_.size() - 1));
}

void HostNode::on_timer(Instant now, std::uint32_t what) {
  switch (static_cast<Purpose>(what & 3)) {
    case kEndpoint:
      if (endpoint_wake_ != now) return;
      endpoint_wake_ = Instant::never();
      endpoint_.on_timeout(now);
      take_completions(now);
      return transmit(now);
    case kEffect:
      paused_.on_pfc(now, effects_.front());
      effects_.pop_front();
      return transmit(now);
    case kStart:
      post(sendings_[what >> 2]);
      return transmit(now);
  }
}

void HostNode::on_arrival(Instant now, std::uint16_t, PacketIndex index) {
  Packet& packet = this->packet(index);
  mutable_digest().add(now, packet.wire_bytes);
  if (packet.kind == PacketKind::pause) {
    effects_.push_back(packets().body(index).pause);
    set_timer(now + parameters_.pause_reaction, timer(kEffect));
    return packets().give_back(index);
  }
  deliver(now, packet, packets().body(index));
  packets().give_back(index);
  take_completions(now);
  transmit(now);
}

void HostNode::deliver(Instant now, const Packet& packet, PacketBody& body) {
  Ecn ecn = packet.ecn;
  if (parameters_.echoes_ce) {
    if (packet.ce_echo) echo_arrived(now, body);
    if (ecn == Ecn::ce) {
      const auto echo = std::ranges::find(echoes_, destination_of(body), &Echo::ours);
      if (echo != echoes_.end()) echo->ce_seen = true;
      ecn = Ecn::ect0;  // its notification point stays silent
    }
  }
  const wire::MutableBytes header(body.header);
  remark(header, TosByte(packet.dscp, ecn).wire());
  engine::ReceivedFrame frame;
  // Without payload the ICRC follows at once; nobody looks at its value here.
  frame.bytes = header.first(body.header_size + (body.has_payload ? 0 : wire::kIcrcSize));
  if (body.has_payload) frame.content = &body.content;
  endpoint_.on_frames(now, {&frame, 1});
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

void HostNode::post(Sending& sending) {
  while (sending.posted_bytes < sending.flow.bytes) {
    const std::uint64_t rest = sending.flow.bytes - sending.posted_bytes;
    const auto length = static_cast<std::uint32_t>(std::min<std::uint64_t>(rest, sending.flow.message));
    const auto posted =
        endpoint_.post_send(sending.qpn, {.work_id = std::uint64_t{sending.number} << 32 | length,
                                          .kind = engine::SendKind::write,
                                          .local = {kBase + sending.posted_bytes, length, sending.local},
                                          .remote_address = kBase + sending.posted_bytes,
                                          .remote_key = sending.remote});
    if (!posted) return;  // the window is full
    sending.posted_bytes += length;
  }
}

void HostNode::take_completions(Instant now) {
  engine::Completion completion;
  while (endpoint_.poll_completion(completion)) {
    Sending& sending = sendings_[sending_of_.at(completion.qpn.value())];
    if (completion.status != engine::CompletionStatus::success) {
      ++failures_;
      continue;
    }
    FlowOutcome& outcome = sending.outcome;
    outcome.completed_bytes += completion.work_id & 0xFFFFFFFF;
    if (outcome.completed_bytes == sending.flow.bytes) {
      outcome.finished = now;
      note_finished();
    }
    post(sending);
  }
}

PacketIndex HostNode::packet_of(const engine::TransmitFrame& frame) {
  const PacketIndex index = packets().take();
  Packet& packet = this->packet(index);
  PacketBody& body = packets().body(index);
  body.header = frame.header;
  body.header_size = frame.header_size;
  body.has_payload = frame.payload.length > 0;
  packet.kind = PacketKind::roce;
  packet.hops = 0;
  packet.ce_echo = false;
  if (body.has_payload) body.content = memory_.content_of(frame.payload);
  const TosByte tos = TosByte::from_wire(wire::load8(body.header, kIp + 1));
  packet.dscp = tos.dscp();
  packet.ecn = tos.ecn();
  packet.destination = id_of(wire::load32(body.header, kIp + 16));
  packet.flow_hash = hash_of(body.header);
  const bool is_ack = opcode_of(body) == wire::opcode::kRcAcknowledge;
  if (parameters_.framing == Framing::hpcc) {
    packet.wire_bytes = body.has_payload ? frame.payload.length + 48 : 60;
  } else {
    packet.wire_bytes = std::max(static_cast<std::uint32_t>(frame.size()), kShortestFrame) + kAroundFrame;
  }
  if (is_ack && parameters_.ack_dscp) {
    packet.dscp = *parameters_.ack_dscp;
    packet.ecn = Ecn::not_ect;
  }
  if (is_ack && parameters_.echoes_ce) {
    for (Echo& echo : echoes_) {
      if (echo.theirs != destination_of(body) || echo.from != packet.destination) continue;
      packet.ce_echo = std::exchange(echo.ce_seen, false);
    }
  }
  return index;
}

bool HostNode::fetch(Instant now) {
  std::uint32_t held = 0;
  for (const PacketQueue& queue : held_) held += queue.packets;
  if (held >= kMostHeld) return false;
  engine::TransmitFrame frame;
  if (endpoint_.poll_transmit(now, {&frame, 1}) == 0) return false;
  const PacketIndex index = packet_of(frame);
  held_[static_cast<std::size_t>(priority_of(packet(index).dscp).value())].push(packets(), index);
  return true;
}

void HostNode::transmit(Instant now) {
  if (free_at_ > now) {
    wake_port(0, free_at_);
    return wake_for_endpoint(now);
  }
  while (true) {
    Instant soonest = Instant::never();
    // The highest class that may send; a NIC serves CNPs and acknowledgements of their own class first.
    for (int p = Priority::kCount - 1; p >= 0; --p) {
      PacketQueue& queue = held_[static_cast<std::size_t>(p)];
      if (queue.is_empty()) continue;
      if (!paused_.may_send(now, Priority(p))) {
        soonest = std::min(soonest, paused_.paused_until(Priority(p)));
        continue;
      }
      free_at_ = send(now, 0, queue.pop(packets()));
      wake_port(0, free_at_);
      return wake_for_endpoint(now);
    }
    if (!fetch(now)) {
      if (soonest != Instant::never()) wake_port(0, soonest);
      return wake_for_endpoint(now);
    }
  }
}

void HostNode::wake_for_endpoint(Instant now) {
  const Instant at = std::max(endpoint_.next_timeout(), now);
  if (endpoint_wake_ <= at) return;
  endpoint_wake_ = at;
  set_timer(at, timer(kEndpoint));
}

}  // namespace rocetune::fabric
