// The shapes of topology.h.
#include <numeric>

#include "dataplane/fabric/topology.h"

namespace rocetune::fabric {
namespace {

// Every leaf from `leaf` on to every spine from `spine` on.
void join(Topology& out, std::uint32_t leaf, std::uint32_t leaves, std::uint32_t spine, std::uint32_t spines,
          BitRate rate, Duration delay) {
  for (std::uint32_t i = 0; i < leaves; ++i) {
    for (std::uint32_t j = 0; j < spines; ++j)
      out.links.push_back({out.switch_id(leaf + i), out.switch_id(spine + j), rate, delay});
  }
}

// Hosts in order to switches in order, so many each.
void join_hosts(Topology& out, std::uint32_t hosts_per_switch, BitRate rate, Duration delay) {
  for (NodeId host = 0; host < out.hosts; ++host)
    out.links.push_back({host, out.switch_id(host / hosts_per_switch), rate, delay});
}

}  // namespace

Topology star(std::uint32_t hosts, BitRate rate, Duration delay) {
  Topology out{.hosts = hosts, .switches = 1, .links = {}};
  join_hosts(out, hosts, rate, delay);
  return out;
}

Topology dumbbell(const DumbbellShape& shape) {
  Topology out{.hosts = shape.hosts_left + shape.hosts_right, .switches = 2, .links = {}};
  for (NodeId host = 0; host < out.hosts; ++host) {
    out.links.push_back({host, out.switch_id(host < shape.hosts_left ? 0 : 1), shape.host_rate, shape.delay});
  }
  out.links.push_back({out.switch_id(0), out.switch_id(1), shape.bottleneck_rate, shape.bottleneck_delay});
  return out;
}

Topology leaf_spine(std::uint32_t leaves, std::uint32_t spines, std::uint32_t hosts_per_leaf,
                    BitRate host_rate, BitRate spine_rate, Duration delay) {
  Topology out{.hosts = leaves * hosts_per_leaf, .switches = leaves + spines, .links = {}};
  join_hosts(out, hosts_per_leaf, host_rate, delay);
  join(out, 0, leaves, leaves, spines, spine_rate, delay);
  return out;
}

Topology fat_tree(const FatTreeShape& shape) {
  ROCETUNE_ASSERT(shape.aggregations_per_pod > 0 && shape.cores % shape.aggregations_per_pod == 0);
  const std::uint32_t tors = shape.pods * shape.tors_per_pod;
  const std::uint32_t aggregations = shape.pods * shape.aggregations_per_pod;
  const std::uint32_t cores_each = shape.cores / shape.aggregations_per_pod;
  Topology out{
      .hosts = tors * shape.hosts_per_tor, .switches = tors + aggregations + shape.cores, .links = {}};
  join_hosts(out, shape.hosts_per_tor, shape.host_rate, shape.delay);
  for (std::uint32_t pod = 0; pod < shape.pods; ++pod) {
    const std::uint32_t first = tors + pod * shape.aggregations_per_pod;
    join(out, pod * shape.tors_per_pod, shape.tors_per_pod, first, shape.aggregations_per_pod, shape.tor_rate,
         shape.delay);
    for (std::uint32_t j = 0; j < shape.aggregations_per_pod; ++j) {
      join(out, first + j, 1, tors + aggregations + j * cores_each, cores_each, shape.core_rate, shape.delay);
    }
  }
  return out;
}

FatTreeShape FatTreeShape::of_ports(std::uint32_t k, BitRate rate, Duration delay) {
  ROCETUNE_ASSERT(k >= 2 && k % 2 == 0);
  const std::uint32_t half = k / 2;
  return {.pods = k,
          .tors_per_pod = half,
          .aggregations_per_pod = half,
          .cores = half * half,
          .hosts_per_tor = half,
          .host_rate = rate,
          .tor_rate = rate,
          .core_rate = rate,
          .delay = delay};
}

Topology rail_optimised(const RailShape& shape) {
  ROCETUNE_ASSERT(shape.servers_per_group > 0 && shape.servers % shape.servers_per_group == 0);
  const std::uint32_t leaves = shape.servers / shape.servers_per_group * shape.rails;
  Topology out{.hosts = shape.servers * shape.rails, .switches = leaves + shape.spines, .links = {}};
  for (NodeId host = 0; host < out.hosts; ++host) {
    const std::uint32_t group = host / shape.rails / shape.servers_per_group;
    out.links.push_back(
        {host, out.switch_id(group * shape.rails + host % shape.rails), shape.host_rate, shape.delay});
  }
  join(out, 0, leaves, leaves, shape.spines, shape.spine_rate, shape.delay);
  return out;
}

Topology dual_plane(const DualPlaneShape& shape) {
  const std::uint32_t plane = shape.leaves + shape.spines;
  const std::uint32_t servers = shape.leaves * shape.servers_per_leaf;
  Topology out{.hosts = 2 * servers, .switches = 2 * plane, .links = {}};
  for (NodeId host = 0; host < out.hosts; ++host) {
    const std::uint32_t leaf = host / 2 / shape.servers_per_leaf;
    out.links.push_back({host, out.switch_id(host % 2 * plane + leaf), shape.host_rate, shape.delay});
  }
  for (const std::uint32_t first : {0U, plane})
    join(out, first, shape.leaves, first + shape.leaves, shape.spines, shape.spine_rate, shape.delay);
  return out;
}

Topology dragonfly_plus(const DragonflyShape& shape) {
  const std::uint32_t peers = shape.groups - 1;  // of a group
  ROCETUNE_ASSERT(shape.groups >= 2 && shape.spines_per_group * shape.global_links % peers == 0);
  const std::uint32_t group = shape.leaves_per_group + shape.spines_per_group;
  Topology out{.hosts = shape.groups * shape.leaves_per_group * shape.hosts_per_leaf,
               .switches = shape.groups * group,
               .links = {}};
  for (NodeId host = 0; host < out.hosts; ++host) {
    const std::uint32_t leaf = host / shape.hosts_per_leaf;
    const std::uint32_t at = leaf / shape.leaves_per_group * group + leaf % shape.leaves_per_group;
    out.links.push_back({host, out.switch_id(at), shape.host_rate, shape.delay});
  }
  for (std::uint32_t g = 0; g < shape.groups; ++g) {
    join(out, g * group, shape.leaves_per_group, g * group + shape.leaves_per_group, shape.spines_per_group,
         shape.spine_rate, shape.delay);
  }
  // A group's global links have slots: those to the groups after it, in order, then the same again. Slots go
  // round the spines; whenever that repeats itself, one spine further, so that the links of a pair of groups
  // end at different spines.
  const std::uint32_t period = std::lcm(peers, shape.spines_per_group);
  const auto spine = [&](std::uint32_t g, std::uint32_t slot) {
    return out.switch_id(g * group + shape.leaves_per_group +
                         (slot + slot / period) % shape.spines_per_group);
  };
  const std::uint32_t copies = shape.spines_per_group * shape.global_links / peers;
  for (std::uint32_t a = 0; a < shape.groups; ++a) {
    for (std::uint32_t b = a + 1; b < shape.groups; ++b) {
      const std::uint32_t there = b - a - 1;
      for (std::uint32_t copy = 0; copy < copies; ++copy) {
        out.links.push_back({spine(a, copy * peers + there), spine(b, copy * peers + peers - 1 - there),
                             shape.global_rate, shape.global_delay});
      }
    }
  }
  return out;
}

Topology torus(const TorusShape& shape) {
  std::uint32_t switches = 1;
  for (const std::uint32_t dim : shape.dims) {
    ROCETUNE_ASSERT(dim >= 2);
    switches *= dim;
  }
  Topology out{.hosts = switches * shape.hosts_per_switch, .switches = switches, .links = {}};
  join_hosts(out, shape.hosts_per_switch, shape.host_rate, shape.delay);
  for (std::uint32_t at = 0; at < switches; ++at) {
    std::uint32_t stride = 1;
    for (const std::uint32_t dim : shape.dims) {
      const std::uint32_t x = at / stride % dim;
      const std::uint32_t next = at + (x + 1) % dim * stride - x * stride;
      // The second of two has the first as its next one already.
      if (dim > 2 || x == 0)
        out.links.push_back({out.switch_id(at), out.switch_id(next), shape.switch_rate, shape.delay});
      stride *= dim;
    }
  }
  return out;
}

}  // namespace rocetune::fabric
