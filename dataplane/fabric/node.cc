#include "dataplane/fabric/node.h"

#include <algorithm>

namespace rocetune::fabric {

std::uint16_t Node::add_port(Pipe& in, Pipe& out, NodeId peer, BitRate rate) {
  constexpr std::int64_t kPicosecondsOfABit = 1'000'000'000'000;
  const bool is_whole = 8 * kPicosecondsOfABit % rate.count() == 0;
  ins_.push_back(&in);
  outs_.push_back({&out, peer, rate, is_whole ? 8 * kPicosecondsOfABit / rate.count() : 0});
  const auto port = static_cast<std::uint16_t>(ins_.size() - 1);
  on_port(port, rate);
  return port;
}

Instant Node::send(Instant now, std::uint16_t port, PacketIndex index) {
  const Out& out = outs_[port];
  const std::uint32_t bytes = packet(index).wire_bytes;
  const Duration span =
      out.ps_per_byte > 0 ? Duration(out.ps_per_byte * bytes) : transmission_time(Bytes(bytes), out.rate);
  const Instant end = now + span;
  out.pipe->send(end, index);
  ++packet_hops_;
  Instant& next = shared_.next[out.peer];
  next = std::min(next, end + out.pipe->delay());
  return end;
}

void Node::start() { due_.resize(2 * ins_.size()); }

void Node::run(Instant end) {
  const std::size_t ports = ins_.size();
  for (std::size_t port = 0; port < ports; ++port) {
    ins_[port]->open();
    if (ins_[port]->next() != due_[ports + port]) due_.set(ports + port, ins_[port]->next());
  }
  while (true) {
    const Instant timer = timers_.empty() ? Instant::never() : timers_.top().at;
    const Instant now = std::min(due_.time(), timer);
    if (now >= end) {
      shared_.next[id_] = now;
      return;
    }
    ++events_;
    if (timer <= now) {
      const std::uint32_t what = timers_.top().what;
      timers_.pop();
      on_timer(now, what);
      continue;
    }
    const std::size_t first = due_.index();
    if (first < ports) {
      due_.set(first, Instant::never());
      on_wake(now, static_cast<std::uint16_t>(first));
      continue;
    }
    Pipe& in = *ins_[first - ports];
    const PacketIndex index = in.take();
    if (in.next_packet() != kNoPacket) packets().prefetch(in.next_packet());
    due_.set(first, in.next());
    on_arrival(now, static_cast<std::uint16_t>(first - ports), index);
  }
}

}  // namespace rocetune::fabric
