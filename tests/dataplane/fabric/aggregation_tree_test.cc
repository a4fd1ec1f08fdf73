// Where switches reduce, and what it is worth.
#include "dataplane/fabric/aggregation_tree.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "dataplane/base/config_files.h"
#include "dataplane/schedule/check.h"
#include "tests/dataplane/fabric/fabric_scenes.h"

namespace rocetune::fabric {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr BitRate kAnyRate = gigabits_per_second(100);

std::vector<NodeId> first_hosts(std::uint32_t count) {
  std::vector<NodeId> out(count);
  std::iota(out.begin(), out.end(), NodeId{0});
  return out;
}

TEST(AggregationTree, JoinsLeavesAtASpine) {
  const Topology topology = leaf_spine(2, 2, 3, kAnyRate, kAnyRate, microseconds(1));
  const AggregationTree tree = AggregationTrees(topology).of(first_hosts(6), 0);
  EXPECT_THAT(tree.parents, ElementsAre(6, 6, 6, 7, 7, 7, 8, 8, 8));
  EXPECT_THAT(tree.switches, ElementsAre(0, 1, 2));
  // Another group may take the other spine.
  EXPECT_THAT(AggregationTrees(topology).of(first_hosts(6), 1).switches, ElementsAre(0, 1, 3));
}

TEST(AggregationTree, LeavesOutSwitchesAtWhichNothingMeets) {
  const Topology topology = leaf_spine(2, 2, 3, kAnyRate, kAnyRate, microseconds(1));
  AggregationTrees trees(topology);
  const AggregationTree leaf = trees.of(first_hosts(3), 0);
  EXPECT_THAT(leaf.parents, ElementsAre(3, 3, 3, 3));
  EXPECT_THAT(leaf.switches, ElementsAre(0));
  const std::vector<NodeId> apart{1, 5};
  const AggregationTree spine = trees.of(apart, 0);
  EXPECT_THAT(spine.parents, ElementsAre(2, 2, 2));
  EXPECT_THAT(spine.switches, ElementsAre(2));
}

TEST(AggregationTree, OfAFatTreeHasThreeTiers) {
  const Topology topology = fat_tree(FatTreeShape::of_ports(4, kAnyRate, microseconds(1)));
  const AggregationTree tree = AggregationTrees(topology).of(first_hosts(16), 0);
  EXPECT_EQ(tree.switches.size(), 8u + 4u + 1u);
  EXPECT_EQ(tree.parents.size(), 16u + 13u);
  const auto schedule = schedule::Schedule::make(
      {.algorithm = schedule::Algorithm::in_network, .ranks = 16, .pieces = 2, .parents = tree.parents});
  ASSERT_TRUE(schedule) << schedule.error().text();
  EXPECT_TRUE(schedule::check(**schedule, 1));
}

TEST(AggregationTree, OfHostsWithoutAWayIsNone) {
  const Topology planes = dual_plane({.leaves = 2, .spines = 1, .servers_per_leaf = 2});
  EXPECT_TRUE(AggregationTrees(planes).of(first_hosts(2), 0).parents.empty());
}

TEST(Reducers, StandBehindTheirSwitches) {
  const Topology plain = leaf_spine(2, 1, 2, kAnyRate, 2 * kAnyRate, microseconds(1));
  const std::vector<std::uint32_t> switches{0, 2};
  const Topology topology = with_reducers(plain, switches, nanoseconds(250));
  EXPECT_TRUE(check(topology));
  EXPECT_EQ(topology.end_hosts(), 4u);
  ASSERT_EQ(topology.links.size(), plain.links.size() + 2);
  EXPECT_EQ(topology.links[0].b, topology.switch_id(0));
  EXPECT_EQ(topology.links[6].rate, 4 * kAnyRate);  // two hosts and an uplink
  EXPECT_EQ(topology.links[7].b, topology.switch_id(2));
  EXPECT_EQ(topology.name_of(5), "reducer of switch 2");
  EXPECT_EQ(topology.name_of(topology.switch_id(2)), "switch 2");
}

Scenario shipped(const std::vector<TomlSetting>& settings = {}) {
  const auto file = ConfigFiles().read("scenarios/in-network-reduction.toml").value();
  return scenario_from_toml(file.text, file.name, settings).value();
}

TEST(InNetworkReduction, IsTwiceAsFastAsARingButForWhatTheTreeCosts) {
  const RunResult r = run(shipped());
  EXPECT_EQ(violations(r), "");
  EXPECT_EQ(r.hosts, 32u);
  EXPECT_EQ(r.jobs[0].finished, 32u);
  const double ring = r.jobs[0].steps[0].busbw_gbps.value();
  const double in_network = r.jobs[0].steps[1].busbw_gbps.value();
  EXPECT_LT(ring, 100);
  EXPECT_GT(in_network, 1.6 * ring);
  EXPECT_LT(in_network, 2 * 100);  // each host receives its buffer by one link
}

TEST(InNetworkReduction, SavesStepsOfSmallBuffers) {
  const RunResult r = run(shipped({{"jobs.0.steps.0.bytes", "4KiB"}, {"jobs.0.steps.1.bytes", "4KiB"}}));
  EXPECT_GT(r.jobs[0].steps[0].time_us->mean, 8 * r.jobs[0].steps[1].time_us->mean);
}

TEST(InNetworkReduction, WorksForGroupsWithoutEcnAndWithCredits) {
  const std::vector<TomlSetting> stride{{"jobs.0.steps.1.stride", "8"}, {"jobs.0.steps.0.bytes", "64KiB"}};
  for (const char* link : {"ethernet", "infiniband"}) {
    std::vector<TomlSetting> settings = stride;
    settings.push_back({"link", link});
    const RunResult r = run(shipped(settings));
    EXPECT_EQ(violations(r), "") << link;
    EXPECT_EQ(r.jobs[0].finished, 32u) << link;
    EXPECT_EQ(r.jobs[0].steps[1].groups, 8u);
    // Eight groups share four spines of 200 Gb/s a leaf: what a host's link takes is the limit.
    EXPECT_GT(r.jobs[0].steps[1].busbw_gbps.value(), 100) << link;
  }
}

TEST(InNetworkReduction, IsTheSameWithMoreThreads) {
  const std::vector<TomlSetting> small{
      {"jobs.0.steps.0.bytes", "4KiB"}, {"jobs.0.steps.1.bytes", "64KiB"}, {"jobs.0.steps.1.pieces", "4"}};
  EXPECT_EQ(run(shipped(small), {.threads = 2}).event_log_sha256, run(shipped(small)).event_log_sha256);
}

TEST(Jobs, RanksWithoutAWayToEachOtherAreRefused) {
  const std::string text = R"(
name = "x"
[topology]
shape = "rail_optimised"
servers = 2
rails = 2
servers_per_group = 2
spines = 0
[hosts]
gpus_per_server = 2
nvlink_rate = "400Gbps"
[switches]
lossless = [3]
[[jobs]]
[[jobs.steps]]
collective = "all_reduce"
algorithm = "halving_doubling"
bytes = "1MiB"
)";
  // 0 and 1 by NVLink, 0 and 2 along a rail: no pair needs a spine. Of a ring 1 and 2 do.
  EXPECT_EQ(violations(result_of(text)), "");
  const auto ring = scenario_from_toml(text, "x.toml", {{"jobs.0.steps.0.algorithm", "ring"}});
  ASSERT_FALSE(ring);
  EXPECT_THAT(ring.error().text(),
              HasSubstr("found hosts 1 and 2, allowed: hosts that have a way to each other"));
  const auto reduced = scenario_from_toml(text, "x.toml", {{"jobs.0.steps.0.algorithm", "in_network"}});
  ASSERT_FALSE(reduced);
  EXPECT_THAT(reduced.error().text(), HasSubstr("a tree of reducers"));
}

}  // namespace
}  // namespace rocetune::fabric
