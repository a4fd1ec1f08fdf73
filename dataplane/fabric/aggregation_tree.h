// Which switches reduce for a group of hosts, and who gives to whom: the tree that a manager of in-network
// reduction sets up before it is used (Graham et al., "Scalable Hierarchical Aggregation Protocol (SHArP)",
// COMHPC 2016, section 3).
#pragma once

#include <map>
#include <span>
#include <vector>

#include "dataplane/fabric/topology.h"
#include "dataplane/schedule/schedule.h"

namespace rocetune::fabric {

struct AggregationTree {
  // As schedule::Request has them: hosts by their place in the group, then reducers. Empty: the hosts have no
  // way to each other.
  std::vector<schedule::Rank> parents;
  std::vector<std::uint32_t> switches;  // by reducer: on which switch it is
};

class AggregationTrees {
 public:
  // Every switch knows a way to each reducer: no more switches than this.
  static constexpr std::uint32_t kMostSwitches = 1U << 12;
  // `topology` must outlive it, have passed check(), and no more than kMostSwitches.
  explicit AggregationTrees(const Topology& topology);

  // Of two or more different hosts. Its root is a switch that is nearest to all of them (the farthest counts
  // first, then the sum), the `choice`-th of those that are equally near, so that groups share them out;
  // below it lie shortest paths. Every switch on them at which two or more things meet reduces.
  AggregationTree of(std::span<const NodeId> hosts, std::uint32_t choice);

 private:
  static constexpr std::uint32_t kFar = 0xFFFFFFFF;
  // By switch: links between switches to `from`.
  const std::vector<std::uint32_t>& distances(NodeId from);
  NodeId root_of(std::span<const NodeId> leaves, std::uint32_t choice);

  const Topology& topology_;
  Graph graph_;
  std::map<NodeId, std::vector<std::uint32_t>> distances_;
};

}  // namespace rocetune::fabric
