#include "dataplane/fabric/topology.h"

#include <fmt/core.h>

#include <algorithm>
#include <numeric>

#include "congestion/fixed_point.h"

namespace rocetune::fabric {

Duration propagation_delay(Metres length) {
  // Picoseconds: length x 10^12 / 198 x 10^6.
  return Duration((length.count() * 1'000'000 + 197) / 198);
}

std::string Topology::name_of(NodeId node) const {
  if (is_reducer(node)) return fmt::format("reducer of switch {}", reducers[node - end_hosts()]);
  return is_host(node) ? fmt::format("host {}", node) : fmt::format("switch {}", node - hosts);
}

Expected<> check(const Topology& topology) {
  const NodeId nodes = topology.hosts + topology.switches;
  std::vector<std::uint32_t> links(nodes);
  for (std::size_t i = 0; i < topology.links.size(); ++i) {
    const LinkSpec& link = topology.links[i];
    if (link.a >= nodes || link.b >= nodes || link.a == link.b)
      return fail(ErrorKind::bad_input, "link {}: found nodes {} and {}, allowed: two of {}", i, link.a,
                  link.b, nodes);
    if (link.rate <= BitRate(0) || link.delay <= Duration(0))
      return fail(ErrorKind::bad_input, "link {}: found {} and {}, allowed: a rate and a delay above 0", i,
                  to_text(link.rate), to_text(link.delay));
    if (topology.is_host(link.a) && topology.is_host(link.b))
      return fail(ErrorKind::bad_input, "link {}: found hosts {} and {}, allowed: at most one host", i,
                  link.a, link.b);
    ++links[link.a];
    ++links[link.b];
  }
  for (NodeId host = 0; host < topology.hosts; ++host) {
    if (links[host] != 1)
      return fail(ErrorKind::bad_input, "host {}: found {} links, allowed: 1", host, links[host]);
  }
  return {};
}

Topology with_reducers(const Topology& topology, std::span<const std::uint32_t> switches, Duration delay) {
  Topology out = topology;
  out.reducers.assign(switches.begin(), switches.end());
  out.hosts += static_cast<std::uint32_t>(switches.size());
  const auto moved = [&](NodeId node) {
    return topology.is_host(node) ? node : out.switch_id(node - topology.hosts);
  };
  std::vector<BitRate> rates(topology.switches);
  for (LinkSpec& link : out.links) {
    for (const NodeId end : {link.a, link.b}) {
      if (!topology.is_host(end)) rates[end - topology.hosts] += link.rate;
    }
    link.a = moved(link.a);
    link.b = moved(link.b);
  }
  for (std::uint32_t i = 0; i < switches.size(); ++i) {
    out.links.push_back({.a = topology.hosts + i,
                         .b = out.switch_id(switches[i]),
                         .rate = rates[switches[i]],
                         .delay = delay});
  }
  return out;
}

Graph graph_of(const Topology& topology, const std::vector<bool>& is_down) {
  Graph graph;
  graph.nodes.resize(topology.hosts + topology.switches);
  for (NodeId host = 0; host < topology.hosts; ++host) graph.nodes[host].is_host = true;
  for (std::size_t i = 0; i < topology.links.size(); ++i) {
    const LinkSpec& link = topology.links[i];
    const bool leads = is_down.empty() || !is_down[i];
    graph.nodes[link.a].peers.push_back(leads ? link.b : kNoNode);
    graph.nodes[link.b].peers.push_back(leads ? link.a : kNoNode);
  }
  return graph;
}

std::vector<NodeId> islands_of(const Topology& topology) {
  std::vector<NodeId> above(topology.hosts + topology.switches);
  std::iota(above.begin(), above.end(), NodeId{0});
  const auto root = [&](NodeId node) {
    while (above[node] != node) node = above[node] = above[above[node]];
    return node;
  };
  for (const LinkSpec& link : topology.links) {
    const auto [first, second] = std::minmax({root(link.a), root(link.b)});
    above[second] = first;
  }
  // What is above a node is smaller, hence already at its root.
  for (NodeId& node : above) node = above[node];
  return above;
}

std::vector<BitRate> host_rates_of(const Topology& topology) {
  std::vector<BitRate> out(topology.hosts);
  for (const LinkSpec& link : topology.links) {
    if (topology.is_host(link.a)) out[link.a] = link.rate;
    if (topology.is_host(link.b)) out[link.b] = link.rate;
  }
  return out;
}

BitRate uplink_rate(BitRate down, std::uint32_t downlinks, std::uint32_t uplinks, Oversubscription ratio) {
  return BitRate(
      mul_div(down.count(), std::int64_t{downlinks} * ratio.up, std::int64_t{uplinks} * ratio.down));
}

}  // namespace rocetune::fabric
