// Looks for ports that hold each other in a circle: each waits for room at the next one, which will have room
// only when its own queue moves, and so on around to the first. Source: Hu et al., "Deadlocks in Datacenter
// Networks: Why Do They Form, and How to Avoid Them", HotNets 2016 (cyclic buffer dependency).
#pragma once

#include "dataplane/fabric/far_ends.h"
#include "dataplane/fabric/network.h"
#include "dataplane/fabric/result.h"

namespace rocetune::fabric {

class DeadlockFinder {
 public:
  DeadlockFinder(const Network& network, const FarEnds& far_ends) : network_(network), far_ends_(far_ends) {}

  // A circle counts once it stood still, in every port, between two looks. Looks far apart enough that pauses
  // of ordinary congestion end between them.
  std::optional<Deadlock> look(Instant now);

 private:
  struct Seen {
    std::vector<ClassPlace> circle;
    std::vector<std::uint64_t> packets;  // that had left each
    bool operator==(const Seen&) const = default;
  };
  std::vector<ClassPlace> stuck(Instant now) const;
  std::vector<ClassPlace> circle_among(const std::vector<ClassPlace>& stuck, Instant now) const;
  // Stuck ports of the next switch whose queues hold what came from here.
  std::vector<ClassPlace> waits_for(const ClassPlace& place, Instant now) const;
  std::uint64_t packets(const ClassPlace& place) const;

  const Network& network_;
  const FarEnds& far_ends_;
  Seen seen_;
};

}  // namespace rocetune::fabric
