#include "dataplane/fabric/switch_node.h"

#include <algorithm>
#include <bit>

namespace rocetune::fabric {
DscpMap dscp_map(std::span<const std::pair<Dscp, Priority>> entries) {
  DscpMap map{};
  for (const auto& [dscp, priority] : entries) map[static_cast<std::size_t>(dscp.value())] = priority;
  return map;
}

SwitchNode::Port::Port(BitRate speed, const SwitchParameters& parameters)
    : gate(speed, parameters.ingress.flow_control, parameters.ingress.lane_buffer),
      scheduler(parameters.ets) {
  dcqcn::CongestionPointParameters point = parameters.congestion_point;
  point.curve.minimum = IngressBuffer::scaled(parameters.ingress, point.curve.minimum, speed);
  point.curve.maximum = IngressBuffer::scaled(parameters.ingress, point.curve.maximum, speed);
  points.assign(Priority::kCount, dcqcn::CongestionPoint(point));
  marks_from = point.curve.minimum;
}

SwitchNode::SwitchNode(NodeId id, Lane& lane, const SwitchParameters& parameters, const RoutingTable& routes,
                       std::uint64_t seed)
    : Node(id, lane, seed),
      parameters_(&parameters),
      routes_(&routes),
      marks_at_(parameters.congestion_point.mark_at),
      paths_(parameters.spreading, parameters.flowlet_gap, static_cast<std::uint32_t>(random().next())),
      hash_(parameters.hash),
      ingress_(parameters.ingress) {
  if (parameters.watchdog) set_timer(Instant(parameters.watchdog->interval()), timer(0, kWatchdog));
}

void SwitchNode::on_port(std::uint16_t port, BitRate rate) {
  Port& added = ports_.emplace_back(rate, *parameters_);
  const auto own = parameters_->priority_of_port.find(port);
  added.priority_of = own == parameters_->priority_of_port.end() ? &parameters_->priority_of : &own->second;
  ingress_.add_port(rate);
}

void SwitchNode::plan_change(Instant at, const SwitchParameters* parameters, const RoutingTable* routes) {
  changes_.push_back({parameters, routes});
  set_timer(at, timer(changes_.size() - 1, kChange));
}

void SwitchNode::on_change(const Change& change) {
  if (change.routes != nullptr) routes_ = change.routes;
  if (change.parameters == nullptr) return;
  parameters_ = change.parameters;
  for (std::uint16_t port = 0; port < ports_.size(); ++port) {
    const auto own = parameters_->priority_of_port.find(port);
    ports_[port].priority_of =
        own == parameters_->priority_of_port.end() ? &parameters_->priority_of : &own->second;
  }
}

void SwitchNode::on_link(Instant now, std::uint16_t port) {
  ports_down_ = 0;
  for (std::uint16_t i = 0; i < ports_.size(); ++i) ports_down_ += is_up(i) ? 0 : 1;
  if (is_up(port)) return transmit(now, port);
  Port& p = ports_[port];
  for (int i = 0; i < Priority::kCount; ++i) p.counters.link_drops += flush(now, port, Priority(i));
  while (!p.control.is_empty()) packets().give_back(p.control.pop(packets()));
}

void SwitchNode::change_length(Instant now, Port& port, std::int64_t bytes) {
  port.queued += bytes;
  if (port.watch != nullptr) port.watch->on_length(now, port.queued);
}

void SwitchNode::on_timer(Instant now, std::uint32_t what) {
  const std::uint32_t which = what >> 2;
  switch (static_cast<Purpose>(what & 3)) {
    case kEffect: {
      Port& p = ports_[which];
      p.gate.on_message(now, PacketKind::pause, {.pause = p.effects.front()});
      p.effects.pop_front();
      return transmit(now, static_cast<std::uint16_t>(which));
    }
    case kRefresh: {
      const auto port = static_cast<std::uint16_t>(which);
      Port& p = ports_[port];
      if (p.refresh != now) return;
      p.refresh = Instant::never();
      if (const auto frame = ingress_.on_timer(now, port)) send_link_frame(now, port, *frame);
      return refresh_in_time(port);
    }
    case kChange:
      return on_change(changes_[which]);
    case kWatchdog:
      return look_for_storms(now);
  }
}

void SwitchNode::look_for_storms(Instant now) {
  const WatchdogParameters& watchdog = *parameters_->watchdog;
  for (std::uint16_t port = 0; port < ports_.size(); ++port) {
    Port& p = ports_[port];
    for (const Priority priority : parameters_->ingress.lossless.members()) {
      const std::uint64_t left = p.counters.packets[index_of(priority)];
      const bool is_stuck = this->is_stuck(now, port, priority) && left == p.looked_at[index_of(priority)];
      p.looked_at[index_of(priority)] = left;
      const auto change =
          p.watchdog.on_look(now, priority, is_stuck, p.gate.is_held(now, priority), watchdog);
      if (change != StormWatchdog::Change::began) continue;
      if (watchdog.action == WatchdogParameters::Action::drop) {
        p.counters.watchdog_drops += flush(now, port, priority);
      } else {
        transmit(now, port);
      }
    }
  }
  set_timer(now + watchdog.interval(), timer(0, kWatchdog));
}

std::optional<std::uint16_t> SwitchNode::way_of(Instant now, const Packet& packet) {
  std::span<const std::uint16_t> ways = routes_->ports_to(packet.destination);
  if (ports_down_ > 0) {
    live_ways_.clear();
    std::ranges::copy_if(ways, std::back_inserter(live_ways_), [&](std::uint16_t way) { return is_up(way); });
    if (!live_ways_.empty()) ways = live_ways_;
  }
  if (ways.empty()) return std::nullopt;
  if (ways.size() == 1) return ways[0];
  if (hash_ == FlowHash::hpcc)
    return ways[hpcc_hash(packet.flow_hash, packet.destination, id()) % ways.size()];
  return paths_.choose(now, packet, ways, random(), [&](std::uint16_t port) { return ports_[port].queued; });
}

void SwitchNode::on_arrival(Instant now, std::uint16_t port, PacketIndex index) {
  Packet& packet = this->packet(index);
  mutable_digest().add(now, std::uint64_t{port} << 32 | packet.wire_bytes);
  if (packet.kind != PacketKind::roce) return on_link_frame(now, port, index);
  Port& in = ports_[port];
  const Priority priority = (*in.priority_of)[static_cast<std::size_t>(packet.dscp.value())];
  const auto egress = way_of(now, packet);
  if (!egress) {
    ++unroutable_;
    return packets().give_back(index);
  }
  Port& out = ports_[*egress];
  if (ports_down_ > 0 && !is_up(*egress)) {
    ++out.counters.link_drops;
    return packets().give_back(index);
  }
  if (out.watchdog.in_storm(priority) && parameters_->watchdog->action == WatchdogParameters::Action::drop) {
    ++out.counters.watchdog_drops;
    return packets().give_back(index);
  }
  if (!ingress_.admit(port, priority, packet.wire_bytes)) {
    ++in.counters.drops[index_of(priority)];
    if (parameters_->ingress.lossless.contains(priority)) ++lossless_drops_;
    return packets().give_back(index);
  }
  crossing_[port * ports_.size() + *egress] += static_cast<std::int32_t>(packet.wire_bytes);
  packet.ingress_port = port;
  packet.ingress_priority = static_cast<std::uint8_t>(priority.value());
  ++packet.hops;
  PacketQueue& queue = out.queues[index_of(priority)];
  if (marks_at_ == MarkAt::enqueue) mark(out, priority, queue.bytes, packet);
  queue.push(packets(), index);
  out.waiting = static_cast<std::uint8_t>(out.waiting | 1U << priority.value());
  change_length(now, out, packet.wire_bytes);
  if (parameters_->ingress.lossless.contains(priority)) tell(now, port, priority);
  transmit(now, *egress);
}

void SwitchNode::on_link_frame(Instant now, std::uint16_t port, PacketIndex index) {
  Port& p = ports_[port];
  const LinkMessage message = packets().body(index).link;
  const PacketKind kind = packet(index).kind;
  packets().give_back(index);
  if (kind == PacketKind::credit) {
    p.gate.on_message(now, kind, message);
    return transmit(now, port);
  }
  const LinkFrame frame{.message = message};
  for (const Priority priority : message.pause.enabled.members()) {
    if (frame.is_xoff(priority)) ++p.counters.pauses_received[index_of(priority)];
  }
  p.effects.push_back(message.pause);
  set_timer(now + parameters_->pause_reaction, timer(port, kEffect));
}

void SwitchNode::transmit(Instant now, std::uint16_t port) {
  Port& p = ports_[port];
  if (p.waiting == 0 && p.control.is_empty()) return;
  if (p.free_at > now) return wake_port(port, p.free_at);
  if (ports_down_ > 0 && !is_up(port)) return;
  if (!p.control.is_empty()) {
    p.free_at = send(now, port, p.control.pop(packets()));
  } else if (const auto priority = choose(p, now)) {
    leave(now, port, *priority);
  } else {
    Instant soonest = Instant::never();
    for (int i = 0; i < Priority::kCount; ++i) {
      if ((p.waiting >> i & 1) != 0) soonest = std::min(soonest, p.gate.on_blocked(now, Priority(i)));
    }
    return wake_port(port, soonest);
  }
  if (p.waiting != 0 || !p.control.is_empty()) wake_port(port, p.free_at);
}

std::optional<Priority> SwitchNode::choose(Port& port, Instant now) {
  std::uint8_t ready = 0;
  for (std::uint8_t left = port.waiting; left != 0; left = static_cast<std::uint8_t>(left & (left - 1))) {
    const Priority p(std::countr_zero(left));
    const std::uint32_t bytes = packet(port.queues[index_of(p)].head).wire_bytes;
    if (port.gate.may_send(now, p, bytes) || port.watchdog.in_storm(p))
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

PacketIndex SwitchNode::take_first(Instant now, std::uint16_t port, Priority priority) {
  Port& out = ports_[port];
  PacketQueue& queue = out.queues[index_of(priority)];
  const PacketIndex index = queue.pop(packets());
  if (queue.is_empty()) out.waiting = static_cast<std::uint8_t>(out.waiting & ~(1U << priority.value()));
  const Packet& packet = this->packet(index);
  change_length(now, out, -std::int64_t{packet.wire_bytes});
  crossing_[packet.ingress_port * ports_.size() + port] -= static_cast<std::int32_t>(packet.wire_bytes);
  ingress_.release(packet.ingress_port, Priority(packet.ingress_priority), packet.wire_bytes);
  return index;
}

void SwitchNode::leave(Instant now, std::uint16_t port, Priority priority) {
  Port& out = ports_[port];
  const PacketIndex index = take_first(now, port, priority);
  Packet& packet = this->packet(index);
  const std::uint16_t ingress = packet.ingress_port;
  const Priority ingress_priority(packet.ingress_priority);
  if (marks_at_ == MarkAt::dequeue) mark(out, priority, out.queues[index_of(priority)].bytes, packet);
  out.gate.on_sent(priority, packet.wire_bytes);
  ++out.counters.packets[index_of(priority)];
  out.free_at = send(now, port, index);
  if (ingress_.is_lossless(ingress_priority)) tell(now, ingress, ingress_priority);
}

std::uint64_t SwitchNode::flush(Instant now, std::uint16_t port, Priority priority) {
  std::uint64_t count = 0;
  while (!ports_[port].queues[index_of(priority)].is_empty()) {
    const PacketIndex index = take_first(now, port, priority);
    const std::uint16_t ingress = packet(index).ingress_port;
    const Priority ingress_priority(packet(index).ingress_priority);
    packets().give_back(index);
    if (ingress_.is_lossless(ingress_priority)) tell(now, ingress, ingress_priority);
    ++count;
  }
  return count;
}

void SwitchNode::mark(Port& out, Priority priority, std::int64_t bytes, Packet& packet) {
  // Below the curve nothing is drawn.
  if (Bytes(bytes) < out.marks_from || !parameters_->marked.contains(priority)) return;
  dcqcn::CongestionPoint& point = out.points[index_of(priority)];
  const bool is_marked = marks_at_ == MarkAt::enqueue
                             ? point.on_enqueue(Bytes(bytes), packet.ecn, random().next())
                             : point.on_dequeue(Bytes(bytes), packet.ecn, random().next());
  if (!is_marked) return;
  packet.ecn = Ecn::ce;
  ++out.counters.marked[index_of(priority)];
}

void SwitchNode::tell(Instant now, std::uint16_t port, Priority priority) {
  const auto frame = ingress_.tell(now, port, priority);
  if (!frame) return;
  if (frame->is_xoff(priority)) note_reason(now, port, priority);
  send_link_frame(now, port, *frame);
  refresh_in_time(port);
}

void SwitchNode::note_reason(Instant now, std::uint16_t ingress, Priority priority) {
  const auto first = crossing_.begin() + static_cast<std::ptrdiff_t>(ingress * ports_.size());
  const auto most = std::max_element(first, first + static_cast<std::ptrdiff_t>(ports_.size()));
  const auto egress = static_cast<std::uint16_t>(most - first);
  XoffCount& count = xoff_reasons_[{ingress, static_cast<std::uint8_t>(priority.value()), egress}];
  ++count.xoffs;
  if (ports_[egress].gate.is_held(now, priority)) ++count.held;
}

void SwitchNode::refresh_in_time(std::uint16_t port) {
  Port& p = ports_[port];
  if (ingress_.next_timer(port) >= p.refresh) return;
  p.refresh = ingress_.next_timer(port);
  set_timer(p.refresh, timer(port, kRefresh));
}

void SwitchNode::send_link_frame(Instant now, std::uint16_t port, const LinkFrame& frame) {
  Port& p = ports_[port];
  if (!is_up(port)) return;
  const PacketIndex index = packets().take();
  Packet& packet = this->packet(index);
  packet.kind = frame.kind;
  packet.wire_bytes = frame.wire_bytes();
  packets().body(index).link = frame.message;
  for (const Priority priority : frame.message.pause.enabled.members()) {
    if (frame.is_xoff(priority)) ++p.counters.pauses_sent[index_of(priority)];
  }
  p.control.push(packets(), index);
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
