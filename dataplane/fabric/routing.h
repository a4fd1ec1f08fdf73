// Which ports of a switch lead to a host by a shortest path.
#pragma once

#include <span>
#include <vector>

#include "dataplane/fabric/packet.h"

namespace rocetune::fabric {

constexpr NodeId kNoNode = 0xFFFFFFFF;

// The graph as routing sees it: nodes with their ports in order. A host has one port and passes nothing on.
struct Graph {
  struct Vertex {
    bool is_host = false;
    std::vector<NodeId> peers;  // by port; kNoNode: it leads nowhere
  };
  std::vector<Vertex> nodes;
};

// Every host stands behind one switch, its leaf: elsewhere all hosts of a leaf share an entry.
struct HostPlaces {
  std::vector<std::uint32_t> leaf;   // by node: number of the leaf
  std::vector<std::uint32_t> index;  // by node: which of that leaf's hosts
};

// Of one switch.
class RoutingTable {
 public:
  // Ports on shortest paths to the host, in order; none: there is no way.
  std::span<const std::uint16_t> ports_to(NodeId host) const {
    const std::uint32_t leaf = places_->leaf[host];
    if (leaf == own_leaf_) return {&local_[places_->index[host]], 1};
    const std::uint32_t* begin = begins_.data() + leaf;
    return {ports_.data() + begin[0], ports_.data() + begin[1]};
  }

 private:
  friend class Routes;
  static constexpr std::uint32_t kNone = 0xFFFFFFFF;
  const HostPlaces* places_ = nullptr;
  std::uint32_t own_leaf_ = kNone;
  std::vector<std::uint16_t> local_;   // own leaf: by index, the host's port
  std::vector<std::uint32_t> begins_;  // by leaf, and the end
  std::vector<std::uint16_t> ports_;
};

// All of them. Time in proportion to leaves x links.
class Routes {
 public:
  // Asserts that every host has one port, to a switch.
  explicit Routes(const Graph& graph);
  Routes(const Routes&) = delete;
  Routes& operator=(const Routes&) = delete;
  const RoutingTable& of(NodeId node) const { return tables_[node]; }

 private:
  std::vector<NodeId> place_hosts(const Graph& graph);
  void add_leaf(const Graph& graph, NodeId leaf);

  HostPlaces places_;
  std::vector<RoutingTable> tables_;
};

}  // namespace rocetune::fabric
