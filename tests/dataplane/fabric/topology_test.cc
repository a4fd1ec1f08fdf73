#include "dataplane/fabric/topology.h"

#include <gtest/gtest.h>

#include <map>

namespace rocetune::fabric {
namespace {

constexpr BitRate kRate = gigabits_per_second(100);

std::map<std::size_t, int> ports_of_switches(const Topology& topology) {
  std::vector<std::size_t> ports(topology.hosts + topology.switches);
  for (const LinkSpec& link : topology.links) {
    ++ports[link.a];
    ++ports[link.b];
  }
  std::map<std::size_t, int> counts;
  for (std::uint32_t i = 0; i < topology.switches; ++i) ++counts[ports[topology.switch_id(i)]];
  return counts;
}

TEST(Topology, AFatTreeHasItsNumbers) {
  const Topology tree = fat_tree(FatTreeShape::of_ports(8, kRate, microseconds(1)));
  EXPECT_TRUE(check(tree));
  EXPECT_EQ(tree.hosts, 128u);
  EXPECT_EQ(tree.switches, 80u);
  EXPECT_EQ(tree.links.size(), 384u);
  EXPECT_EQ(ports_of_switches(tree), (std::map<std::size_t, int>{{8, 80}}));
}

TEST(Topology, LeavesReachEverySpine) {
  const Topology clos = leaf_spine(4, 2, 8, kRate, gigabits_per_second(400), microseconds(1));
  EXPECT_TRUE(check(clos));
  EXPECT_EQ(clos.hosts, 32u);
  EXPECT_EQ(ports_of_switches(clos), (std::map<std::size_t, int>{{10, 4}, {4, 2}}));
}

TEST(Topology, WhatCannotBeIsRefused) {
  const auto text = [](Topology topology) {
    const auto fine = check(topology);
    return fine ? std::string("fine") : fine.error().text();
  };
  EXPECT_EQ(text(star(3, kRate, microseconds(1))), "fine");
  Topology alone{.hosts = 1, .switches = 1, .links = {}};
  EXPECT_NE(text(alone).find("host 0: found 0 links, allowed: 1"), std::string::npos) << text(alone);
  Topology pair{.hosts = 2, .switches = 0, .links = {{0, 1}}};
  EXPECT_NE(text(pair).find("at most one host"), std::string::npos) << text(pair);
  Topology far = star(2, kRate, microseconds(1));
  far.links[1].b = 9;
  EXPECT_NE(text(far).find("found nodes 1 and 9"), std::string::npos) << text(far);
  Topology instant = star(2, kRate, Duration(0));
  EXPECT_NE(text(instant).find("above 0"), std::string::npos) << text(instant);
}

}  // namespace
}  // namespace rocetune::fabric
