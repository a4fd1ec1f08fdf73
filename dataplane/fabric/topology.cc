#include "dataplane/fabric/topology.h"

namespace rocetune::fabric {

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

Topology star(std::uint32_t hosts, BitRate rate, Duration delay) {
  Topology out{.hosts = hosts, .switches = 1, .links = {}};
  for (NodeId host = 0; host < hosts; ++host) out.links.push_back({host, out.switch_id(0), rate, delay});
  return out;
}

Topology fat_tree(std::uint32_t k, BitRate rate, Duration delay) {
  ROCETUNE_ASSERT(k >= 2 && k % 2 == 0);
  const std::uint32_t half = k / 2;
  Topology out{.hosts = k * half * half, .switches = k * k + half * half, .links = {}};
  const auto edge = [&](std::uint32_t pod, std::uint32_t i) { return out.switch_id(pod * half + i); };
  const auto aggregation = [&](std::uint32_t pod, std::uint32_t i) {
    return out.switch_id(k * half + pod * half + i);
  };
  const auto core = [&](std::uint32_t i) { return out.switch_id(k * k + i); };
  for (NodeId host = 0; host < out.hosts; ++host)
    out.links.push_back({host, edge(host / (half * half), host / half % half), rate, delay});
  for (std::uint32_t pod = 0; pod < k; ++pod) {
    for (std::uint32_t i = 0; i < half; ++i) {
      for (std::uint32_t j = 0; j < half; ++j)
        out.links.push_back({edge(pod, i), aggregation(pod, j), rate, delay});
    }
    for (std::uint32_t j = 0; j < half; ++j) {
      for (std::uint32_t c = 0; c < half; ++c)
        out.links.push_back({aggregation(pod, j), core(j * half + c), rate, delay});
    }
  }
  return out;
}

Topology leaf_spine(std::uint32_t leaves, std::uint32_t spines, std::uint32_t hosts_per_leaf,
                    BitRate host_rate, BitRate spine_rate, Duration delay) {
  Topology out{.hosts = leaves * hosts_per_leaf, .switches = leaves + spines, .links = {}};
  for (NodeId host = 0; host < out.hosts; ++host)
    out.links.push_back({host, out.switch_id(host / hosts_per_leaf), host_rate, delay});
  for (std::uint32_t leaf = 0; leaf < leaves; ++leaf) {
    for (std::uint32_t spine = 0; spine < spines; ++spine)
      out.links.push_back({out.switch_id(leaf), out.switch_id(leaves + spine), spine_rate, delay});
  }
  return out;
}

}  // namespace rocetune::fabric
