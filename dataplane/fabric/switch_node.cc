#include "dataplane/fabric/switch_node.h"

#include <algorithm>
#include <bit>

namespace rocetune::fabric {
namespace {

std::size_t index_of(Priority p) { return static_cast<std::size_t>(p.value()); }

// Mixes the bits of a flow's hash with the switch's own seed, so that two tiers do not choose alike.
std::uint32_t mix(std::uint32_t hash, std::uint32_t seed) {
  hash = (hash ^ seed) * 0x7FEB352DU;
  hash = (hash ^ hash >> 15) * 0x846CA68BU;
  return hash ^ hash >> 16;
}

}  // namespace

DscpMap dscp_map(std::span<const std::pair<Dscp, Priority>> entries) {
  DscpMap map{};
  for (const auto& [dscp, priority] : entries) map[static_cast<std::size_t>(dscp.value())] = priority;
  return map;
}

SwitchNode::Port::Port(BitRate speed, const SwitchParameters& parameters, SharedBuffer& buffer)
    : paused(speed),
      scheduler(parameters.ets),
      points(Priority::kCount, dcqcn::CongestionPoint(parameters.congestion_point)),
      pauser(speed, parameters.pauser) {
  for (int p = 0; p < Priority::kCount; ++p) {
    const bool is_lossless = parameters.lossless.contains(Priority(p));
    pools[static_cast<std::size_t>(p)] =
        buffer.add_queue(is_lossless ? parameters.lossless_pool : parameters.lossy_pool);
  }
}

SwitchNode::SwitchNode(NodeId id, Shared& shared, const SwitchParameters& parameters,
                       const RoutingTable& routes, std::uint64_t seed)
    : Node(id, shared),
      parameters_(parameters),
      routes_(routes),
      random_(seed, id),
      marks_at_(parameters.congestion_point.mark_at),
      buffer_(parameters.buffer) {
  hash_seed_ = static_cast<std::uint32_t>(random_.next());
}

void SwitchNode::on_port(std::uint16_t, BitRate rate) { ports_.emplace_back(rate, parameters_, buffer_); }

void SwitchNode::change_length(Instant now, Port& port, std::int64_t bytes) {
  port.queued += bytes;
  if (port.watch != nullptr) port.watch->on_length(now, port.queued);
}

void SwitchNode::on_timer(Instant now, std::uint32_t what) {
  const auto port = static_cast<std::uint16_t>(what >> 1);
  Port& p = ports_[port];
  switch (static_cast<Purpose>(what & 1)) {
    case kEffect:
      p.paused.on_pfc(now, p.effects.front());
      p.effects.pop_front();
      return transmit(now, port);
    case kRefresh:
      if (p.refresh != now) return;
      p.refresh = Instant::never();
      if (const auto message = p.pauser.on_timer(now)) send_pause(now, port, *message);
      return refresh_in_time(port);
  }
}

void SwitchNode::on_arrival(Instant now, std::uint16_t port, PacketIndex index) {
  Packet& packet = this->packet(index);
  mutable_digest().add(now, std::uint64_t{port} << 32 | packet.wire_bytes);
  if (packet.kind == PacketKind::pause) return on_pause_frame(now, port, index);
  const Priority priority = parameters_.priority_of[static_cast<std::size_t>(packet.dscp.value())];
  const auto ways = routes_.ports_to(packet.destination);
  if (ways.empty()) {
    ++unroutable_;
    return packets().give_back(index);
  }
  const std::uint16_t egress =
      ways.size() == 1 ? ways[0] : ways[mix(packet.flow_hash, hash_seed_) % ways.size()];
  Port& in = ports_[port];
  const auto room = buffer_.admit(in.pools[index_of(priority)], Bytes(packet.wire_bytes));
  if (room == SharedBuffer::Room::dropped) {
    ++in.counters.drops[index_of(priority)];
    if (parameters_.lossless.contains(priority)) ++lossless_drops_;
    return packets().give_back(index);
  }
  packet.ingress_port = port;
  packet.ingress_priority = static_cast<std::uint8_t>(priority.value());
  ++packet.hops;
  Port& out = ports_[egress];
  PacketQueue& queue = out.queues[index_of(priority)];
  if (marks_at_ == MarkAt::enqueue) mark(out, priority, queue.bytes, packet);
  queue.push(packets(), index);
  out.waiting = static_cast<std::uint8_t>(out.waiting | 1U << priority.value());
  change_length(now, out, packet.wire_bytes);
  if (parameters_.lossless.contains(priority)) look_at_buffer(now, port, priority);
  transmit(now, egress);
}

void SwitchNode::on_pause_frame(Instant now, std::uint16_t port, PacketIndex index) {
  Port& p = ports_[port];
  const PfcMessage message = packets().body(index).pause;
  for (const Priority priority : message.enabled.members()) {
    if (message.quanta[index_of(priority)].count() > 0) ++p.counters.pauses_received[index_of(priority)];
  }
  p.effects.push_back(message);
  set_timer(now + parameters_.pause_reaction, timer(port, kEffect));
  packets().give_back(index);
}

void SwitchNode::transmit(Instant now, std::uint16_t port) {
  Port& p = ports_[port];
  if (p.waiting == 0 && p.control.is_empty()) return;
  if (p.free_at > now) return wake_port(port, p.free_at);
  if (!p.control.is_empty()) {
    p.free_at = send(now, port, p.control.pop(packets()));
  } else if (const auto priority = choose(p, now)) {
    leave(now, port, *priority);
  } else {
    Instant soonest = Instant::never();
    for (int i = 0; i < Priority::kCount; ++i) {
      if ((p.waiting >> i & 1) != 0) soonest = std::min(soonest, p.paused.paused_until(Priority(i)));
    }
    return wake_port(port, soonest);
  }
  if (p.waiting != 0 || !p.control.is_empty()) wake_port(port, p.free_at);
}

std::optional<Priority> SwitchNode::choose(Port& port, Instant now) {
  std::uint8_t ready = 0;
  for (std::uint8_t left = port.waiting; left != 0; left = static_cast<std::uint8_t>(left & (left - 1))) {
    const int p = std::countr_zero(left);
    if (port.paused.may_send(now, Priority(p))) ready = static_cast<std::uint8_t>(ready | 1U << p);
  }
  if (ready == 0) return std::nullopt;
  if (std::has_single_bit(ready)) return Priority(std::countr_zero(ready));
  EtsScheduler::Heads heads{};
  for (int p = 0; p < Priority::kCount; ++p) {
    if ((ready >> p & 1) == 0) continue;
    heads[static_cast<std::size_t>(p)] =
        Bytes(packet(port.queues[static_cast<std::size_t>(p)].head).wire_bytes);
  }
  const auto chosen = port.scheduler.next(heads);
  ROCETUNE_ASSERT(chosen.has_value());
  return Priority(chosen->value());
}

void SwitchNode::leave(Instant now, std::uint16_t port, Priority priority) {
  Port& out = ports_[port];
  PacketQueue& queue = out.queues[index_of(priority)];
  const std::int64_t length = queue.bytes;
  const PacketIndex index = queue.pop(packets());
  if (queue.is_empty()) out.waiting = static_cast<std::uint8_t>(out.waiting & ~(1U << priority.value()));
  Packet& packet = this->packet(index);
  change_length(now, out, -std::int64_t{packet.wire_bytes});
  const std::uint16_t ingress = packet.ingress_port;
  const Priority ingress_priority(packet.ingress_priority);
  buffer_.release(ports_[ingress].pools[index_of(ingress_priority)], Bytes(packet.wire_bytes));
  if (marks_at_ == MarkAt::dequeue) mark(out, priority, length, packet);
  out.free_at = send(now, port, index);
  if (parameters_.lossless.contains(ingress_priority)) look_at_buffer(now, ingress, ingress_priority);
}

void SwitchNode::mark(Port& out, Priority priority, std::int64_t bytes, Packet& packet) {
  // Below the curve nothing is drawn.
  if (Bytes(bytes) < parameters_.congestion_point.curve.minimum || !parameters_.marked.contains(priority))
    return;
  dcqcn::CongestionPoint& point = out.points[index_of(priority)];
  const bool is_marked = marks_at_ == MarkAt::enqueue
                             ? point.on_enqueue(Bytes(bytes), packet.ecn, random_.next())
                             : point.on_dequeue(Bytes(bytes), packet.ecn, random_.next());
  if (!is_marked) return;
  packet.ecn = Ecn::ce;
  ++out.counters.marked[index_of(priority)];
}

// Asks the peer of an ingress to be silent, or to go on, if its share of the buffer says so.
void SwitchNode::look_at_buffer(Instant now, std::uint16_t port, Priority priority) {
  Port& p = ports_[port];
  const SharedBuffer::Queue pool = p.pools[index_of(priority)];
  std::optional<PfcMessage> message;
  if (buffer_.wants_xoff(pool)) {
    message = p.pauser.on_buffer(now, priority, true);
  } else if (p.pauser.paused().contains(priority) && buffer_.allows_xon(pool)) {
    message = p.pauser.on_buffer(now, priority, false);
  }
  if (!message) return;
  send_pause(now, port, *message);
  refresh_in_time(port);
}

void SwitchNode::refresh_in_time(std::uint16_t port) {
  Port& p = ports_[port];
  if (p.pauser.next_timer() >= p.refresh) return;
  p.refresh = p.pauser.next_timer();
  set_timer(p.refresh, timer(port, kRefresh));
}

void SwitchNode::send_pause(Instant now, std::uint16_t port, const PfcMessage& message) {
  constexpr std::uint32_t kFrame = 64 + 20;  // the shortest Ethernet frame, preamble and gap
  Port& p = ports_[port];
  const PacketIndex index = packets().take();
  Packet& frame = packet(index);
  frame.kind = PacketKind::pause;
  frame.wire_bytes = kFrame;
  packets().body(index).pause = message;
  for (const Priority priority : message.enabled.members()) {
    if (message.quanta[index_of(priority)].count() > 0) ++p.counters.pauses_sent[index_of(priority)];
  }
  p.control.push(packets(), index);
  transmit(now, port);
}

}  // namespace rocetune::fabric
