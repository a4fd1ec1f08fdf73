#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dataplane/fabric/scenario.h"

namespace rocetune::fabric {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

// A scenario with this [topology], which begins in line 3.
Expected<Scenario> read(const std::string& topology) {
  return scenario_from_toml("name = \"x\"\n[topology]\n" + topology +
                                "\n[[flows]]\npattern = \"pair\"\nfrom = 0\nto = 1\nbytes = \"1kB\"\n",
                            "x.toml");
}
Topology topology(const std::string& text) {
  const auto scenario = read(text);
  EXPECT_TRUE(scenario) << (scenario ? "" : scenario.error().text());
  if (!scenario) return {};
  EXPECT_TRUE(check(scenario->topology));
  return scenario->topology;
}
std::string topology_refusal(const std::string& text) {
  const auto scenario = read(text);
  return scenario ? "accepted" : scenario.error().text();
}

TEST(ScenarioTopology, ADumbbellHasItsBottleneck) {
  const Topology bell = topology(
      "shape = \"dumbbell\"\nhosts_left = 2\nhosts_right = 3\nbottleneck_rate = \"10Gbps\"\nbottleneck_delay "
      "= "
      "\"1ms\"");
  EXPECT_EQ(bell.hosts, 5u);
  EXPECT_EQ(bell.links.back().rate, gigabits_per_second(10));
  EXPECT_EQ(bell.links.back().delay, milliseconds(1));
  EXPECT_EQ(bell.links.front().rate, gigabits_per_second(100));
}

TEST(ScenarioTopology, OversubscriptionIsTheOtherWayToSaySpineRate) {
  const std::string leaves = "shape = \"leaf_spine\"\nleaves = 2\nspines = 4\nhosts_per_leaf = 16\n";
  EXPECT_EQ(topology(leaves + "oversubscription = \"4:1\"").links.back().rate, gigabits_per_second(100));
  EXPECT_EQ(topology(leaves + "oversubscription = \"1:1\"").links.back().rate, gigabits_per_second(400));
  EXPECT_EQ(topology(leaves + "spine_rate = \"200Gbps\"").links.back().rate, gigabits_per_second(200));
  EXPECT_EQ(topology(leaves).links.back().rate, topology(leaves).links.front().rate);
  EXPECT_THAT(
      topology_refusal(leaves + "spine_rate = \"200Gbps\"\noversubscription = \"4:1\""),
      HasSubstr(
          "x.toml:8:1: topology.oversubscription: found \"4:1\", allowed: this or spine_rate, not both"));
  for (const char* wrong : {"4", "4:", ":1", "0:1", "4:101", "4:1:1", "4/1", "4: 1"}) {
    EXPECT_THAT(topology_refusal(leaves + "oversubscription = \"" + wrong + "\""),
                HasSubstr("two numbers of 1 to 100 such as 4:1"))
        << wrong;
  }
  EXPECT_THAT(topology_refusal(leaves + "rate = \"1Mbps\"\noversubscription = \"100:1\""),
              HasSubstr("a ratio with uplinks of 1Mbps to 10Tbps, not 40kbps"));
}

TEST(ScenarioTopology, AFatTreeIsSaidByItsPortsOrByItsNumbers) {
  EXPECT_EQ(topology("shape = \"fat_tree\"\nk = 4").hosts, 16u);
  EXPECT_EQ(topology("shape = \"fat_tree\"\nk = 4\noversubscription = \"2:1\"").links.back().rate,
            gigabits_per_second(50));
  const std::string numbers =
      "shape = \"fat_tree\"\npods = 5\ntors_per_pod = 4\naggregations_per_pod = 4\ncores = 16\nhosts_per_tor "
      "= 16\n";
  const Topology fast = topology(numbers + "fabric_rate = \"400Gbps\"");
  EXPECT_EQ(fast.hosts, 320u);
  EXPECT_EQ(fast.switches, 56u);
  EXPECT_EQ(fast.links.size(), 480u);
  EXPECT_EQ(fast.links[0].rate, gigabits_per_second(100));
  EXPECT_EQ(fast.links[320].rate, gigabits_per_second(400));
  EXPECT_EQ(fast.links.back().rate, gigabits_per_second(400));
  // Half of what the hosts send goes up from a ToR, all of that on to the cores.
  const Topology half = topology(numbers + "oversubscription = \"2:1\"");
  EXPECT_EQ(half.links[320].rate, gigabits_per_second(200));
  EXPECT_EQ(half.links.back().rate, gigabits_per_second(200));

  EXPECT_THAT(topology_refusal("shape = \"fat_tree\"\nk = 5"),
              HasSubstr("x.toml:4:1: topology.k: found 5, allowed: an even"));
  EXPECT_THAT(
      topology_refusal(
          "shape = \"fat_tree\"\npods = 2\ntors_per_pod = 2\naggregations_per_pod = 4\ncores = 6\n"
          "hosts_per_tor = 2"),
      HasSubstr("x.toml:7:1: topology.cores: found 6, allowed: a multiple of aggregations_per_pod (4)"));
  EXPECT_THAT(topology_refusal("shape = \"fat_tree\"\nk = 4\npods = 2"),
              HasSubstr("topology.pods: found an unknown key"));
}

TEST(ScenarioTopology, RailsMayDoWithoutSpines) {
  const std::string rails = "shape = \"rail_optimised\"\nservers = 8\nrails = 4\nservers_per_group = 4\n";
  const Topology joined = topology(rails + "spines = 2\noversubscription = \"2:1\"");
  EXPECT_EQ(joined.hosts, 32u);
  EXPECT_EQ(joined.switches, 10u);
  EXPECT_EQ(joined.links.back().rate, gigabits_per_second(100));
  EXPECT_THAT(topology_refusal(rails + "spines = 0"),
              HasSubstr("flows[0].pattern: found hosts 0 and 1, allowed: hosts that have "
                        "a way to each other"));
  EXPECT_THAT(topology_refusal(rails + "spines = 0\nspine_rate = \"1Gbps\""),
              HasSubstr("spine_rate: found an unknown key"));
  EXPECT_THAT(
      topology_refusal(
          "shape = \"rail_optimised\"\nservers = 9\nrails = 4\nservers_per_group = 4\nspines = 1\n"
          "spine_rate = \"1Gbps\""),
      HasSubstr("x.toml:4:1: topology.servers: found 9, allowed: a multiple of servers_per_group (4)"));
}

TEST(ScenarioTopology, DualPlaneAndDragonflyAndTorusHaveTheirKeys) {
  const auto planes =
      read("shape = \"dual_plane\"\nleaves = 2\nspines = 2\nservers_per_leaf = 4\nspine_rate = \"1Tbps\"");
  ASSERT_FALSE(planes);  // hosts 0 and 1 are of different planes
  EXPECT_THAT(planes.error().text(), HasSubstr("found hosts 0 and 1"));

  const Topology fly = topology(
      "shape = \"dragonfly_plus\"\ngroups = 3\nleaves_per_group = 2\nspines_per_group = 2\nhosts_per_leaf = "
      "2\n"
      "global_links_per_spine = 1\nspine_rate = \"200Gbps\"\nglobal_delay = \"5us\"");
  EXPECT_EQ(fly.hosts, 12u);
  EXPECT_EQ(fly.links.back().rate, gigabits_per_second(200));  // as spines, where nothing else is said
  EXPECT_EQ(fly.links.back().delay, microseconds(5));
  EXPECT_THAT(
      topology_refusal("shape = \"dragonfly_plus\"\ngroups = 4\nleaves_per_group = 2\nspines_per_group = 2\n"
                       "hosts_per_leaf = 2\nglobal_links_per_spine = 1"),
      HasSubstr("x.toml:8:1: topology.global_links_per_spine: found 1, allowed: a number that times "
                "spines_per_group (2) is a multiple of the other groups (3)"));

  const Topology cube =
      topology("shape = \"torus\"\ndims = [3, 3, 3]\nhosts_per_switch = 2\nswitch_rate = \"400Gbps\"");
  EXPECT_EQ(cube.hosts, 54u);
  EXPECT_EQ(cube.links.size(), 54u + 81u);
  EXPECT_EQ(cube.links.back().rate, gigabits_per_second(400));
  for (const char* dims : {"[]", "[2, 2, 2, 2]", "[1, 4]", "[1025]", "4"})
    EXPECT_THAT(topology_refusal(std::string("shape = \"torus\"\nhosts_per_switch = 1\ndims = ") + dims),
                HasSubstr("topology.dims: found"))
        << dims;
}

TEST(ScenarioTopology, WhatIsTooLargeIsSaidWithItsNumbers) {
  EXPECT_THAT(
      topology_refusal("shape = \"torus\"\ndims = [1024, 1024]\nhosts_per_switch = 1"),
      AllOf(HasSubstr("x.toml:3:1: topology.shape: found 1048576 hosts, allowed: at most 65536"),
            HasSubstr(
                "found 1099511627776 routes (switches x switches with hosts), allowed: at most 67108864")));
  EXPECT_THAT(
      topology_refusal(
          "shape = \"leaf_spine\"\nleaves = 1024\nspines = 1024\nhosts_per_leaf = 1\nspine_rate = \"1Gbps\""),
      HasSubstr("found 1049600 links, allowed: at most 1048576"));
  EXPECT_THAT(
      topology_refusal(
          "shape = \"rail_optimised\"\nservers = 4096\nrails = 8\nservers_per_group = 16\nspines = 1\n"
          "spine_rate = \"1Gbps\""),
      HasSubstr("at most 1024 leaves (groups x rails) for a spine"));
}

TEST(ScenarioTopology, OfAnUnknownShapeNothingElseIsSaid) {
  const std::string text = topology_refusal("shape = \"dragonfly\"\ngroups = 3\nrate = \"fast\"");
  EXPECT_THAT(text,
              AllOf(HasSubstr("x.toml:3:9: topology.shape: found \"dragonfly\""), HasSubstr("torus, links"),
                    HasSubstr("x.toml:5:8: topology.rate: found \"fast\""), Not(HasSubstr("groups"))));
}

TEST(ScenarioTopology, EveryMissingNumberIsNamedAtOnce) {
  const std::string text = topology_refusal("shape = \"dragonfly_plus\"\ngroups = 1\nhosts_per_leaf = \"2\"");
  EXPECT_THAT(text,
              AllOf(HasSubstr("x.toml:4:10: topology.groups: found 1, allowed: 2 to 1024"),
                    HasSubstr("topology.leaves_per_group: found nothing"),
                    HasSubstr("topology.spines_per_group: found nothing"),
                    HasSubstr("x.toml:5:18: topology.hosts_per_leaf: found \"2\""),
                    HasSubstr("topology.global_links_per_spine: found nothing"), Not(HasSubstr("flows"))));
}

constexpr std::string_view kLinks = R"(shape = "links"
hosts = 2
switches = 2
[[topology.links]]
a = "host 0"
b = "switch 0"
[[topology.links]]
a = "switch 1"
b = "host 1"
rate = "25Gbps"
[[topology.links]]
a = "switch 0"
b = "switch 1"
delay = "3us"
)";

TEST(ScenarioLinks, AreWhatTheySay) {
  const Topology found = topology(std::string(kLinks));
  ASSERT_EQ(found.links.size(), 3u);
  EXPECT_EQ(found.links[1].a, 3u);
  EXPECT_EQ(found.links[1].b, 1u);
  EXPECT_EQ(found.links[1].rate, gigabits_per_second(25));
  EXPECT_EQ(found.links[2].rate, gigabits_per_second(100));
  EXPECT_EQ(found.links[2].delay, microseconds(3));
}

TEST(ScenarioLinks, LoseWhatTheySayElseWhatAllDo) {
  const std::string usual = "[links]\nloss = \"1%\"\nbit_error_rate = \"1e-9\"\n";
  const std::string own = "loss = \"0%\"\nbit_error_rate = \"2.5e-12\"\n";
  const auto scenario = read(std::string(kLinks) + own + usual);
  ASSERT_TRUE(scenario) << scenario.error().text();
  const std::vector<LinkSpec>& links = scenario->topology.links;
  EXPECT_EQ(links[0].loss, Ratio::from_percent(1));
  EXPECT_EQ(links[0].bit_errors, BitErrorRate::parse("1e-9").value());
  EXPECT_EQ(links[2].loss, Ratio(0));
  EXPECT_EQ(links[2].bit_errors, BitErrorRate(2'500'000));
  const auto star = read("shape = \"star\"\nhosts = 3\n" + usual);
  ASSERT_TRUE(star) << star.error().text();
  for (const LinkSpec& link : star->topology.links) EXPECT_EQ(link.loss, Ratio::from_percent(1));
}

TEST(ScenarioLinks, ACableMayBeSaidByItsLength) {
  const std::string star = "shape = \"star\"\nhosts = 2\n";
  EXPECT_EQ(topology(star + "length = \"198m\"").links[0].delay, microseconds(1));
  EXPECT_EQ(topology(star + "length = \"1m\"").links[0].delay, Duration(5'051));  // rounded up
  EXPECT_THAT(topology_refusal(star + "length = \"3m\"\ndelay = \"1us\""),
              HasSubstr("topology.length: found \"3m\", allowed: this or delay"));
}

TEST(ScenarioLinks, WhatIsWrongIsSaidAllAtOnce) {
  const std::string text = topology_refusal(R"(shape = "links"
hosts = 3
switches = 2
[[topology.links]]
a = "host 3"
b = "swich 0"
[[topology.links]]
a = "host 1"
b = "host 0"
[[topology.links]]
a = "switch 1"
b = "switch 1"
rate = "1"
[[topology.links]]
a = "host 1"
b = "switch 1"
colour = "red"
[[topology.links]]
a = "switch 1"
b = "host 1"
)");
  EXPECT_THAT(
      text, HasSubstr("x.toml:7:5: topology.links[0].a: found \"host 3\", allowed: \"host 0\" to \"host 2\", "
                      "\"switch 0\" to \"switch 1\""));
  EXPECT_THAT(text, HasSubstr("x.toml:8:5: topology.links[0].b: found \"swich 0\""));
  EXPECT_THAT(
      text,
      HasSubstr("x.toml:11:1: topology.links[1].b: found \"host 0\", allowed: a switch, as a is a host"));
  EXPECT_THAT(text, HasSubstr("topology.links[2].b: found \"switch 1\", allowed: another node than a"));
  EXPECT_THAT(text, HasSubstr("topology.links[2].rate: found \"1\""));
  EXPECT_THAT(text, HasSubstr("topology.links[3].colour: found an unknown key"));
  EXPECT_THAT(text, HasSubstr("topology.links[4].b: found \"host 1\", allowed: a host without a link"));
}

TEST(ScenarioLinks, NobodyIsLeftOut) {
  const std::string text = topology_refusal(R"(shape = "links"
hosts = 20
switches = 2
[[topology.links]]
a = "host 0"
b = "switch 0"
)");
  EXPECT_THAT(
      text, HasSubstr("topology.links: found none of host 1, host 2, host 3, host 4, host 5, host 6, host 7, "
                      "host 8 and 12 more, allowed: one of each host, one or more of each switch"));
}

}  // namespace
}  // namespace rocetune::fabric
