#include "dataplane/fabric/routing.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "dataplane/fabric/topology.h"

namespace rocetune::fabric {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(Routing, AStarKnowsThePortOfEachHost) {
  const Topology topology = star(4, gigabits_per_second(100), microseconds(1));
  const Routes routes(graph_of(topology));
  for (NodeId host = 0; host < 4; ++host) EXPECT_THAT(routes.of(4).ports_to(host), ElementsAre(host));
}

// Follows every choice from every leaf: each way reaches the host, and all are equally short.
TEST(Routing, EveryChoiceInAFatTreeLeadsThereByAShortestPath) {
  const Topology topology = fat_tree(FatTreeShape::of_ports(4, gigabits_per_second(100), microseconds(1)));
  const Graph graph = graph_of(topology);
  const Routes routes(graph);
  for (NodeId from = 0; from < topology.hosts; ++from) {
    for (NodeId to = 0; to < topology.hosts; ++to) {
      if (from == to) continue;
      std::vector<NodeId> here{graph.nodes[from].peers[0]};
      int hops = 0;
      std::size_t choices = 1;
      while (here.front() != to) {
        std::vector<NodeId> next;
        for (const NodeId node : here) {
          const auto ports = routes.of(node).ports_to(to);
          ASSERT_FALSE(ports.empty());
          choices = std::max(choices, ports.size());
          for (const std::uint16_t port : ports) next.push_back(graph.nodes[node].peers[port]);
        }
        here = next;
        ASSERT_LT(++hops, 7);
        const bool arrived = here.front() == to;
        for (const NodeId node : here) ASSERT_EQ(node == to, arrived);
      }
      const bool same_edge = from / 2 == to / 2;
      const bool same_pod = from / 4 == to / 4;
      EXPECT_EQ(hops, same_edge ? 1 : same_pod ? 3 : 5);
      EXPECT_EQ(choices, same_edge ? 1u : 2u);
    }
  }
}

TEST(Routing, WhereThereIsNoWayThereAreNoPorts) {
  // Two stars without a link between them.
  Graph graph;
  graph.nodes.resize(4);
  graph.nodes[0] = {true, {2}};
  graph.nodes[1] = {true, {3}};
  graph.nodes[2] = {false, {0}};
  graph.nodes[3] = {false, {1}};
  const Routes routes(graph);
  EXPECT_THAT(routes.of(2).ports_to(1), IsEmpty());
  EXPECT_THAT(routes.of(2).ports_to(0), ElementsAre(0));
}

}  // namespace
}  // namespace rocetune::fabric
