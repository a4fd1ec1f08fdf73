// One direction of a link: what left one end arrives at the other after the delay, in order.
#pragma once

#include <array>
#include <vector>

#include "dataplane/fabric/fifo.h"
#include "dataplane/fabric/packet.h"

namespace rocetune::fabric {

struct Arrival {
  Instant time;
  PacketIndex packet;
};

// Windows of virtual time have turns: 0, 1, 0, 1 ... What the sender appends during one becomes visible to
// the receiver with the next, whose turn is the other one, so that the two never touch the same list at a
// time. No arrival lies in the window in which it was sent, because no window is longer than the shortest
// delay.
class Pipe {
 public:
  // Towards port `port` of node `receiver`. `loss`: of each frame.
  Pipe(Duration delay, Ratio loss, NodeId receiver, std::uint16_t port)
      : delay_(delay), loss_(loss), receiver_(receiver), port_(port) {}
  Duration delay() const { return delay_; }
  Ratio loss() const { return loss_; }
  NodeId receiver() const { return receiver_; }
  std::uint16_t port() const { return port_; }

  // By the sender: the last bit, or the last that the receiver waits for, leaves at `left`. True: it is the
  // first one of this window.
  bool send(unsigned turn, Instant left, PacketIndex packet) {
    sent_[turn].push_back({left + delay_, packet});
    return sent_[turn].size() == 1;
  }

  // By the receiver, when a window begins: what was sent in the one before.
  void open(unsigned turn_before) { waiting_.append(sent_[turn_before]); }
  Instant next() const { return waiting_.is_empty() ? Instant::never() : waiting_.front().time; }
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
  std::array<std::vector<Arrival>, 2> sent_;
  Fifo<Arrival> waiting_;
};

}  // namespace rocetune::fabric
