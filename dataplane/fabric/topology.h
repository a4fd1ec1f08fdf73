// Who is connected to whom: hosts first, then switches, then links in order. The order of links decides the
// numbers of ports: a node's first link is its port 0.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "congestion/units.h"
#include "dataplane/base/error.h"
#include "dataplane/fabric/bit_error_rate.h"
#include "dataplane/fabric/routing.h"

namespace rocetune::fabric {

// How long light takes for a cable: 198e6 m/s, in fibre as in copper, rounded up. Source: sonic-swss
// cfgmgr/buffer_headroom_mellanox.lua.
Duration propagation_delay(Metres length);

struct LinkSpec {
  NodeId a = 0;
  NodeId b = 0;
  BitRate rate{gigabits_per_second(100)};
  Duration delay = microseconds(1);  // one way
  Ratio loss;                        // of frames, in each direction
  BitErrorRate bit_errors;           // a frame with one is lost, too
  bool is_lossy() const { return !loss.is_zero() || !bit_errors.is_zero(); }
};

struct Topology {
  std::uint32_t hosts = 0;
  std::uint32_t switches = 0;
  std::vector<LinkSpec> links;
  // The last so many of `hosts` are none of the user's but reduction engines, each on this switch.
  std::vector<std::uint32_t> reducers = {};
  std::uint32_t end_hosts() const { return hosts - static_cast<std::uint32_t>(reducers.size()); }
  bool is_reducer(NodeId node) const { return node >= end_hosts() && node < hosts; }
  NodeId switch_id(std::uint32_t index) const { return hosts + index; }
  bool is_host(NodeId node) const { return node < hosts; }
  // "host 3", "switch 0": what parse_node (scenario_links.h) reads; "reducer of switch 0".
  std::string name_of(NodeId node) const;
};

// Error (bad_input): a link of a node that is not there, of a node to itself, or without rate or delay; a
// host that has not exactly one link, to a switch.
Expected<> check(const Topology& topology);

// The same with a reduction engine on each of these switches: one more host, after all others, behind a link
// of its own that takes what all links of the switch do together. Links keep their order.
Topology with_reducers(const Topology& topology, std::span<const std::uint32_t> switches, Duration delay);

// As routing sees it; links of which `is_down` says so (if it is given) lead nowhere, and keep their ports.
Graph graph_of(const Topology& topology, const std::vector<bool>& is_down = {});

// By node: the smallest node it is connected with. Hosts of one island have a way to each other, hosts of two
// have none.
std::vector<NodeId> islands_of(const Topology& topology);

// By host: the rate of its link. `topology` has passed check().
std::vector<BitRate> host_rates_of(const Topology& topology);

// ---- shapes: pure functions of their numbers ------------------------------------------------------------
//
// Every count is at least 1 where nothing else is said. Links stand in the order in which they are described;
// hosts come first, so the first ports of a switch with hosts lead to these, in order.

// How much more hosts may send into a switch than its uplinks take: "4:1" is {4, 1}.
struct Oversubscription {
  std::uint32_t down = 1;
  std::uint32_t up = 1;
};
// What each of `uplinks` has if they take `down` * `downlinks` / ratio together; rounded down to a bit a
// second. The result must fit a BitRate.
BitRate uplink_rate(BitRate down, std::uint32_t downlinks, std::uint32_t uplinks, Oversubscription ratio);

// Every host on one switch.
Topology star(std::uint32_t hosts, BitRate rate, Duration delay);

// Two switches with hosts, joined by one link: the bottleneck of textbooks. Left hosts come first; switch 0
// is the left one.
struct DumbbellShape {
  std::uint32_t hosts_left = 1;
  std::uint32_t hosts_right = 1;
  BitRate host_rate{gigabits_per_second(100)};
  BitRate bottleneck_rate{gigabits_per_second(100)};
  Duration delay = microseconds(1);
  Duration bottleneck_delay = microseconds(1);
};
Topology dumbbell(const DumbbellShape& shape);

// `leaves` leaf switches of `hosts_per_leaf`, each with one link to each of `spines`: a folded Clos network
// of two stages (Clos, Bell System Technical Journal, 1953).
Topology leaf_spine(std::uint32_t leaves, std::uint32_t spines, std::uint32_t hosts_per_leaf,
                    BitRate host_rate, BitRate spine_rate, Duration delay);

// Three tiers with free numbers, as they are built when a tier is oversubscribed or has faster ports.
// Switches: ToRs by pod, aggregation switches by pod, cores. Links: every ToR of a pod to every aggregation
// switch of it; aggregation switch j of each pod to cores j*c to j*c + c - 1, where
// c = cores / aggregations_per_pod, a whole number.
struct FatTreeShape {
  // The regular one of k-port switches (k even): k^3/4 hosts, k pods of k/2 edge and k/2 aggregation
  // switches, k^2/4 cores, every link of the same rate. Source: Al-Fares et al., SIGCOMM 2008.
  static FatTreeShape of_ports(std::uint32_t k, BitRate rate, Duration delay);
  std::uint32_t pods = 1;
  std::uint32_t tors_per_pod = 1;
  std::uint32_t aggregations_per_pod = 1;
  std::uint32_t cores = 1;
  std::uint32_t hosts_per_tor = 1;
  BitRate host_rate{gigabits_per_second(100)};
  BitRate tor_rate{gigabits_per_second(100)};   // between ToR and aggregation
  BitRate core_rate{gigabits_per_second(100)};  // between aggregation and core
  Duration delay = microseconds(1);
};
Topology fat_tree(const FatTreeShape& shape);

// Servers with `rails` NICs: NIC r of server s is host s * rails + r. In each group of `servers_per_group`
// servers (which divides `servers`) the NICs of one rail share a leaf, so that they are one switch apart;
// leaf r of group g is switch g * rails + r. Each leaf has a link to each of `spines`, which join rails and
// groups; without spines rails stay apart. Source: NVIDIA DGX SuperPOD reference architecture, compute
// fabric; without spines: Wang et al., "Rail-only", Hot Interconnects 2024.
struct RailShape {
  std::uint32_t servers = 1;
  std::uint32_t rails = 1;
  std::uint32_t servers_per_group = 1;
  std::uint32_t spines = 0;
  BitRate host_rate{gigabits_per_second(100)};
  BitRate spine_rate{gigabits_per_second(100)};
  Duration delay = microseconds(1);
};
Topology rail_optimised(const RailShape& shape);

// Two leaf-spine networks that share nothing: server s has NIC (host) 2s in plane A and 2s + 1 in plane B, so
// that losing a leaf costs it half its rate. Hosts of different planes have no way to each other. Switches:
// leaves of A, spines of A, leaves of B, spines of B. Source: Qian et al., "Alibaba HPN", SIGCOMM 2024.
struct DualPlaneShape {
  std::uint32_t leaves = 1;  // of a plane, as all that follows
  std::uint32_t spines = 1;
  std::uint32_t servers_per_leaf = 1;
  BitRate host_rate{gigabits_per_second(100)};
  BitRate spine_rate{gigabits_per_second(100)};
  Duration delay = microseconds(1);
};
Topology dual_plane(const DualPlaneShape& shape);

// `groups` of a leaf-spine network each, every leaf with a link to every spine of its group, every spine with
// `global_links` to spines of other groups. Each pair of groups is joined by
// spines_per_group * global_links / (groups - 1) links, a whole number, at different spines as far as there
// are any. Switches: by group, leaves then spines. Links: of hosts, within groups, global ones by pair of
// groups. Source: Shpiner et al., "Dragonfly+", HiPINEB 2017.
struct DragonflyShape {
  std::uint32_t groups = 2;
  std::uint32_t leaves_per_group = 1;
  std::uint32_t spines_per_group = 1;
  std::uint32_t hosts_per_leaf = 1;
  std::uint32_t global_links = 1;  // of a spine
  BitRate host_rate{gigabits_per_second(100)};
  BitRate spine_rate{gigabits_per_second(100)};
  BitRate global_rate{gigabits_per_second(100)};
  Duration delay = microseconds(1);
  Duration global_delay = microseconds(1);
};
Topology dragonfly_plus(const DragonflyShape& shape);

// A ring, or a torus of two or three dimensions (each 2 or more): every switch has `hosts_per_switch` and a
// link to each neighbour, around the edges too; in a dimension of 2 the two neighbours are one, with one
// link. Coordinates count from the first dimension: switch x + dims[0] * (y + dims[1] * z). Links: of hosts,
// then by switch those to the next one in each dimension. Source: Dally and Towles, "Principles and Practices
// of Interconnection Networks", chapter 5; Jouppi et al., "TPU v4", ISCA 2023.
struct TorusShape {
  std::vector<std::uint32_t> dims{2};
  std::uint32_t hosts_per_switch = 1;
  BitRate host_rate{gigabits_per_second(100)};
  BitRate switch_rate{gigabits_per_second(100)};
  Duration delay = microseconds(1);
};
Topology torus(const TorusShape& shape);

}  // namespace rocetune::fabric
