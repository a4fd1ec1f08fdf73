// What the nodes that one thread runs have in common. Nobody else touches it while a window is run, but for
// what was sent in the window before.
#pragma once

#include <array>
#include <optional>
#include <vector>

#include "dataplane/base/histogram.h"
#include "dataplane/fabric/pipe.h"

namespace rocetune::fabric {

struct Lane {
  Lane(PacketPages& pages, std::size_t lanes) : packets(pages), sent({Sent(lanes), Sent(lanes)}) {}
  PacketPool packets;
  unsigned turn = 0;         // of the window that is run
  std::size_t finished = 0;  // flows and ranks
  // By turn, by the receiver's lane: pipes with something new in them, and when the first of it arrives.
  using Sent = std::vector<std::vector<Pipe*>>;
  std::array<Sent, 2> sent;
  Instant first_arrival = Instant::never();
  // One-way delays of data packets in ns, where somebody asks for them (Network::measure_delays).
  std::optional<Histogram> delays;
  Instant next = Instant::never();  // when one of its nodes has something to do that it knows of
};

}  // namespace rocetune::fabric
