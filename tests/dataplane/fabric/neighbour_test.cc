// Ranks of one server exchange by NVLink: at its rate and latency, one message after the other in each
// direction, and nothing of it on the fabric.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/dataplane/fabric/fabric_scenes.h"

namespace rocetune::fabric {
namespace {

const std::string kServer = R"(
name = "server"
limit = "1s"
[topology]
shape = "rail_optimised"
servers = 4
rails = 4
servers_per_group = 4
spines = 0
[hosts]
mtu = 4096
gpus_per_server = 4
nvlink_rate = "800Gbps"
nvlink_latency = "2us"
[switches]
buffer = "4MiB"
lossless = [3]
headroom = "60kB"
[[jobs]]
hosts = "0-3"
[[jobs.steps]]
collective = "all_gather"
bytes = "4MB"
)";

double step_us(const RunResult& r) { return r.jobs.at(0).steps.at(0).time_us.value().max; }

TEST(Neighbours, TakeTheTimeThatNvlinkTakesAndNoHop) {
  const RunResult r = result_of(kServer);
  EXPECT_EQ(violations(r), "");
  EXPECT_EQ(r.packet_hops, 0u);
  // Three steps of a ring, 1 MB each at 800 Gb/s, and the latency of each.
  EXPECT_DOUBLE_EQ(step_us(r), 3 * (10 + 2));
}

TEST(Neighbours, WhoReceivesFromTwoTakesOneAfterTheOther) {
  // A tree of three: both children send 800 kB to the root, 8 us each.
  const RunResult r = result_of(kServer, {{"jobs.0.hosts", "0-2"},
                                          {"jobs.0.steps.0.collective", "reduce"},
                                          {"jobs.0.steps.0.algorithm", "tree"},
                                          {"jobs.0.steps.0.bytes", "800kB"}});
  EXPECT_DOUBLE_EQ(step_us(r), 2 + 8 + 8);
}

TEST(Neighbours, OfOtherServersGoByTheFabric) {
  const RunResult r = result_of(kServer, {{"jobs.0.hosts", "0-12/4"}});
  EXPECT_EQ(violations(r), "");
  EXPECT_GT(r.packet_hops, 0u);
  EXPECT_GT(step_us(r), 3 * 80);  // three steps of 1 MB at 100 Gb/s
}

const std::string kHierarchical = R"([[jobs.steps]]
name = "in"
collective = "reduce_scatter"
bytes = "16MiB"
group = 4
[[jobs.steps]]
name = "across"
collective = "all_reduce"
bytes = "4MiB"
stride = 4
[[jobs.steps]]
name = "out"
collective = "all_gather"
bytes = "16MiB"
group = 4
)";

std::string all_hosts() {
  std::string text = kServer.substr(0, kServer.find("hosts = \"0-3\""));
  return text;
}

TEST(Neighbours, LetEveryNicCarryItsPartOfAnAllReduce) {
  // Across a rail every NIC carries 2 x 3/4 x 4 MiB. (One ring over all 16 would cross servers by one NIC of
  // each; without spines it has no way at all.)
  const RunResult r = result_of(all_hosts() + kHierarchical);
  EXPECT_EQ(violations(r), "");
  EXPECT_EQ(r.jobs[0].finished, 16u);
  const double wire_us = 1.5 * 4 * (1 << 20) * 8 / 100e9 * 1e6;
  EXPECT_GT(r.jobs[0].steps[1].time_us->mean, wire_us);
  EXPECT_LT(r.jobs[0].steps[1].time_us->mean, 1.2 * wire_us);
  const double nvlink_us = 2 * 0.75 * 16 * (1 << 20) * 8 / 800e9 * 1e6 + 12;
  EXPECT_NEAR(r.jobs[0].steps[0].time_us->mean + r.jobs[0].steps[2].time_us->mean, nvlink_us, 0.1);
}

TEST(Neighbours, ChangeNothingWithTheNumberOfThreads) {
  const std::string text = all_hosts() + kHierarchical;
  const std::vector<TomlSetting> small{{"jobs.0.steps.0.bytes", "256KiB"},
                                       {"jobs.0.steps.1.bytes", "64KiB"},
                                       {"jobs.0.steps.2.bytes", "256KiB"}};
  EXPECT_EQ(result_of(text, small, {.threads = 2}).event_log_sha256, result_of(text, small).event_log_sha256);
}

TEST(Neighbours, AreSaidByTheirNumberAndRate) {
  using ::testing::HasSubstr;
  const auto refusal = [](const std::vector<TomlSetting>& settings) {
    const auto scenario = scenario_from_toml(kServer, "x.toml", settings);
    return scenario ? std::string("accepted") : scenario.error().text();
  };
  EXPECT_THAT(refusal({{"hosts.gpus_per_server", "3"}}),
              HasSubstr("hosts.gpus_per_server: found 3, allowed: 2 to 64, a divisor of 16 hosts"));
  std::string without = kServer;
  without.erase(without.find("nvlink_rate"), std::string("nvlink_rate = \"800Gbps\"\n").size());
  const auto scenario = scenario_from_toml(without, "x.toml");
  ASSERT_FALSE(scenario);
  EXPECT_THAT(scenario.error().text(), HasSubstr("hosts.nvlink_rate: found nothing"));
}

}  // namespace
}  // namespace rocetune::fabric
