#include "dataplane/fabric/node.h"

#include <algorithm>

namespace rocetune::fabric {

Node::Out Node::out_of(Pipe& pipe, std::size_t peer_lane, BitRate rate) {
  constexpr std::int64_t kPicosecondsOfABit = 1'000'000'000'000;
  const bool is_whole = 8 * kPicosecondsOfABit % rate.count() == 0;
  return {&pipe, peer_lane, rate, is_whole ? 8 * kPicosecondsOfABit / rate.count() : 0};
}

void Node::reserve_ports(std::size_t count) {
  ins_.reserve(count);
  losses_.reserve(count);
  outs_.reserve(count);
}

void Node::add_port(Pipe& in, Pipe& out, std::size_t peer_lane, BitRate rate) {
  ins_.push_back(&in);
  losses_.push_back(in.loss());
  is_lossy_ |= !in.loss().is_zero();
  outs_.push_back(out_of(out, peer_lane, rate));
  on_port(static_cast<std::uint16_t>(ins_.size() - 1), rate);
}

void Node::set_bit_errors(std::uint16_t port, BitErrorRate rate) {
  bit_errors_.resize(ports());
  bit_errors_[port] = rate;
  is_lossy_ = true;
}

void Node::plan(std::uint16_t port, const LinkChange& change) {
  planned_.push_back({port, change});
  timers_.push({change.at, sequence_++, kLinkTimer | static_cast<std::uint32_t>(planned_.size() - 1)});
}

void Node::change_link(Instant now, const Planned& planned) {
  Out& out = outs_[planned.port];
  switch (planned.change.kind) {
    case LinkChange::Kind::down:
      link_downs_ += out.is_up ? 1 : 0;
      out.is_up = false;
      is_lossy_ = true;
      break;
    case LinkChange::Kind::up:
      out.is_up = true;
      break;
    case LinkChange::Kind::rate: {
      const Out before = out;
      out = out_of(*out.pipe, out.peer_lane, planned.change.rate);
      out.is_up = before.is_up;
      out.announces_heads = before.announces_heads;
      break;
    }
    case LinkChange::Kind::loss:
      losses_[planned.port] = planned.change.loss;
      is_lossy_ = true;
      return;
  }
  on_link(now, planned.port);
}

void Node::start() {
  due_.resize(2 * ins_.size());
  on_start();
}

bool Node::is_lost(std::uint16_t port, const Packet& packet) {
  if (!outs_[port].is_up || random_.happens(losses_[port])) return true;
  return port < bit_errors_.size() && !bit_errors_[port].is_zero() &&
         bit_errors_[port].spoils(packet.wire_bytes, random_.next());
}

void Node::arrive(Instant now, std::uint16_t port, Packet& packet) {
  if (is_lossy_ && is_lost(port, packet)) {
    ++lost_frames_;
    lost_by_chance_ += outs_[port].is_up ? 1 : 0;
    digest_.add(now, std::uint64_t{port} << 32 | 1U << 31 | packet.wire_bytes);
    return packets().give_back(packet);
  }
  on_arrival(now, port, packet);
}

void Node::run(Instant end) {
  const std::size_t ports = ins_.size();
  while (true) {
    const Instant timer = next_timer();
    const Instant now = std::min(due_.time(), timer);
    if (now >= end) return;
    ++events_;
    if (timer <= now) {
      const std::uint32_t what = timers_.top().what;
      timers_.pop();
      if ((what & kLinkTimer) != 0) {
        change_link(now, planned_[what & ~kLinkTimer]);
      } else {
        on_timer(now, what);
      }
      continue;
    }
    const std::size_t first = due_.index();
    if (first < ports) {
      due_.set(first, Instant::never());
      on_wake(now, static_cast<std::uint16_t>(first));
      continue;
    }
    Pipe& in = *ins_[first - ports];
    Packet& packet = packets()[in.take()];
    packets().prefetch(in.next_packet());
    if (opens_packets_) packets().prefetch_body(in.next_packet());
    due_.set(first, in.next());
    arrive(now, static_cast<std::uint16_t>(first - ports), packet);
  }
}

}  // namespace rocetune::fabric
