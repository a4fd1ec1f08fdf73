#include "dataplane/fabric/node.h"

#include <algorithm>

namespace rocetune::fabric {

std::uint16_t Node::add_port(Pipe& in, Pipe& out, NodeId peer, BitRate rate) {
  constexpr std::int64_t kPicosecondsOfABit = 1'000'000'000'000;
  const bool is_whole = 8 * kPicosecondsOfABit % rate.count() == 0;
  ins_.push_back(&in);
  arrivals_.push_back(Instant::never());
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

void Node::run(Instant end) {
  for (std::size_t port = 0; port < ins_.size(); ++port) {
    ins_[port]->open();
    arrivals_[port] = ins_[port]->next();
  }
  while (true) {
    const auto first = std::min_element(arrivals_.begin(), arrivals_.end());
    const Instant arrival = first == arrivals_.end() ? Instant::never() : *first;
    const Instant timer = timers_.empty() ? Instant::never() : timers_.top().at;
    const Instant now = std::min(arrival, timer);
    if (now >= end) {
      shared_.next[id_] = now;
      return;
    }
    ++events_;
    if (timer <= arrival) {
      const std::uint32_t what = timers_.top().what;
      timers_.pop();
      on_timer(now, what);
      continue;
    }
    const auto port = static_cast<std::uint16_t>(first - arrivals_.begin());
    const PacketIndex index = ins_[port]->take();
    arrivals_[port] = ins_[port]->next();
    on_arrival(now, port, index);
  }
}

}  // namespace rocetune::fabric
