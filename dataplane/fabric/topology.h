// Who is connected to whom: hosts first, then switches, then links in order. The order of links decides the
// numbers of ports.
#pragma once

#include <vector>

#include "congestion/units.h"
#include "dataplane/base/error.h"
#include "dataplane/fabric/routing.h"

namespace rocetune::fabric {

struct LinkSpec {
  NodeId a = 0;
  NodeId b = 0;
  BitRate rate{gigabits_per_second(100)};
  Duration delay = microseconds(1);  // one way
  Ratio loss;                        // of frames, in each direction
};

struct Topology {
  std::uint32_t hosts = 0;
  std::uint32_t switches = 0;
  std::vector<LinkSpec> links;
  NodeId switch_id(std::uint32_t index) const { return hosts + index; }
  bool is_host(NodeId node) const { return node < hosts; }
};

// Error (bad_input): a link of a node that is not there, of a node to itself, or without rate or delay; a
// host that has not exactly one link, to a switch.
Expected<> check(const Topology& topology);

// As routing sees it; links of which `is_down` says so (if it is given) lead nowhere, and keep their ports.
Graph graph_of(const Topology& topology, const std::vector<bool>& is_down = {});

// Every host on one switch.
Topology star(std::uint32_t hosts, BitRate rate, Duration delay);
// Three tiers of k-port switches (k even): k^3/4 hosts, k pods of k/2 edge and k/2 aggregation switches,
// k^2/4 cores; aggregation switch j of a pod reaches cores j*k/2 to j*k/2 + k/2 - 1. Source: Al-Fares et al.,
// SIGCOMM 2008.
Topology fat_tree(std::uint32_t k, BitRate rate, Duration delay);
// `leaves` leaf switches of `hosts_per_leaf`, each with one link to each of `spines`.
Topology leaf_spine(std::uint32_t leaves, std::uint32_t spines, std::uint32_t hosts_per_leaf,
                    BitRate host_rate, BitRate spine_rate, Duration delay);

}  // namespace rocetune::fabric
