#include "dataplane/fabric/switch_node.h"

#include <algorithm>
#include <bit>

namespace rocetune::fabric {
DscpMap dscp_map(std::span<const std::pair<Dscp, Priority>> entries) {
  DscpMap map{};
  for (const auto& [dscp, priority] : entries) map[static_cast<std::size_t>(dscp.value())] = priority;
  return map;
}

dcqcn::CongestionPointParameters SwitchParameters::congestion_point_at(BitRate rate) const {
  dcqcn::CongestionPointParameters out = congestion_point;
  out.curve.minimum = ingress.scaled(out.curve.minimum, rate);
  out.curve.maximum = ingress.scaled(out.curve.maximum, rate);
  return out;
}

SwitchNode::Port::Port(std::uint16_t own_number, BitRate speed, const SwitchParameters& parameters,
                       FlowControl flow_control)
    : number(own_number),
      gate(speed, flow_control, parameters.ingress.lane_buffer),
      scheduler(parameters.ets),
      point(parameters.congestion_point_at(speed)),
      marks_from(parameters.congestion_point_at(speed).curve.minimum) {
  if (parameters.watchdog) guard = std::make_unique<Guard>();
}

SwitchNode::SwitchNode(NodeId id, Lane& lane, const SwitchParameters& parameters, const RoutingTable& routes,
                       std::uint64_t seed)
    : Node(id, lane, seed, Opens::nothing),
      parameters_(&parameters),
      routes_(&routes),
      marks_at_(parameters.congestion_point.mark_at),
      paths_(parameters.spreading, parameters.flowlet_gap, static_cast<std::uint32_t>(random().next())),
      hash_(parameters.hash),
      ingress_(parameters.ingress) {
  if (parameters.watchdog) set_timer(Instant(parameters.watchdog->interval()), timer(0, kWatchdog));
}

void SwitchNode::reserve_ports(std::size_t count) {
  Node::reserve_ports(count);
  ports_.reserve(count);
  ingress_.reserve_ports(count);
}

void SwitchNode::on_port(std::uint16_t port, BitRate rate) {
  const bool is_counted = port != reducer_port_;
  // Nobody behind it sends pauses, so that by PFC it may always send.
  Port& added = ports_.emplace_back(port, rate, *parameters_,
                                    is_counted ? parameters_->ingress.flow_control : FlowControl::pfc);
  added.map = &parameters_->map_at(port);
  ingress_.add_port(rate, delay_of(port), is_counted);
}

void SwitchNode::on_start() {
  for (Port& port : ports_) port.queued_from.resize(ports_.size());
}

void SwitchNode::plan_change(Instant at, const SwitchParameters* parameters, const RoutingTable* routes) {
  changes_.push_back({parameters, routes});
  set_timer(at, timer(changes_.size() - 1, kChange));
}

void SwitchNode::on_change(const Change& change) {
  if (change.routes != nullptr) routes_ = change.routes;
  if (change.parameters == nullptr) return;
  parameters_ = change.parameters;
  for (Port& port : ports_) port.map = &parameters_->map_at(port.number);
}

void SwitchNode::on_link(Instant now, std::uint16_t which) {
  ports_down_ = 0;
  for (const Port& port : ports_) ports_down_ += is_up(port.number) ? 0 : 1;
  Port& port = ports_[which];
  if (is_up(which)) return transmit(now, port);
  for (int i = 0; i < Priority::kCount; ++i) port.counters.link_drops += flush(now, port, Priority(i));
  while (!port.control.is_empty()) packets().give_back(port.control.pop(packets()));
}

void SwitchNode::change_length(Instant now, Port& port, std::int64_t bytes) {
  port.queued += bytes;
  if (port.watch != nullptr) port.watch->on_length(now, port.queued);
}

void SwitchNode::on_timer(Instant now, std::uint32_t what) {
  const std::uint32_t which = what >> 3;
  switch (static_cast<Purpose>(what & 7)) {
    case kEffect: {
      Port& p = ports_[which];
      p.gate.on_message(now, PacketKind::pause, {.pause = p.effects.front()});
      p.effects.pop();
      return transmit(now, p);
    }
    case kRefresh: {
      Port& p = ports_[which];
      if (p.refresh != now) return;
      p.refresh = Instant::never();
      if (const auto frame = ingress_.on_timer(now, p.number)) send_link_frame(now, p, *frame);
      return refresh_in_time(p);
    }
    case kChange:
      return on_change(changes_[which]);
    case kWatchdog:
      return look_for_storms(now);
    case kWhole:
      return on_whole(now, ports_[which]);
  }
}

void SwitchNode::look_for_storms(Instant now) {
  const WatchdogParameters& watchdog = *parameters_->watchdog;
  for (Port& p : ports_) {
    for (const Priority priority : parameters_->ingress.lossless.members()) {
      const std::uint64_t left = p.counters.packets[index_of(priority)];
      const bool is_stuck =
          this->is_stuck(now, p.number, priority) && left == p.guard->looked_at[index_of(priority)];
      p.guard->looked_at[index_of(priority)] = left;
      const auto change =
          p.guard->watchdog.on_look(now, priority, is_stuck, p.gate.is_held(now, priority), watchdog);
      if (change != StormWatchdog::Change::began) continue;
      if (watchdog.action == WatchdogParameters::Action::drop) {
        p.counters.watchdog_drops += flush(now, p, priority);
      } else {
        transmit(now, p);
      }
    }
  }
  set_timer(now + watchdog.interval(), timer(0, kWatchdog));
}

SwitchNode::Port* SwitchNode::way_of(Instant now, const Packet& packet) {
  std::span<const std::uint16_t> ways = routes_->ports_to(packet.destination);
  if (ports_down_ > 0) {
    live_ways_.clear();
    std::ranges::copy_if(ways, std::back_inserter(live_ways_), [&](std::uint16_t way) { return is_up(way); });
    if (!live_ways_.empty()) ways = live_ways_;
  }
  if (ways.empty()) return nullptr;
  if (ways.size() == 1) return &ports_[ways[0]];
  if (hash_ == FlowHash::hpcc)
    return &ports_[ways[hpcc_hash(packet.flow_hash, packet.destination, id()) % ways.size()]];
  const auto queued = [&](std::uint16_t port) { return ports_[port].queued; };
  return &ports_[paths_.choose(now, packet, ways, random(), queued)];
}

void SwitchNode::on_arrival(Instant now, std::uint16_t port, Packet& packet) {
  mutable_digest().add(now, std::uint64_t{port} << 32 | packet.wire_bytes);
  Port& in = ports_[port];
  if (packet.kind != PacketKind::roce) return on_link_frame(now, in, packet);
  Port* const out = way_of(now, packet);
  if (out == nullptr) {
    ++unroutable_;
    return packets().give_back(packet);
  }
  if (parameters_->forwarding == Forwarding::store_and_forward || may_cut_through(now, in, *out, packet))
    return enter(now, in, *out, packet);
  const std::uint32_t bytes = packet.wire_bytes;
  in.entering.push({packet.index, out->number});
  set_timer(now + time_on_link(port, bytes) - time_on_link(port, std::min(bytes, kHead)),
            timer(port, kWhole));
}

bool SwitchNode::may_cut_through(Instant now, const Port& in, const Port& out, const Packet& packet) const {
  // Nothing that came in before it still waits: frames of a port stay in order.
  return in.entering.is_empty() && rate_of(out.number) <= rate_of(in.number) && out.free_at <= now &&
         out.waiting == 0 && out.control.is_empty() &&
         out.gate.may_send(now, in.priority_of(packet.dscp), packet.wire_bytes);
}

void SwitchNode::on_whole(Instant now, Port& in) {
  const Port::Entering entering = in.entering.front();
  in.entering.pop();
  Packet& packet = packets()[entering.packet];
  if (is_up(in.number)) return enter(now, in, ports_[entering.egress], packet);
  ++in.counters.link_drops;
  packets().give_back(packet);
}

void SwitchNode::enter(Instant now, Port& in, Port& out, Packet& packet) {
  const Priority priority = in.priority_of(packet.dscp);
  if (ports_down_ > 0 && !is_up(out.number)) {
    ++out.counters.link_drops;
    return packets().give_back(packet);
  }
  if (out.in_storm(priority) && parameters_->watchdog->action == WatchdogParameters::Action::drop) {
    ++out.counters.watchdog_drops;
    return packets().give_back(packet);
  }
  if (!ingress_.admit(in.number, priority, packet.wire_bytes)) {
    ++in.counters.drops[index_of(priority)];
    if (parameters_->ingress.lossless.contains(priority)) ++lossless_drops_;
    return packets().give_back(packet);
  }
  enqueue(now, in, out, priority, packet);
  if (parameters_->ingress.lossless.contains(priority)) tell(now, in.number, priority);
  transmit(now, out);
}

void SwitchNode::enqueue(Instant now, Port& in, Port& out, Priority priority, Packet& packet) {
  out.queued_from[in.number] += static_cast<std::int32_t>(packet.wire_bytes);
  packet.ingress_port = in.number;
  packet.ingress_priority = static_cast<std::uint8_t>(priority.value());
  ++packet.hops;
  PacketQueue& queue = out.queues[index_of(priority)];
  if (marks_at_ == MarkAt::enqueue) mark(out, priority, queue.bytes, packet);
  queue.push(packets(), packet);
  out.waiting = static_cast<std::uint8_t>(out.waiting | 1U << priority.value());
  change_length(now, out, packet.wire_bytes);
}

void SwitchNode::on_link_frame(Instant now, Port& port, Packet& packet) {
  const LinkMessage message = packets().body(packet).link();
  const PacketKind kind = packet.kind;
  packets().give_back(packet);
  if (kind == PacketKind::credit) {
    port.gate.on_message(now, kind, message);
    return transmit(now, port);
  }
  const LinkFrame frame{.message = message};
  for (const Priority priority : message.pause.enabled.members()) {
    if (frame.is_xoff(priority)) ++port.counters.pauses_received[index_of(priority)];
  }
  port.effects.push(message.pause);
  set_timer(now + parameters_->pause_reaction, timer(port.number, kEffect));
}

void SwitchNode::transmit(Instant now, Port& port) {
  if (port.waiting == 0 && port.control.is_empty()) return;
  if (port.free_at > now) return wake_port(port.number, port.free_at);
  if (ports_down_ > 0 && !is_up(port.number)) return;
  if (!port.control.is_empty()) {
    Packet& packet = port.control.pop(packets());
    port.free_at = send(now, port.number, packet);
  } else if (const auto priority = choose(port, now)) {
    leave(now, port, *priority);
  } else {
    Instant soonest = Instant::never();
    for (int i = 0; i < Priority::kCount; ++i) {
      if ((port.waiting >> i & 1) != 0) soonest = std::min(soonest, port.gate.on_blocked(now, Priority(i)));
    }
    return wake_port(port.number, soonest);
  }
  if (port.waiting != 0 || !port.control.is_empty()) wake_port(port.number, port.free_at);
}

std::optional<Priority> SwitchNode::choose(Port& port, Instant now) {
  std::uint8_t ready = 0;
  for (std::uint8_t left = port.waiting; left != 0; left = static_cast<std::uint8_t>(left & (left - 1))) {
    const Priority p(std::countr_zero(left));
    const std::uint32_t bytes = packet(port.queues[index_of(p)].head).wire_bytes;
    if (port.gate.may_send(now, p, bytes) || port.in_storm(p))
      ready = static_cast<std::uint8_t>(ready | 1U << p.value());
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

Packet& SwitchNode::take_first(Instant now, Port& port, Priority priority) {
  PacketQueue& queue = port.queues[index_of(priority)];
  Packet& packet = queue.pop(packets());
  if (queue.is_empty()) port.waiting = static_cast<std::uint8_t>(port.waiting & ~(1U << priority.value()));
  change_length(now, port, -std::int64_t{packet.wire_bytes});
  port.queued_from[packet.ingress_port] -= static_cast<std::int32_t>(packet.wire_bytes);
  ingress_.release(packet.ingress_port, Priority(packet.ingress_priority), packet.wire_bytes);
  return packet;
}

void SwitchNode::leave(Instant now, Port& port, Priority priority) {
  Packet& packet = take_first(now, port, priority);
  // From here on it belongs to the peer's end of the link.
  const std::uint16_t ingress = packet.ingress_port;
  const Priority ingress_priority(packet.ingress_priority);
  if (marks_at_ == MarkAt::dequeue) mark(port, priority, port.queues[index_of(priority)].bytes, packet);
  port.gate.on_sent(priority, packet.wire_bytes);
  ++port.counters.packets[index_of(priority)];
  port.free_at = send(now, port.number, packet);
  if (ingress_.is_lossless(ingress_priority)) tell(now, ingress, ingress_priority);
}

std::uint64_t SwitchNode::flush(Instant now, Port& port, Priority priority) {
  std::uint64_t count = 0;
  while (!port.queues[index_of(priority)].is_empty()) {
    Packet& packet = take_first(now, port, priority);
    const std::uint16_t ingress = packet.ingress_port;
    const Priority ingress_priority(packet.ingress_priority);
    packets().give_back(packet);
    if (ingress_.is_lossless(ingress_priority)) tell(now, ingress, ingress_priority);
    ++count;
  }
  return count;
}

void SwitchNode::mark(Port& out, Priority priority, std::int64_t bytes, Packet& packet) {
  // Below the curve nothing is drawn.
  if (Bytes(bytes) < out.marks_from || !parameters_->marked.contains(priority)) return;
  const bool is_marked = marks_at_ == MarkAt::enqueue
                             ? out.point.on_enqueue(Bytes(bytes), packet.ecn, random().next())
                             : out.point.on_dequeue(Bytes(bytes), packet.ecn, random().next());
  if (!is_marked) return;
  packet.ecn = Ecn::ce;
  ++out.counters.marked[index_of(priority)];
}

void SwitchNode::tell(Instant now, std::uint16_t ingress, Priority priority) {
  const auto frame = ingress_.tell(now, ingress, priority);
  if (!frame) return;
  if (frame->is_xoff(priority)) note_reason(now, ingress, priority);
  send_link_frame(now, ports_[ingress], *frame);
  refresh_in_time(ports_[ingress]);
}

void SwitchNode::note_reason(Instant now, std::uint16_t ingress, Priority priority) {
  const auto most =
      std::ranges::max_element(ports_, {}, [&](const Port& p) { return p.queued_from[ingress]; });
  XoffCount& count = xoff_reasons_[{ingress, static_cast<std::uint8_t>(priority.value()), most->number}];
  ++count.xoffs;
  if (most->gate.is_held(now, priority)) ++count.held;
}

void SwitchNode::refresh_in_time(Port& port) {
  if (ingress_.next_timer(port.number) >= port.refresh) return;
  port.refresh = ingress_.next_timer(port.number);
  set_timer(port.refresh, timer(port.number, kRefresh));
}

void SwitchNode::send_link_frame(Instant now, Port& port, const LinkFrame& frame) {
  if (!is_up(port.number)) return;
  Packet& packet = packets().take();
  packet.kind = frame.kind;
  packet.wire_bytes = frame.wire_bytes();
  packets().body(packet).set_link(frame.message);
  for (const Priority priority : frame.message.pause.enabled.members()) {
    if (frame.is_xoff(priority)) ++port.counters.pauses_sent[index_of(priority)];
  }
  port.control.push(packets(), packet);
  transmit(now, port);
}

bool SwitchNode::is_stuck(Instant now, std::uint16_t port, Priority p) const {
  return !ports_[port].queues[index_of(p)].is_empty() && ports_[port].gate.is_held(now, p);
}

bool SwitchNode::holds_from(std::uint16_t port, Priority p, std::uint16_t ingress) const {
  for (PacketIndex i = ports_[port].queues[index_of(p)].head; i != kNoPacket; i = packet(i).next) {
    if (packet(i).ingress_port == ingress) return true;
  }
  return false;
}

}  // namespace rocetune::fabric
