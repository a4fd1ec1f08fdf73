// What the nodes that one thread runs have in common. Nobody else touches it while a window is run, but for
// what was sent in the window before.
#pragma once

#include <array>
#include <optional>
#include <vector>

#include "dataplane/base/histogram.h"
#include "dataplane/fabric/pipe.h"

namespace rocetune::fabric {

// How long things took, in ns; right to 1.6 %.
struct Latencies {
  Histogram packets{
      6};  // of data, one-way: from a NIC that takes one from its engine to the receiver's engine
  Histogram messages{6};  // from being posted to their acknowledgement
  void merge(const Latencies& other) {
    packets.merge(other.packets);
    messages.merge(other.messages);
  }
};

struct Lane {
  Lane(PacketPages& pages, std::size_t lanes) : packets(pages), sent({Sent(lanes), Sent(lanes)}) {}
  PacketPool packets;
  unsigned turn = 0;         // of the window that is run
  std::size_t finished = 0;  // flows and ranks
  // By turn, by the receiver's lane: pipes with something new in them, and when the first of it arrives.
  using Sent = std::vector<std::vector<Pipe*>>;
  std::array<Sent, 2> sent;
  Instant first_arrival = Instant::never();
  std::optional<Latencies> latencies;  // where somebody asks for them
  Instant next = Instant::never();     // when one of its nodes has something to do that it knows of
};

}  // namespace rocetune::fabric
