#include "dataplane/fabric/aggregation_tree.h"

#include <algorithm>

namespace rocetune::fabric {
namespace {

using schedule::Rank;

// The switches of one tree while it is built: what gives to each of them.
struct Branches {
  std::vector<Rank> hosts;       // by place in the group
  std::vector<NodeId> switches;  // one link further from the root
};

}  // namespace

AggregationTrees::AggregationTrees(const Topology& topology)
    : topology_(topology), graph_(graph_of(topology)) {}

const std::vector<std::uint32_t>& AggregationTrees::distances(NodeId from) {
  const auto [entry, is_new] = distances_.try_emplace(from);
  std::vector<std::uint32_t>& out = entry->second;
  if (!is_new) return out;
  const auto at = [&](NodeId node) -> std::uint32_t& { return out[node - topology_.hosts]; };
  out.assign(topology_.switches, kFar);
  at(from) = 0;
  std::vector<NodeId> order{from};
  for (std::size_t i = 0; i < order.size(); ++i) {
    for (const NodeId peer : graph_.nodes[order[i]].peers) {
      if (graph_.nodes[peer].is_host || at(peer) != kFar) continue;
      at(peer) = at(order[i]) + 1;
      order.push_back(peer);
    }
  }
  return out;
}

NodeId AggregationTrees::root_of(std::span<const NodeId> leaves, std::uint32_t choice) {
  using Distance = std::pair<std::uint32_t, std::uint64_t>;  // the farthest, the sum
  Distance best{kFar, 0};
  std::vector<NodeId> nearest;
  for (std::uint32_t i = 0; i < topology_.switches; ++i) {
    Distance distance{0, 0};
    for (const NodeId leaf : leaves) {
      const std::uint32_t one = distances(leaf)[i];
      distance = {std::max(distance.first, one), distance.second + one};
    }
    if (distance.first == kFar || distance > best) continue;
    if (distance < best) nearest.clear();
    best = distance;
    nearest.push_back(topology_.switch_id(i));
  }
  return nearest.empty() ? kNoNode : nearest[choice % nearest.size()];
}

AggregationTree AggregationTrees::of(std::span<const NodeId> hosts, std::uint32_t choice) {
  ROCETUNE_ASSERT(hosts.size() >= 2);
  std::map<NodeId, Branches> branches;
  std::vector<NodeId> leaves;
  for (Rank i = 0; i < hosts.size(); ++i) {
    const NodeId leaf = graph_.nodes[hosts[i]].peers[0];
    Branches& at = branches[leaf];
    if (at.hosts.empty()) leaves.push_back(leaf);
    at.hosts.push_back(i);
  }
  const NodeId root = root_of(leaves, choice);
  if (root == kNoNode) return {};
  const std::vector<std::uint32_t>& to_root = distances(root);
  const auto above = [&](NodeId node) { return to_root[node - topology_.hosts]; };
  // From each leaf up to where another one has been before.
  std::vector<NodeId> joined;
  for (NodeId node : leaves) {
    while (node != root && std::ranges::find(joined, node) == joined.end()) {
      joined.push_back(node);
      const std::vector<NodeId>& peers = graph_.nodes[node].peers;
      const auto next = std::ranges::find_if(
          peers, [&](NodeId peer) { return !graph_.nodes[peer].is_host && above(peer) + 1 == above(node); });
      branches[*next].switches.push_back(node);
      node = *next;
    }
  }
  std::vector<NodeId> order;  // the farthest from the root first
  for (const auto& [node, unused] : branches) order.push_back(node);
  std::ranges::stable_sort(order, std::greater<>(), above);
  AggregationTree out;
  out.parents.resize(hosts.size());
  std::map<NodeId, Rank> top;  // by switch: who has what comes from below it
  for (const NodeId node : order) {
    std::vector<Rank> below = branches[node].hosts;
    for (const NodeId child : branches[node].switches) below.push_back(top.at(child));
    top[node] = below.front();
    if (below.size() < 2) continue;
    const auto reducer = static_cast<Rank>(out.parents.size());
    for (const Rank member : below) out.parents[member] = reducer;
    out.parents.push_back(reducer);
    out.switches.push_back(node - topology_.hosts);
    top[node] = reducer;
  }
  return out;
}

}  // namespace rocetune::fabric
