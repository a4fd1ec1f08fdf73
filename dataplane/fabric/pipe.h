// One direction of a link: what left one end arrives at the other after the delay, in order.
#pragma once

#include <array>
#include <vector>

#include "dataplane/fabric/fifo.h"
#include "dataplane/fabric/packet.h"

namespace rocetune::fabric {

// In twelve bytes: of most links there are some dozens.
struct Arrival {
  Arrival() = default;
  Arrival(Instant time, PacketIndex which)
      : early(static_cast<std::uint32_t>(time.since_origin().count())),
        late(static_cast<std::uint32_t>(time.since_origin().count() >> 32)),
        packet(which) {}
  Instant time() const {
    return Instant(Duration(static_cast<std::int64_t>(std::uint64_t{late} << 32 | early)));
  }
  std::uint32_t early = 0;  // halves of the time
  std::uint32_t late = 0;
  PacketIndex packet = kNoPacket;
};

// Between nodes that one thread runs it is one list. Between others windows of virtual time have turns: 0, 1,
// 0, 1 ... What the sender appends during one becomes visible to the receiver with the next, whose turn is
// the other one, so that the two never touch the same list at a time. No arrival lies in the window in which
// it was sent, because no window is longer than the shortest delay: the receiver does the same either way.
class Pipe {
 public:
  // Towards port `port` of node `receiver`. `loss`: of each frame. `is_shared`: one thread runs both ends.
  Pipe(Duration delay, Ratio loss, NodeId receiver, std::uint16_t port, bool is_shared)
      : delay_(delay),
        loss_(loss),
        receiver_(receiver),
        port_(port),
        sent_(is_shared ? nullptr : std::make_unique<Turns>()) {}
  Duration delay() const { return delay_; }
  Ratio loss() const { return loss_; }
  NodeId receiver() const { return receiver_; }
  std::uint16_t port() const { return port_; }

  // By the sender: the last bit, or the last that the receiver waits for, leaves at `left`. True: the
  // receiver has to be told, because it does not know of one before.
  bool send(unsigned turn, Instant left, PacketIndex packet) {
    const Arrival arrival(left + delay_, packet);
    if (sent_ == nullptr) {
      const bool is_first = waiting_.is_empty();
      waiting_.push(arrival);
      return is_first;
    }
    std::vector<Arrival>& sent = (*sent_)[turn];
    sent.push_back(arrival);
    return sent.size() == 1;
  }

  // By the receiver, when a window begins: what was sent in the one before.
  void open(unsigned turn_before) {
    if (sent_ == nullptr) return;
    std::vector<Arrival>& sent = (*sent_)[turn_before];
    for (const Arrival& arrival : sent) waiting_.push(arrival);
    sent.clear();
  }
  Instant next() const { return waiting_.is_empty() ? Instant::never() : waiting_.front().time(); }
  PacketIndex next_packet() const { return waiting_.is_empty() ? kNoPacket : waiting_.front().packet; }
  PacketIndex take() {
    const PacketIndex packet = waiting_.front().packet;
    waiting_.pop();
    return packet;
  }

 private:
  Duration delay_;
  Ratio loss_;
  NodeId receiver_;
  std::uint16_t port_;
  using Turns = std::array<std::vector<Arrival>, 2>;
  std::unique_ptr<Turns> sent_;  // none: one thread runs both ends
  Fifo<Arrival> waiting_;
};

}  // namespace rocetune::fabric
