// Which of several shortest paths a packet takes.
#pragma once

#include <span>
#include <vector>

#include "dataplane/base/random.h"
#include "dataplane/fabric/packet.h"

namespace rocetune::fabric {

enum class Spreading : std::uint8_t {
  flow,  // by a hash of addresses and UDP ports: ECMP. A flow stays in order, and may share a link for life
  flowlet,   // the same, but a flow that was silent for a while may choose again
  packet,    // each packet by chance: even load, packets overtake each other
  adaptive,  // each packet to the shortest queue, as adaptive routing in InfiniBand and newer switches does
};

class PathChoice {
 public:
  PathChoice(Spreading how, Duration flowlet_gap, std::uint32_t seed)
      : how_(how), gap_(flowlet_gap), seed_(seed), flowlets_(how == Spreading::flowlet ? kFlowlets : 0) {}

  // One of `ways`, of which there are at least two. `queued(port)`: bytes that wait there.
  template <class Queued>
  std::uint16_t choose(Instant now, const Packet& packet, std::span<const std::uint16_t> ways, Random& random,
                       const Queued& queued) {
    const auto count = static_cast<std::uint32_t>(ways.size());
    switch (how_) {
      case Spreading::flow:
        break;
      case Spreading::flowlet:
        return ways[flowlet(now, packet, random) % count];
      case Spreading::packet:
        return ways[random.below(count)];
      case Spreading::adaptive: {
        // From a place by chance on, so that equally empty ones share.
        const auto first = static_cast<std::uint32_t>(random.below(count));
        std::uint16_t best = ways[first];
        for (std::uint32_t i = 1; i < count; ++i) {
          const std::uint16_t way = ways[(first + i) % count];
          if (queued(way) < queued(best)) best = way;
        }
        return best;
      }
    }
    return ways[mix(packet.flow_hash, seed_) % count];
  }

 private:
  static constexpr std::size_t kFlowlets = 4096;
  struct Flowlet {
    Instant last = Instant::never();
    std::uint32_t choice = 0;
  };
  std::uint32_t flowlet(Instant now, const Packet& packet, Random& random) {
    Flowlet& f = flowlets_[mix(packet.flow_hash, seed_) % kFlowlets];
    if (f.last == Instant::never() || now - f.last > gap_)
      f.choice = static_cast<std::uint32_t>(random.next());
    f.last = now;
    return f.choice;
  }
  // The flow's hash with the switch's own seed, so that two tiers do not choose alike.
  static std::uint32_t mix(std::uint32_t hash, std::uint32_t seed) {
    hash = (hash ^ seed) * 0x7FEB352DU;
    hash = (hash ^ hash >> 15) * 0x846CA68BU;
    return hash ^ hash >> 16;
  }

  Spreading how_;
  Duration gap_;
  std::uint32_t seed_;
  std::vector<Flowlet> flowlets_;
};

}  // namespace rocetune::fabric
