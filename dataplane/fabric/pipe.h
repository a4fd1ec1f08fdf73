// One direction of a link: what left one end arrives at the other after the delay, in order.
#pragma once

#include <deque>
#include <vector>

#include "dataplane/fabric/packet.h"

namespace rocetune::fabric {

struct Arrival {
  Instant time;
  PacketIndex packet;
};

// The sender appends during a window of virtual time; what it appended becomes visible to the receiver with
// the next window. No arrival lies in the window in which it was sent, because no window is longer than the
// shortest delay.
class Pipe {
 public:
  // `loss`: of each frame.
  explicit Pipe(Duration delay, Ratio loss = Ratio(0)) : delay_(delay), loss_(loss) {}
  Duration delay() const { return delay_; }
  Ratio loss() const { return loss_; }

  // By the sender: the last bit leaves at `end`.
  void send(Instant end, PacketIndex packet) { sent_.push_back({end + delay_, packet}); }

  // By the receiver, when a window begins.
  void open() {
    for (const Arrival& arrival : sent_) waiting_.push_back(arrival);
    sent_.clear();
  }
  Instant next() const { return waiting_.empty() ? Instant::never() : waiting_.front().time; }
  PacketIndex next_packet() const { return waiting_.empty() ? kNoPacket : waiting_.front().packet; }
  PacketIndex take() {
    const PacketIndex packet = waiting_.front().packet;
    waiting_.pop_front();
    return packet;
  }

 private:
  Duration delay_;
  Ratio loss_;
  std::vector<Arrival> sent_;
  std::deque<Arrival> waiting_;
};

}  // namespace rocetune::fabric
