#include "dataplane/fabric/scenario.h"

#include <gtest/gtest.h>

#include "dataplane/base/config_files.h"
#include "dataplane/base/json_reader.h"
#include "dataplane/fabric/result.h"
#include "tests/dataplane/fabric/fabric_scenes.h"

namespace rocetune::fabric {
namespace {

constexpr std::string_view kSmall = R"(
name = "small"
seed = 3
[topology]
shape = "star"
hosts = 3
[switches]
buffer = "4MiB"
lossless = [3]
headroom = "50kB"
[[flows]]
pattern = "incast"
senders = 2
bytes = "200kB"
)";

std::string refusal(const std::string& text) {
  const auto scenario = scenario_from_toml(text, "x.toml");
  return scenario ? std::string("accepted") : scenario.error().text();
}

TEST(Scenario, EveryShippedOneIsRead) {
  int count = 0;
  for (const char* folder : {"scenarios", "scenarios/reference"}) {
    const auto files = ConfigFiles().list(folder, ".toml").value();
    for (const ConfigFile& file : files) {
      const auto scenario = scenario_from_toml(file.text, file.name);
      ASSERT_TRUE(scenario) << scenario.error().text();
      EXPECT_FALSE(scenario->description.empty()) << file.name;
      EXPECT_TRUE(file.path.ends_with("/" + scenario->name + ".toml")) << file.path;
      ++count;
    }
  }
  EXPECT_GE(count, 14);
}

// Fabrics that are to be tuned are scenarios, too: with each of their workloads.
TEST(Scenario, EveryShippedFabricIsRead) {
  const auto files = ConfigFiles().list("fabrics", ".toml").value();
  for (const ConfigFile& file : files) {
    const auto scenario = scenario_from_toml(file.text, file.name);
    ASSERT_TRUE(scenario) << scenario.error().text();
    EXPECT_FALSE(scenario->description.empty()) << file.name;
    EXPECT_TRUE(file.path.ends_with("/" + scenario->name + ".toml")) << file.path;
    for (const std::string& workload : scenario->workloads) {
      const auto other = scenario_from_toml(file.text, file.name, {{"workload", "\"" + workload + "\""}});
      ASSERT_TRUE(other) << other.error().text();
      EXPECT_EQ(other->workload, workload);
      EXPECT_FALSE(other->flows.empty() && other->jobs.empty()) << workload;
    }
  }
  EXPECT_GE(files.size(), 12u);
}

TEST(Scenario, AWorkloadStandsInPlaceOfTheFilesOwn) {
  const std::string text = std::string(kSmall) + R"(
[[workloads]]
name = "pair"
[[workloads.flows]]
pattern = "pair"
from = 1
to = 2
bytes = "1MB"
[tune]
held_out = ["pair"]
)";
  const Scenario own = scenario_from_toml(text, "x.toml").value();
  EXPECT_EQ(own.workload, "default");
  EXPECT_EQ(own.workloads, std::vector<std::string>{"pair"});
  EXPECT_EQ(own.flows.size(), 2u);
  const Scenario pair = scenario_from_toml(text, "x.toml", {{"workload", "pair"}}).value();
  EXPECT_EQ(pair.workload, "pair");
  ASSERT_EQ(pair.flows.size(), 1u);
  EXPECT_EQ(pair.flows[0].bytes, 1'000'000u);
  EXPECT_EQ(run(pair).flows.finished, 1u);

  EXPECT_NE(refusal("workload = \"pare\"\n" + text).find("allowed: default, pair"),
            std::string::npos);
  EXPECT_NE(refusal(text + "[[workloads]]\nname = \"empty\"\n").find("at least one [[flows]] or [[jobs]]"),
            std::string::npos);
  EXPECT_NE(refusal(text + "[[workloads]]\nname = \"pair\"\n").find("a name of its own"), std::string::npos);
}

// The largest one with fewer ranks: what it says holds at every size.
TEST(Scenario, TheAllReduceOf16384RunsWithFewerRanks) {
  const auto file = ConfigFiles().read("scenarios/reference/halving-16384.toml").value();
  EXPECT_EQ(scenario_from_toml(file.text, file.name).value().jobs[0].hosts.size(), 16384u);
  auto scenario =
      scenario_from_toml(file.text, file.name, {{"topology.pods", "1"}, {"jobs.0.hosts", "0-511/8"}}).value();
  const RunResult r = run(scenario);
  EXPECT_EQ(violations(r), "");
  EXPECT_EQ(r.jobs[0].finished, 64u);
}

TEST(Scenario, DcqcnParametersHaveTheirNamesAndUnits) {
  const std::string text = std::string(kSmall) + "[dcqcn]\nset = \"paper\"\nrp_ai_rate = \"80Mbps\"\n";
  const auto scenario = scenario_from_toml(text, "x.toml");
  ASSERT_TRUE(scenario) << scenario.error().text();
  EXPECT_EQ(scenario->options.host.controller.dcqcn.additive_increase, megabits_per_second(80));
  EXPECT_EQ(scenario->options.host.controller.dcqcn.threshold, 5);  // the paper's
}

TEST(Scenario, ASingleHostHasSettingsOfItsOwn) {
  const std::string text = std::string(kSmall) + R"([[hosts.own]]
hosts = [1]
mtu = 4096
dscp = 10
lossless = [4]
priority_of_dscp = { 10 = 4, cs6 = 7 }
rp_ai_rate = "80Mbps"
np_cnp_dscp = 12
)";
  const auto scenario = scenario_from_toml(text, "x.toml");
  ASSERT_TRUE(scenario) << scenario.error().text();
  ASSERT_EQ(scenario->options.own_host.size(), 1u);
  const HostParameters& own = scenario->options.own_host.at(1);
  EXPECT_EQ(own.mtu, engine::PathMtu::b4096);
  EXPECT_EQ(own.data_dscp, Dscp(10));
  EXPECT_EQ(own.receiver.buffer.lossless, PrioritySet::of(Priority(4)));
  EXPECT_EQ(own.priority_of[10], Priority(4));
  EXPECT_EQ(own.priority_of[48], Priority(7));
  EXPECT_EQ(own.priority_of[26], Priority(3));
  EXPECT_EQ(own.controller.dcqcn.additive_increase, megabits_per_second(80));
  EXPECT_EQ(own.notification.cnp_dscp, Dscp(12));
  EXPECT_EQ(scenario->options.host.mtu, engine::PathMtu::b1024);
  EXPECT_EQ(scenario->options.host.notification.cnp_dscp, Dscp(48));
}

TEST(Scenario, WhatASingleHostCannotHaveIsRefused) {
  const auto with = [](const std::string& key) {
    return refusal(std::string(kSmall) + "[[hosts.own]]\nhosts = [1]\n" + key + "\n");
  };
  EXPECT_NE(with("mtu = 1500").find("allowed: 256, 512, 1024, 2048, 4096"), std::string::npos)
      << with("mtu = 1500");
  EXPECT_NE(with("dscp = 64").find("0..63"), std::string::npos) << with("dscp = 64");
  EXPECT_NE(with("priority_of_dscp = { af99 = 3 }").find("DSCPs as keys"), std::string::npos);
  EXPECT_NE(with("rp_ai_rate = 80").find("rp_ai_rate"), std::string::npos);
  EXPECT_NE(with("cp_kmin = \"5kB\"").find("cp_kmin"), std::string::npos) << "of switches";
  EXPECT_NE(with("lossless = [0, 1, 2, 3, 4, 5]").find("hosts.receive_buffer: found 512KiB"),
            std::string::npos)
      << with("lossless = [0, 1, 2, 3, 4, 5]");
}

TEST(Scenario, SettingsOfSomeHostsAreOfARangeOrOne) {
  const auto own = [](const std::string& hosts) {
    return scenario_from_toml(std::string(kSmall) + "[[hosts.own]]\nmtu = 512\nhosts = " + hosts + "\n",
                              "x.toml");
  };
  EXPECT_EQ(own("\"1-2\"")->options.own_host.size(), 2u);
  EXPECT_EQ(own("2")->options.own_host.count(2), 1u);
  EXPECT_NE(own("3").error().text().find("hosts.own[0].hosts: found 3, allowed: hosts below 3"),
            std::string::npos)
      << own("3").error().text();
}

TEST(Scenario, AnAckTimeoutIsANumberAndATimeNamesThoseNextToIt) {
  const auto with = [](const std::string& value) {
    const auto scenario = scenario_from_toml(kSmall, "x.toml", {{"hosts.ack_timeout", value}});
    return scenario ? std::to_string(scenario->options.host.ack_timeout) : scenario.error().text();
  };
  EXPECT_EQ(with("0"), "0");
  EXPECT_EQ(with("31"), "31");
  EXPECT_NE(with("32").find("0 to 31"), std::string::npos) << with("32");
  EXPECT_NE(with("1ms").find("7 is 524.288us, 8 is 1.04858ms"), std::string::npos) << with("1ms");
  EXPECT_NE(with("16.384us").find("(0: never): 2 is 16.384us"), std::string::npos) << with("16.384us");
  EXPECT_NE(with("1ns").find("(0: never): 1 is 8.192us"), std::string::npos) << with("1ns");
  EXPECT_NE(with("soon").find("0 to 31"), std::string::npos) << with("soon");
}

TEST(Scenario, HostsConnectWithTheSmallerPathMtu) {
  const std::string text = std::string(kSmall) + "[[hosts.own]]\nhosts = [1]\nmtu = 256\n";
  const auto scenario = scenario_from_toml(text, "x.toml");
  ASSERT_TRUE(scenario) << scenario.error().text();
  const RunResult r = run(*scenario);
  EXPECT_TRUE(r.is_right());
  EXPECT_EQ(r.flows.finished, 2u);
  // 200 kB in packets of 256 B from host 1, of 1024 B from host 2, over two hops each.
  EXPECT_GT(r.packet_hops, 2u * (200'000 / 256 + 200'000 / 1024));
}

TEST(Scenario, WhatIsWrongIsSaidWithItsPlaceAllAtOnce) {
  const std::string text = refusal(
      "name = \"x\"\n[topology]\nshape = \"ring\"\nhosts = 1\n[switches]\nbufer = "
      "\"4MiB\"\n[[flows]]\npattern = "
      "\"incast\"\nbytes = \"2\"\n");
  EXPECT_NE(text.find("x.toml:3:9: topology.shape: found \"ring\""), std::string::npos) << text;
  EXPECT_NE(text.find("x.toml:6:1: switches.bufer"), std::string::npos) << text;
  EXPECT_NE(text.find("did you mean buffer"), std::string::npos) << text;
  EXPECT_NE(text.find("flows[0].bytes"), std::string::npos) << text;
}

TEST(Scenario, ImpossibleValuesAreRefused) {
  const auto with = [](std::string from, std::string to) {
    std::string text(kSmall);
    text.replace(text.find(from), from.size(), to);
    return refusal(text);
  };
  EXPECT_NE(with("senders = 2", "senders = 3").find("1 to 2"), std::string::npos);
  EXPECT_NE(with("bytes = \"200kB\"", "bytes = \"200kB\"\nto = 3").find("0 to 2"), std::string::npos);
  EXPECT_NE(with("headroom = \"50kB\"", "headroom = \"2MB\"").find("reserves and headrooms of a switch"),
            std::string::npos);
  EXPECT_NE(with("headroom = \"50kB\"", "kmin = \"9kB\"\nkmax = \"8kB\"").find("kmin (9000B) or more"),
            std::string::npos);
}

TEST(Result, HasWhatARunShowed) {
  const auto scenario = scenario_from_toml(kSmall, "x.toml");
  ASSERT_TRUE(scenario) << scenario.error().text();
  const RunResult result = run(*scenario);
  EXPECT_TRUE(result.is_right());
  EXPECT_FALSE(result.reached_limit);
  EXPECT_EQ(result.flows.finished, 2u);
  EXPECT_EQ(result.flows.bytes, 400'000u);
  ASSERT_TRUE(result.flows.fct_us);
  EXPECT_LE(result.flows.fct_us->min, result.flows.fct_us->mean);
  EXPECT_EQ(result.ports.size(), 3u);
  EXPECT_GT(result.ports[2].queue_bytes.max, 100'000);
  EXPECT_EQ(result.ports[2].peer, "host 2");
  EXPECT_EQ(run(*scenario).event_log_sha256, result.event_log_sha256);

  const Json json = parse_json(json_of(result, {.cpu_seconds = 1, .peak_rss_bytes = 2}), "result").value();
  EXPECT_EQ(json.at("run").at("packet_hops").to_number<std::uint64_t>(), result.packet_hops);
  EXPECT_EQ(json.at("ports").as_array().size(), 3u);
  EXPECT_TRUE(json.at("checkers").as_array()[0].at("holds").as_bool());
}

TEST(Result, AFlowThatIsNotFinishedHasNoCompletionTime) {
  std::string text(kSmall);
  text.insert(text.find("[topology]"), "limit = \"5us\"\n");
  const auto scenario = scenario_from_toml(text, "x.toml");
  ASSERT_TRUE(scenario) << scenario.error().text();
  const RunResult result = run(*scenario);
  EXPECT_TRUE(result.reached_limit);
  EXPECT_EQ(result.flows.finished, 0u);
  EXPECT_FALSE(result.flows.fct_us);
}

// The fluid model speaks where its equations hold, and only there.
TEST(Theory, NamesTheQueueOfTheFixedPoint) {
  const auto file = ConfigFiles().read("scenarios/reference/fixedpoint-2.toml").value();
  const auto theory = theory_of(scenario_from_toml(file.text, file.name).value());
  ASSERT_TRUE(theory);
  EXPECT_EQ(theory->flows, 2u);
  EXPECT_NEAR(static_cast<double>(theory->queue_bytes.value()), 20.2e3, 0.02 * 20.2e3);
  EXPECT_GT(theory->phase_margin_degrees.value(), 0);
  // With mlx5's sets a cut does not move the target: other equations.
  EXPECT_FALSE(theory_of(scenario_from_toml(kSmall, "x.toml").value()));
  const auto far =
      scenario_from_toml(file.text, file.name, {{"topology.delay", "21us"}, {"flows.0.senders", "2"}});
  EXPECT_LT(theory_of(far.value())->phase_margin_degrees.value(), theory->phase_margin_degrees.value());
}

}  // namespace
}  // namespace rocetune::fabric
