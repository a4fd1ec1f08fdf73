// What routing makes of a topology between two hosts.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>

#include "dataplane/fabric/routing.h"
#include "dataplane/fabric/topology.h"

namespace rocetune::fabric {

struct Ways {
  int switches = 0;         // on each of them; 0: there is no way
  std::uint64_t count = 0;  // different ones
  bool operator==(const Ways&) const = default;
};

class Walker {
 public:
  explicit Walker(const Topology& topology) : graph_(graph_of(topology)), routes_(graph_) {}

  // Follows every choice of every switch. Ways of different length, or past where they should end, count as
  // none.
  Ways between(NodeId from, NodeId to) const {
    std::map<NodeId, std::uint64_t> here{{graph_.nodes[from].peers[0], 1}};
    for (int switches = 1; switches < 64; ++switches) {
      std::map<NodeId, std::uint64_t> next;
      for (const auto& [node, ways] : here) {
        if (graph_.nodes[node].is_host) return {};
        for (const std::uint16_t port : routes_.of(node).ports_to(to))
          next[graph_.nodes[node].peers[port]] += ways;
      }
      if (next.empty()) return {};
      if (next.size() == 1 && next.begin()->first == to) return {switches, next.begin()->second};
      here = std::move(next);
    }
    return {};
  }
  // The longest of all shortest ways, in switches.
  int diameter() const {
    int longest = 0;
    for (NodeId from = 0; graph_.nodes[from].is_host; ++from) {
      for (NodeId to = 0; graph_.nodes[to].is_host; ++to) {
        if (from != to) longest = std::max(longest, between(from, to).switches);
      }
    }
    return longest;
  }
  // Whether every host has a way to every other one.
  bool is_connected() const {
    for (NodeId from = 0; graph_.nodes[from].is_host; ++from) {
      for (NodeId to = 0; graph_.nodes[to].is_host; ++to) {
        if (from != to && between(from, to).count == 0) return false;
      }
    }
    return true;
  }

 private:
  Graph graph_;
  Routes routes_;
};

}  // namespace rocetune::fabric
