#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "tests/dataplane/fabric/ways.h"

namespace rocetune::fabric {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;

constexpr BitRate kHost = gigabits_per_second(100);
constexpr BitRate kUp = gigabits_per_second(400);

// By switch.
std::vector<std::size_t> ports_of(const Topology& topology) {
  const Graph graph = graph_of(topology);
  std::vector<std::size_t> out;
  for (std::uint32_t i = 0; i < topology.switches; ++i)
    out.push_back(graph.nodes[topology.switch_id(i)].peers.size());
  return out;
}

std::vector<std::size_t> repeated(std::initializer_list<std::pair<std::size_t, std::size_t>> counted) {
  std::vector<std::size_t> out;
  for (const auto& [count, value] : counted) out.insert(out.end(), count, value);
  return out;
}

// A cut of the switches: what crosses it, in links.
std::size_t links_between(const Topology& topology, std::uint32_t first, std::uint32_t last,
                          std::uint32_t other_first, std::uint32_t other_last) {
  const auto is_in = [&](NodeId node, std::uint32_t from, std::uint32_t to) {
    return node >= topology.switch_id(from) && node <= topology.switch_id(to);
  };
  std::size_t out = 0;
  for (const LinkSpec& link : topology.links) {
    out += (is_in(link.a, first, last) && is_in(link.b, other_first, other_last)) ||
           (is_in(link.b, first, last) && is_in(link.a, other_first, other_last));
  }
  return out;
}

TEST(Dumbbell, HasOneLinkInTheMiddle) {
  const Topology bell = dumbbell({.hosts_left = 3,
                                  .hosts_right = 2,
                                  .host_rate = kHost,
                                  .bottleneck_rate = gigabits_per_second(10),
                                  .bottleneck_delay = microseconds(50)});
  ASSERT_TRUE(check(bell));
  EXPECT_EQ(bell.hosts, 5u);
  EXPECT_THAT(ports_of(bell), ElementsAre(4, 3));
  EXPECT_EQ(bell.links.back().rate, gigabits_per_second(10));
  EXPECT_EQ(bell.links.back().delay, microseconds(50));
  const Walker walker(bell);
  EXPECT_EQ(walker.between(0, 2), (Ways{1, 1}));
  EXPECT_EQ(walker.between(3, 4), (Ways{1, 1}));
  EXPECT_EQ(walker.between(2, 3), (Ways{2, 1}));
}

TEST(LeafSpine, HasAWayByEverySpine) {
  for (const std::uint32_t spines : {1U, 3U, 8U}) {
    const Topology clos = leaf_spine(4, spines, 2, kHost, kUp, microseconds(1));
    ASSERT_TRUE(check(clos));
    EXPECT_EQ(ports_of(clos), repeated({{4, 2 + spines}, {spines, 4}}));
    const Walker walker(clos);
    EXPECT_EQ(walker.between(0, 1), (Ways{1, 1}));
    EXPECT_EQ(walker.between(0, 7), (Ways{3, spines}));
    EXPECT_TRUE(walker.is_connected());
  }
}

TEST(UplinkRate, SharesWhatTheHostsSend) {
  EXPECT_EQ(uplink_rate(kHost, 16, 4, {1, 1}), gigabits_per_second(400));
  EXPECT_EQ(uplink_rate(kHost, 16, 4, {4, 1}), gigabits_per_second(100));
  EXPECT_EQ(uplink_rate(kHost, 6, 4, {3, 2}), gigabits_per_second(100));
  EXPECT_EQ(uplink_rate(kHost, 2, 3, {1, 1}), bits_per_second(66'666'666'666));
  EXPECT_EQ(uplink_rate(gigabits_per_second(10'000), 1024, 1, {1, 100}), gigabits_per_second(1'024'000'000));
}

// The topology of HPCC's simulator (mix/fat.txt): 320 hosts, 20 ToRs, 20 aggregation switches, 16 cores.
TEST(FatTree, HasFreeNumbers) {
  const Topology tree = fat_tree(FatTreeShape{.pods = 5,
                                              .tors_per_pod = 4,
                                              .aggregations_per_pod = 4,
                                              .cores = 16,
                                              .hosts_per_tor = 16,
                                              .host_rate = kHost,
                                              .tor_rate = kUp,
                                              .core_rate = kUp,
                                              .delay = microseconds(1)});
  ASSERT_TRUE(check(tree));
  EXPECT_EQ(tree.hosts, 320u);
  EXPECT_EQ(tree.links.size(), 480u);
  EXPECT_EQ(ports_of(tree), repeated({{20, 20}, {20, 8}, {16, 5}}));
  const Graph graph = graph_of(tree);
  EXPECT_THAT(graph.nodes[324].peers, ::testing::Contains(344u));  // ToR 4 of pod 1
  EXPECT_THAT(graph.nodes[341].peers, ElementsAre(320, 321, 322, 323, 364, 365, 366, 367));
  EXPECT_THAT(graph.nodes[375].peers, ElementsAre(343, 347, 351, 355, 359));  // the last core
  const Walker walker(tree);
  EXPECT_EQ(walker.between(0, 15), (Ways{1, 1}));
  EXPECT_EQ(walker.between(0, 63), (Ways{3, 4}));
  EXPECT_EQ(walker.between(0, 319), (Ways{5, 16}));
}

TEST(FatTree, OfKPortsIsARegularOne) {
  for (const std::uint32_t k : {2U, 4U, 6U}) {
    const Topology tree = fat_tree(FatTreeShape::of_ports(k, kHost, microseconds(1)));
    ASSERT_TRUE(check(tree));
    EXPECT_EQ(tree.hosts, k * k * k / 4);
    EXPECT_THAT(ports_of(tree), Each(k));
    const Walker walker(tree);
    EXPECT_EQ(walker.between(0, tree.hosts - 1), (Ways{5, k * k / 4}));
    EXPECT_EQ(walker.diameter(), 5);
    EXPECT_TRUE(walker.is_connected());
  }
}

TEST(RailOptimised, NicsOfOneRailShareALeafInTheirGroup) {
  // 8 servers of 4 NICs, 4 servers a group.
  const Topology rails = rail_optimised({.servers = 8, .rails = 4, .servers_per_group = 4, .spines = 3});
  ASSERT_TRUE(check(rails));
  EXPECT_EQ(rails.hosts, 32u);
  EXPECT_EQ(ports_of(rails), repeated({{8, 7}, {3, 8}}));
  const Walker walker(rails);
  const auto nic = [](std::uint32_t server, std::uint32_t rail) { return server * 4 + rail; };
  EXPECT_EQ(walker.between(nic(0, 2), nic(3, 2)), (Ways{1, 1}));
  EXPECT_EQ(walker.between(nic(0, 2), nic(4, 2)), (Ways{3, 3}));  // another group
  EXPECT_EQ(walker.between(nic(0, 2), nic(0, 1)), (Ways{3, 3}));  // another rail
  EXPECT_TRUE(walker.is_connected());
}

TEST(RailOptimised, WithoutSpinesRailsStayApart) {
  const Topology rails = rail_optimised({.servers = 4, .rails = 2, .servers_per_group = 4, .spines = 0});
  ASSERT_TRUE(check(rails));
  const Walker walker(rails);
  EXPECT_EQ(walker.between(0, 6), (Ways{1, 1}));
  EXPECT_EQ(walker.between(0, 1), Ways{});
  const std::vector<NodeId> islands = islands_of(rails);
  EXPECT_EQ(islands[0], islands[6]);
  EXPECT_NE(islands[0], islands[1]);
}

TEST(DualPlane, PlanesAreLeafSpinesOfTheirOwn) {
  const Topology planes = dual_plane({.leaves = 3, .spines = 2, .servers_per_leaf = 4});
  ASSERT_TRUE(check(planes));
  EXPECT_EQ(planes.hosts, 24u);
  EXPECT_EQ(ports_of(planes), repeated({{3, 6}, {2, 3}, {3, 6}, {2, 3}}));
  const Walker walker(planes);
  const std::vector<NodeId> islands = islands_of(planes);
  for (NodeId from = 0; from < 24; ++from) {
    for (NodeId to = 0; to < 24; ++to) {
      if (from == to) continue;
      const bool same_plane = from % 2 == to % 2;
      const bool same_leaf = from / 8 == to / 8;
      EXPECT_EQ(walker.between(from, to), !same_plane ? Ways{} : same_leaf ? (Ways{1, 1}) : (Ways{3, 2}));
      EXPECT_EQ(islands[from] == islands[to], same_plane);
    }
  }
}

struct DragonflyNumbers {
  std::uint32_t groups, leaves, spines, global_links;
};
class Dragonfly : public ::testing::TestWithParam<DragonflyNumbers> {};

TEST_P(Dragonfly, JoinsEveryPairOfGroups) {
  const DragonflyNumbers p = GetParam();
  const std::uint32_t group = p.leaves + p.spines;
  const Topology fly = dragonfly_plus({.groups = p.groups,
                                       .leaves_per_group = p.leaves,
                                       .spines_per_group = p.spines,
                                       .hosts_per_leaf = 2,
                                       .global_links = p.global_links});
  ASSERT_TRUE(check(fly));
  EXPECT_EQ(fly.hosts, p.groups * p.leaves * 2);
  const std::vector<std::size_t> ports = ports_of(fly);
  for (std::uint32_t i = 0; i < fly.switches; ++i)
    EXPECT_EQ(ports[i], i % group < p.leaves ? 2 + p.spines : p.leaves + p.global_links) << i;
  const std::size_t copies = p.spines * p.global_links / (p.groups - 1);
  for (std::uint32_t a = 0; a < p.groups; ++a) {
    for (std::uint32_t b = a + 1; b < p.groups; ++b)
      EXPECT_EQ(links_between(fly, a * group, a * group + group - 1, b * group, b * group + group - 1),
                copies);
  }
  // Links of a pair of groups leave from different spines as far as there are any.
  for (std::uint32_t a = 0; a < p.groups; ++a) {
    std::map<std::uint32_t, std::set<NodeId>> spines_to;
    for (const LinkSpec& link : fly.links) {
      if (fly.is_host(link.a)) continue;
      const std::uint32_t from = (link.a - fly.hosts) / group;
      const std::uint32_t to = (link.b - fly.hosts) / group;
      if (from == a && to != a) spines_to[to].insert(link.a);
      if (to == a && from != a) spines_to[from].insert(link.b);
    }
    for (const auto& [to, spines] : spines_to)
      EXPECT_EQ(spines.size(), std::min<std::size_t>(copies, p.spines)) << a << " to " << to;
  }
  const Walker walker(fly);
  EXPECT_TRUE(walker.is_connected());
  EXPECT_EQ(walker.between(0, 1), (Ways{1, 1}));
  // Leaf, spine, spine, leaf: one way a global link.
  EXPECT_EQ(walker.between(0, fly.hosts - 1), (Ways{4, copies}));
  EXPECT_EQ(walker.diameter(), 4);
}

INSTANTIATE_TEST_SUITE_P(Sizes, Dragonfly,
                         ::testing::Values(DragonflyNumbers{2, 1, 1, 1}, DragonflyNumbers{5, 2, 2, 2},
                                           DragonflyNumbers{5, 2, 4, 4}, DragonflyNumbers{4, 3, 6, 1},
                                           DragonflyNumbers{3, 2, 2, 3}, DragonflyNumbers{7, 2, 4, 3},
                                           DragonflyNumbers{9, 4, 4, 2}, DragonflyNumbers{3, 1, 2, 4}));

TEST(Torus, ARingGoesAround) {
  const Topology ring = torus({.dims = {5}, .hosts_per_switch = 2});
  ASSERT_TRUE(check(ring));
  EXPECT_EQ(ring.links.size(), 15u);
  EXPECT_THAT(ports_of(ring), Each(4u));
  const Walker walker(ring);
  EXPECT_EQ(walker.between(0, 9), (Ways{2, 1}));  // switch 4 is the neighbour of switch 0
  EXPECT_EQ(walker.between(0, 4), (Ways{3, 1}));
  EXPECT_EQ(walker.diameter(), 3);
}

TEST(Torus, AnEvenRingHasTwoWaysToTheFarSide) {
  EXPECT_EQ(Walker(torus({.dims = {6}})).between(0, 3), (Ways{4, 2}));
}

TEST(Torus, DimensionsMultiply) {
  const Topology flat = torus({.dims = {4, 4}});
  ASSERT_TRUE(check(flat));
  EXPECT_EQ(flat.switches, 16u);
  EXPECT_EQ(flat.links.size(), 16u + 32u);
  EXPECT_THAT(ports_of(flat), Each(5u));
  const Walker walker(flat);
  EXPECT_EQ(walker.between(0, 5), (Ways{3, 2}));           // (1, 1): either dimension first
  EXPECT_EQ(walker.between(0, 2 + 4 * 2), (Ways{5, 24}));  // (2, 2): 4! / (2! 2!) orders, 2 x 2 ways around
  EXPECT_EQ(walker.diameter(), 5);

  const Topology cube = torus({.dims = {4, 3, 5}, .hosts_per_switch = 1});
  ASSERT_TRUE(check(cube));
  EXPECT_THAT(ports_of(cube), Each(7u));
  EXPECT_EQ(cube.links.size(), 60u + 180u);
  EXPECT_EQ(Walker(cube).diameter(), 1 + 2 + 1 + 2);
  EXPECT_TRUE(Walker(cube).is_connected());
}

TEST(Torus, TwoInADimensionAreNeighboursOnce) {
  const Topology cube = torus({.dims = {2, 2, 2}});
  ASSERT_TRUE(check(cube));
  EXPECT_EQ(cube.links.size(), 8u + 12u);
  EXPECT_THAT(ports_of(cube), Each(4u));
  EXPECT_EQ(Walker(cube).between(0, 7), (Ways{4, 6}));
}

TEST(Islands, AreNamedByTheirSmallestNode) {
  Topology two{.hosts = 3, .switches = 3, .links = {{0, 3}, {1, 4}, {2, 5}, {3, 5}}};
  EXPECT_THAT(islands_of(two), ElementsAre(0, 1, 0, 0, 1, 0));
}

TEST(HostRates, AreThoseOfTheirLinks) {
  Topology topology = star(3, kHost, microseconds(1));
  topology.links[1].rate = kUp;
  std::swap(topology.links[2].a, topology.links[2].b);
  EXPECT_THAT(host_rates_of(topology), ElementsAre(kHost, kUp, kHost));
}

}  // namespace
}  // namespace rocetune::fabric
