#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "dataplane/fabric/scenario.h"

namespace rocetune::fabric {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::Pair;

constexpr std::string_view kStar =
    "name = \"x\"\nlimit = \"10ms\"\n[topology]\nshape = \"star\"\nhosts = 8\n";
constexpr std::string_view kPlanes =
    "name = \"x\"\n[topology]\nshape = \"dual_plane\"\nleaves = 2\nspines = 1\nservers_per_leaf = "
    "2\nspine_rate = "
    "\"1Tbps\"\n";

Expected<Scenario> read(std::string_view fabric, const std::string& flows,
                        const std::string& file = "x.toml") {
  return scenario_from_toml(std::string(fabric) + "[[flows]]\n" + flows, file);
}
std::vector<std::pair<NodeId, NodeId>> pairs(const std::string& flows, std::string_view fabric = kStar) {
  const auto scenario = read(fabric, flows);
  EXPECT_TRUE(scenario) << (scenario ? "" : scenario.error().text());
  std::vector<std::pair<NodeId, NodeId>> out;
  if (!scenario) return out;
  for (const Flow& flow : scenario->flows) out.emplace_back(flow.from, flow.to);
  return out;
}
std::string flows_refusal(const std::string& flows, std::string_view fabric = kStar) {
  const auto scenario = read(fabric, flows);
  return scenario ? "accepted" : scenario.error().text();
}

TEST(ScenarioFlows, ATenantHasItsHosts) {
  EXPECT_THAT(pairs("pattern = \"permutation\"\nshift = 1\nbytes = \"1kB\"\nhosts = \"6-7, 0\""),
              ElementsAre(Pair(6, 7), Pair(7, 0), Pair(0, 6)));
  EXPECT_THAT(pairs("pattern = \"bisection\"\nbytes = \"1kB\"\nhosts = [1, 2]"),
              ElementsAre(Pair(1, 2), Pair(2, 1)));
  EXPECT_THAT(pairs("pattern = \"all_to_all\"\nbytes = \"1kB\"\nhosts = [1, 2]"),
              ElementsAre(Pair(1, 2), Pair(2, 1)));
  EXPECT_THAT(pairs("pattern = \"incast\"\nbytes = \"1kB\"\nhosts = \"1-7/3\""),
              ElementsAre(Pair(1, 7), Pair(4, 7)));
  EXPECT_THAT(pairs("pattern = \"incast\"\nbytes = \"1kB\"\nhosts = \"1-7/3\"\nto = 0\nsenders = 2"),
              ElementsAre(Pair(1, 0), Pair(4, 0)));
}

TEST(ScenarioFlows, SeveralTablesStandOneAfterTheOther) {
  const auto scenario =
      read(kStar,
           "tenant = \"training\"\npattern = \"bisection\"\nbytes = \"1MB\"\n[[flows]]\npattern = "
           "\"pair\"\nfrom = 0\nto = 1\nbytes = \"1kB\"\nstart = \"5us\"\n");
  ASSERT_TRUE(scenario) << scenario.error().text();
  ASSERT_EQ(scenario->traffic.size(), 2u);
  EXPECT_EQ(scenario->traffic[0].tenant, "training");
  EXPECT_EQ(scenario->traffic[0].first, 0u);
  EXPECT_EQ(scenario->traffic[0].count, 8u);
  EXPECT_EQ(scenario->traffic[1].tenant, "");
  EXPECT_EQ(scenario->traffic[1].first, 8u);
  EXPECT_EQ(scenario->flows[8].start, Instant(microseconds(5)));
}

TEST(ScenarioFlows, ASeedDrawsRandomTrafficAnewAndNothingElse) {
  const std::string flows =
      "pattern = \"random_permutation\"\nbytes = \"1MB\"\n[[flows]]\npattern = \"poisson\"\nload = "
      "\"50%\"\nuntil = "
      "\"1ms\"\nsizes = \"storage\"\n[[flows]]\npattern = \"pair\"\nfrom = 0\nto = 1\nbytes = \"1kB\"\n";
  auto scenario = read(kStar, flows);
  ASSERT_TRUE(scenario) << scenario.error().text();
  const auto key = [&] {
    std::vector<std::uint64_t> out;
    for (const Flow& flow : scenario->flows) out.insert(out.end(), {flow.from, flow.to, flow.bytes});
    return out;
  };
  const auto first = key();
  reseed(*scenario, 2);
  EXPECT_NE(key(), first);
  EXPECT_EQ(scenario->options.seed, 2u);
  EXPECT_EQ(scenario->traffic[2].first + 1, scenario->flows.size());
  EXPECT_EQ(scenario->flows.back().bytes, 1000u);
  const auto written =
      scenario_from_toml("seed = 2\n" + std::string(kStar) + "[[flows]]\n" + flows, "x.toml");
  ASSERT_TRUE(written) << written.error().text();
  EXPECT_EQ(written->flows.size(), scenario->flows.size());
  EXPECT_EQ(written->flows[5].to, scenario->flows[5].to);
  reseed(*scenario, 1);
  EXPECT_EQ(key(), first);
}

TEST(ScenarioFlows, HostsThatAreNotThereAreRefused) {
  EXPECT_THAT(flows_refusal("pattern = \"bisection\"\nbytes = \"1kB\"\nhosts = \"0-8\""),
              HasSubstr("x.toml:9:9: flows[0].hosts: found \"0-8\", allowed: hosts 0 to 7"));
  EXPECT_THAT(flows_refusal("pattern = \"bisection\"\nbytes = \"1kB\"\nhosts = \"0-2\""),
              HasSubstr("flows[0].hosts: found 3 hosts, allowed: an even number of hosts"));
  EXPECT_THAT(
      flows_refusal("pattern = \"poisson\"\nbytes = \"1kB\"\nload = \"5%\"\nuntil = \"1ms\"\nhosts = [3]"),
      HasSubstr("flows[0].hosts: found 1 hosts, allowed: 2 or more hosts"));
  EXPECT_THAT(flows_refusal("pattern = \"incast\"\nbytes = \"1kB\"\nhosts = [3]"),
              HasSubstr("flows[0].hosts: found 1 hosts, allowed: a host other than the receiver"));
  EXPECT_THAT(flows_refusal("pattern = \"incast\"\nbytes = \"1kB\""),
              HasSubstr("flows[0].senders: found nothing"));
  EXPECT_THAT(flows_refusal("pattern = \"pair\"\nfrom = 0\nto = 1\nbytes = \"1kB\"\nhosts = [0, 1]"),
              HasSubstr("flows[0].hosts: found an unknown key"));
}

TEST(ScenarioFlows, PlanesHaveNoWayToEachOther) {
  EXPECT_THAT(
      flows_refusal("pattern = \"all_to_all\"\nbytes = \"1kB\"", kPlanes),
      HasSubstr("x.toml:9:1: flows[0].pattern: found hosts 0 and 1, allowed: hosts that have a way to each "
                "other"));
  EXPECT_THAT(
      flows_refusal("pattern = \"permutation\"\nshift = 3\nhosts = \"0-5\"\nbytes = \"1kB\"", kPlanes),
      HasSubstr("x.toml:11:1: flows[0].hosts: found hosts 0 and 3"));
  EXPECT_THAT(flows_refusal("pattern = \"pair\"\nfrom = 2\nto = 5\nbytes = \"1kB\"", kPlanes),
              HasSubstr("found hosts 2 and 5"));
  EXPECT_EQ(pairs("pattern = \"all_to_all\"\nhosts = \"1-7/2\"\nbytes = \"1kB\"", kPlanes).size(), 12u);
  EXPECT_EQ(pairs("pattern = \"bisection\"\nbytes = \"1kB\"", kPlanes).size(), 8u);
}

TEST(ScenarioFlows, PoissonIsSaidByLoadAndSizes) {
  const std::string load = "pattern = \"poisson\"\nload = \"60%\"\nuntil = \"5ms\"\n";
  const auto scenario = read(kStar, load + "sizes = \"hadoop\"\nstart = \"1ms\"\nmessage = \"4KiB\"");
  ASSERT_TRUE(scenario) << scenario.error().text();
  // 8 hosts x 60 Gb/s x 4 ms / 120 kB.
  EXPECT_NEAR(static_cast<double>(scenario->flows.size()), 1993, 200);
  EXPECT_GE(scenario->flows.front().start, Instant(milliseconds(1)));
  EXPECT_EQ(scenario->flows.front().message, 4096u);
  EXPECT_EQ(read(kStar, load + "bytes = \"30kB\"")->flows.front().bytes, 30'000u);

  EXPECT_THAT(flows_refusal(load),
              HasSubstr("flows[0].sizes: found neither, allowed: sizes (a distribution) or bytes"));
  EXPECT_THAT(flows_refusal(load + "sizes = \"hadoop\"\nbytes = \"1kB\""),
              HasSubstr("x.toml:11:1: flows[0].bytes: found both"));
  EXPECT_THAT(flows_refusal(load + "sizes = \"hadop\""),
              HasSubstr("flows[0].sizes: found \"hadop\", allowed: cache, hadoop, storage, websearch"));
  EXPECT_THAT(flows_refusal("pattern = \"poisson\"\nload = \"201%\"\nuntil = \"20ms\"\nbytes = \"1kB\""),
              AllOf(HasSubstr("flows[0].load: found \"201%\", allowed: 0.01% to 200%"),
                    HasSubstr("flows[0].until: found \"20ms\", allowed: 1ns to 10ms")));
  EXPECT_THAT(flows_refusal(load + "bytes = \"1kB\"\nstart = \"5ms\""), HasSubstr("later than start (5ms)"));
  EXPECT_THAT(
      flows_refusal(load + "bytes = \"1B\""),
      HasSubstr("flows[0].pattern: found 300000000 flows, allowed: at most 1048576 in all, 1048576 here"));
  EXPECT_THAT(flows_refusal("pattern = \"poisson\"\nload = \"0.01%\"\nuntil = \"1us\"\nbytes = \"1MB\""),
              HasSubstr("flows[0].load: found \"0.01%\", allowed: a load that starts a flow before until"));
}

TEST(ScenarioFlows, ABadTableIsToldInFull) {
  EXPECT_THAT(
      flows_refusal(
          "pattern = \"permutation\"\nshift = 8\nbytes = \"0B\"\nwindow = 0\nstart = \"11ms\"\nload = 3"),
      AllOf(HasSubstr("flows[0].shift: found 8, allowed: 1 to 7"), HasSubstr("flows[0].bytes: found \"0B\""),
            HasSubstr("flows[0].window: found 0"), HasSubstr("flows[0].start: found \"11ms\""),
            HasSubstr("flows[0].load: found an unknown key")));
  EXPECT_THAT(flows_refusal("pattern = \"ring\"\nload = 3"),
              AllOf(HasSubstr("flows[0].pattern: found \"ring\""), Not(HasSubstr("load"))));
}

TEST(ScenarioFlows, ATopologyThatCannotBeReadIsNoFaultOfTheFlows) {
  const std::string text =
      flows_refusal("pattern = \"incast\"\nsenders = 3\nto = 9\nbytes = \"1kB\"\nhosts = \"0-20\"",
                    "name = \"x\"\n[topology]\nshape = \"star\"\n");
  EXPECT_THAT(text, AllOf(HasSubstr("topology.hosts: found nothing"), Not(HasSubstr("flows"))));
}

TEST(Replay, ReadsAFileBesideTheScenario) {
  const std::string folder = ::testing::TempDir();
  std::ofstream(folder + "/replayed.csv") << "start_us,from,to,bytes\n0,0,1,1000\n2.5,3,2,2000\n";
  const auto scenario =
      read(kStar, "pattern = \"replay\"\nfile = \"replayed.csv\"\nstart = \"1us\"\nwindow = 3\n",
           folder + "/x.toml");
  ASSERT_TRUE(scenario) << scenario.error().text();
  ASSERT_EQ(scenario->flows.size(), 2u);
  EXPECT_EQ(scenario->flows[1].from, 3u);
  EXPECT_EQ(scenario->flows[1].bytes, 2000u);
  EXPECT_EQ(scenario->flows[1].start, Instant(nanoseconds(3500)));
  EXPECT_EQ(scenario->flows[1].window, 3u);
}

TEST(Replay, BadLinesAreToldWithTheirPlace) {
  const std::string folder = ::testing::TempDir();
  std::ofstream(folder + "/bad.csv") << "0,0,8,1000\n0,0\n";
  const auto scenario = read(kStar, "pattern = \"replay\"\nfile = \"bad.csv\"\n", folder + "/x.toml");
  ASSERT_FALSE(scenario);
  const std::string text = scenario.error().text();
  EXPECT_THAT(text, HasSubstr("x.toml:8:1: flows[0].file: found " + folder +
                              "/bad.csv:1:5: to \"8\", allowed: a host, 0 to 7"));
  EXPECT_THAT(text, HasSubstr("bad.csv:2:1: \"0,0\", allowed: start_us,from,to,bytes"));
}

TEST(Replay, AFileThatIsNotThereIsSaid) {
  EXPECT_THAT(flows_refusal("pattern = \"replay\"\nfile = \"none.csv\"\nbytes = \"1kB\""),
              AllOf(HasSubstr("x.toml:8:1: flows[0].file: found cannot open ./none.csv"),
                    HasSubstr("No such file"), HasSubstr("flows[0].bytes: found an unknown key")));
  EXPECT_THAT(flows_refusal("pattern = \"replay\"\nfile = \"none.txt\""),
              HasSubstr("allowed: the path of a .csv file"));
}

}  // namespace
}  // namespace rocetune::fabric
