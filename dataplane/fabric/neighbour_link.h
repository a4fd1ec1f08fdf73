// A host's end of what joins the GPUs of a server: NVLink. What leaves does so one message after the other at
// its rate, what arrives comes in likewise; between them lies a switch that never holds anything up.
#pragma once

#include "dataplane/fabric/fifo.h"
#include "dataplane/fabric/packet.h"

namespace rocetune::fabric {

// Hosts that follow each other share a server: NICs, each with a GPU of its own. Their parts in jobs reach
// each other by NVLink and not by the fabric.
struct ServerParameters {
  std::uint32_t hosts = 1;             // of a server; 1: nobody shares one
  BitRate nvlink_rate;                 // of a GPU, in each direction
  Duration latency = microseconds(1);  // from the last bit there to the last bit here
  bool joins(NodeId a, NodeId b) const { return hosts > 1 && a / hosts == b / hosts; }
};

struct NeighbourMessage {
  std::uint16_t port = 0;  // towards the receiver
  std::uint32_t bytes = 0;
  std::uint32_t from_part = 0;
  std::uint32_t to_part = 0;
  std::uint32_t immediate = 0;
};

class NeighbourLink {
 public:
  void push(const NeighbourMessage& message) { waiting_.push(message); }
  bool may_send() const { return !is_sending_ && !waiting_.is_empty(); }
  // The one that leaves now, until on_sent().
  const NeighbourMessage& begin() {
    is_sending_ = true;
    return waiting_.front();
  }
  // All of it has left.
  NeighbourMessage on_sent() {
    is_sending_ = false;
    const NeighbourMessage out = waiting_.front();
    waiting_.pop();
    return out;
  }

  // The last bit of a message would be here `now`, if no other had come in meanwhile; it takes `span`.
  // Returns when it is here.
  Instant on_arrival(Instant now, Duration span, const LinkMessage& message) {
    in_free_at_ = std::max(now, in_free_at_ + span);
    arriving_.push(message);
    return in_free_at_;
  }
  LinkMessage take_arrived() {
    const LinkMessage out = arriving_.front();
    arriving_.pop();
    return out;
  }

 private:
  Fifo<NeighbourMessage> waiting_;
  bool is_sending_ = false;
  Instant in_free_at_;
  Fifo<LinkMessage> arriving_;
};

}  // namespace rocetune::fabric
