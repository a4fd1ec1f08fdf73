#include "dataplane/fabric/routing.h"

#include <algorithm>

namespace rocetune::fabric {

// Numbers leaves in order of their nodes; returns them.
std::vector<NodeId> Routes::place_hosts(const Graph& graph) {
  places_.leaf.assign(graph.nodes.size(), RoutingTable::kNone);
  places_.index.assign(graph.nodes.size(), 0);
  std::vector<NodeId> leaves;
  for (NodeId node = 0; node < graph.nodes.size(); ++node) {
    if (graph.nodes[node].is_host) {
      ROCETUNE_ASSERT(graph.nodes[node].peers.size() == 1 &&
                      !graph.nodes[graph.nodes[node].peers[0]].is_host);
      continue;
    }
    RoutingTable& table = tables_[node];
    const std::vector<NodeId>& peers = graph.nodes[node].peers;
    for (std::uint16_t port = 0; port < peers.size(); ++port) {
      if (peers[port] == kNoNode || !graph.nodes[peers[port]].is_host) continue;
      places_.leaf[peers[port]] = static_cast<std::uint32_t>(leaves.size());
      places_.index[peers[port]] = static_cast<std::uint32_t>(table.local_.size());
      table.local_.push_back(port);
    }
    if (table.local_.empty()) continue;
    table.own_leaf_ = static_cast<std::uint32_t>(leaves.size());
    leaves.push_back(node);
  }
  return leaves;
}

// Breadth first from the leaf over switches; whoever is one step nearer is a next hop.
void Routes::add_leaf(const Graph& graph, NodeId leaf) {
  constexpr std::uint32_t kFar = 0xFFFFFFFF;
  std::vector<std::uint32_t> distance(graph.nodes.size(), kFar);
  std::vector<NodeId> order{leaf};
  distance[leaf] = 0;
  for (std::size_t at = 0; at < order.size(); ++at) {
    for (const NodeId peer : graph.nodes[order[at]].peers) {
      if (peer == kNoNode || graph.nodes[peer].is_host || distance[peer] != kFar) continue;
      distance[peer] = distance[order[at]] + 1;
      order.push_back(peer);
    }
  }
  for (NodeId node = 0; node < graph.nodes.size(); ++node) {
    if (graph.nodes[node].is_host) continue;
    RoutingTable& table = tables_[node];
    const std::vector<NodeId>& peers = graph.nodes[node].peers;
    for (std::uint16_t port = 0; node != leaf && distance[node] != kFar && port < peers.size(); ++port) {
      const NodeId peer = peers[port];
      if (peer == kNoNode || graph.nodes[peer].is_host) continue;
      if (distance[peer] + 1 == distance[node]) table.ports_.push_back(port);
    }
    table.begins_.push_back(static_cast<std::uint32_t>(table.ports_.size()));
  }
}

Routes::Routes(const Graph& graph) : tables_(graph.nodes.size()) {
  const std::vector<NodeId> leaves = place_hosts(graph);
  for (RoutingTable& table : tables_) {
    table.places_ = &places_;
    table.begins_.push_back(0);
  }
  for (const NodeId leaf : leaves) add_leaf(graph, leaf);
}

}  // namespace rocetune::fabric
