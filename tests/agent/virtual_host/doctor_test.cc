// What the doctor says about hosts of the virtual fabric: nothing where nothing is wrong, and of each planted
// fault its rule alone; and that what a plan changes takes the fault away.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <deque>

#include "agent/diagnose/engine.h"
#include "agent/tune/planner.h"
#include "agent/virtual_host/scenario_knobs.h"
#include "tests/agent/virtual_host/virtual_scenes.h"

namespace rocetune::virtual_host {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

const host::NicTable& nics() {
  static const host::NicTable kNics = host::NicTable::load(ConfigFiles()).value();
  return kNics;
}

// Of every host, over one run from beginning to end.
std::vector<diagnose::Report> doctors(const fabric::Scenario& scenario) {
  static const diagnose::Policy kPolicy = diagnose::load_policy(ConfigFiles(), nics()).value();
  FabricRun run(scenario);
  const VirtualClock clock(run);
  std::vector<host::Host> hosts;
  std::deque<counters::Sampler> samplers;
  std::vector<counters::Reading> before;
  for (fabric::NodeId id = 0; id < scenario.topology.hosts; ++id) {
    hosts.push_back(host_facts(run, id));
    samplers.emplace_back(schema(), counter_readers(run, id), clock);
    before.push_back(samplers.back().read());
  }
  run.finish();
  std::vector<diagnose::Report> out;
  for (fabric::NodeId id = 0; id < scenario.topology.hosts; ++id) {
    const auto interval = counters::interval_between(schema(), before[id], samplers[id].read());
    const diagnose::JudgedHost judged[] = {{&hosts[id], &interval}};
    out.push_back(diagnose::diagnose({judged, {}, kPolicy, {}, {}}));
  }
  return out;
}
diagnose::Report doctor(const fabric::Scenario& scenario, fabric::NodeId id) {
  return doctors(scenario).at(id);
}

// Rules with a finding, each once.
std::vector<std::string> found(const diagnose::Report& report) {
  std::vector<std::string> out;
  for (const diagnose::Finding& finding : report.findings) {
    if (std::ranges::find(out, finding.rule) == out.end()) out.push_back(finding.rule);
  }
  return out;
}

std::vector<std::string> passed(const diagnose::Report& report) {
  std::vector<std::string> out;
  for (const diagnose::Passed& p : report.passed) out.push_back(p.rule);
  return out;
}

TEST(DoctorOfTheFabric, FindsNothingWhereNothingIsWrong) {
  const std::vector<diagnose::Report> reports = doctors(scenario_of(kHealthy));
  ASSERT_EQ(reports.size(), 4u);
  for (const diagnose::Report& report : reports) {
    EXPECT_THAT(found(report), IsEmpty()) << report.host;
    for (const char* rule : {"OPS-4", "SW-4",  "LINK-1", "LINK-2", "GID-1",  "MTU-1", "MAP-1", "MAP-5",
                             "MAP-3", "MAP-7", "MAP-2",  "MAP-6",  "MAP-8",  "PFC-1", "PFC-2", "PFC-4",
                             "PFC-6", "ECN-3", "ECN-5",  "LOSS-1", "LOSS-2", "LOSS-4"})
      EXPECT_THAT(passed(report), Contains(rule)) << report.host;
  }
}

TEST(DoctorOfTheFabric, FindsNothingInAHealthyShippedScenario) {
  const auto file = ConfigFiles().read("scenarios/allreduce-ring-and-tree.toml");
  ASSERT_TRUE(file);
  const std::vector<diagnose::Report> reports = doctors(scenario_of(file->text));
  ASSERT_EQ(reports.size(), 16u);
  for (const diagnose::Report& report : reports) EXPECT_THAT(found(report), IsEmpty()) << report.host;
}

struct Planted {
  const char* what;
  const char* keys;  // of host 2
  const char* rule;
};
void PrintTo(const Planted& planted, std::ostream* out) { *out << planted.what; }

class PlantedFault : public ::testing::TestWithParam<Planted> {};

TEST_P(PlantedFault, NamesItsRuleAndNothingElse) {
  const std::vector<diagnose::Report> reports = doctors(scenario_of(kHealthy, own(GetParam().keys)));
  EXPECT_THAT(found(reports.at(2)), ElementsAre(GetParam().rule));
  EXPECT_THAT(found(reports.at(0)), IsEmpty()) << "a host that has nothing to do with it";
}

class CurableFault : public ::testing::TestWithParam<Planted> {};

TEST_P(CurableFault, IsGoneAfterThePlan) {
  fabric::Scenario scenario = scenario_of(kHealthy, own(GetParam().keys));
  const auto profile = tune::load_profile("roce-dscp26-prio3", ConfigFiles(), nics());
  ASSERT_TRUE(profile);
  const host::Host before = host_facts(FabricRun(scenario), 2);
  const auto plan = tune::make_plan(before, *profile, nics(), {}, 0);
  ASSERT_TRUE(plan) << plan.error().text();
  ASSERT_FALSE(plan->is_empty());
  ScenarioKnobs knobs(scenario, 2);
  for (const tune::Step& step : plan->steps) {
    std::vector<host::KnobWrite> batch;
    for (const tune::Change& change : step.changes)
      batch.push_back({change.knob, *change.before, change.after});
    const auto written = knobs.write(before.ports.at(0), batch);
    ASSERT_TRUE(written) << written.error().text();
  }
  EXPECT_THAT(found(doctor(scenario, 2)), IsEmpty());
  const host::Host after = host_facts(FabricRun(scenario), 2);
  for (const tune::Step& step : plan->steps) {
    for (const tune::Change& change : step.changes)
      EXPECT_EQ(host::value_of(after, change.knob), change.after) << host::to_text(change.knob);
  }
  EXPECT_TRUE(tune::make_plan(after, *profile, nics(), {}, 0)->is_empty()) << "there is nothing left to plan";
}

// What a setting of the host cures.
const auto kCurable =
    ::testing::Values(Planted{"wrong map", "priority_of_dscp = { 26 = 0 }", "MAP-5"},
                      Planted{"PFC off", "lossless = []", "MAP-3"},
                      Planted{"PFC for a second class", "lossless = [3, 4]", "MAP-3"},
                      Planted{"CNPs in the lossless class", "np_cnp_dscp = 26", "MAP-7"},
                      Planted{"CNPs with a DSCP nobody knows", "np_cnp_dscp = 10", "MAP-2"},
                      Planted{"small MTU", "mtu = 1024", "MTU-1"},
                      Planted{"watchdog of eight seconds", "storm_prevention = \"8s\"", "PFC-4"});
INSTANTIATE_TEST_SUITE_P(OfSettings, PlantedFault, kCurable);
INSTANTIATE_TEST_SUITE_P(OfSettings, CurableFault, kCurable);
INSTANTIATE_TEST_SUITE_P(OfTheHost, PlantedFault,
                         ::testing::Values(Planted{"slow receiver", "receive_rate = \"40Gbps\"", "PFC-6"}));

TEST(DoctorOfTheFabric, DataWithTheWrongDscpIsSeenInSettingsAndCounters) {
  EXPECT_THAT(found(doctor(scenario_of(kHealthy, own("dscp = 10")), 2)), ElementsAre("MAP-6", "MAP-8"));
}

TEST(DoctorOfTheFabric, FrameLossIsTheLinks) {
  // One in a thousand, of thousands, of each host.
  const diagnose::Report report = doctor(scenario_of(kHealthy, "[links]\nloss = \"0.1%\"\n"), 1);
  EXPECT_THAT(found(report), ElementsAre("LOSS-1", "LINK-1"));
  EXPECT_NE(report.findings.at(0).cause.find("the link damages frames"), std::string::npos);
}

// A receiver that has all but stopped.
constexpr std::string_view kStorm = R"(
name = "storm"
limit = "250ms"
[topology]
shape = "star"
hosts = 3
[hosts]
mtu = 4096
controller = "off"
ack_timeout = 0
storm_prevention = "100ms"
[[hosts.own]]
hosts = [0]
receive_rate = "1Mbps"
storm_prevention = "3600s"
[switches]
buffer = "1MiB"
lossless = [3]
headroom = "100kB"
[[flows]]
pattern = "pair"
from = 1
to = 0
bytes = "8MB"
)";

TEST(DoctorOfTheFabric, AStormIsReceivedByTheSenderAndMadeByTheReceiver) {
  const std::vector<diagnose::Report> reports = doctors(scenario_of(kStorm));
  const diagnose::Report& sender = reports.at(1);
  EXPECT_THAT(found(sender), ElementsAre("PFC-5"));
  EXPECT_NE(sender.findings.at(0).cause.find("from the network"), std::string::npos);
  const diagnose::Report& receiver = reports.at(0);
  EXPECT_THAT(found(receiver), ElementsAre("PFC-5"));
  EXPECT_NE(receiver.findings.at(0).cause.find("made here"), std::string::npos);
  EXPECT_THAT(found(reports.at(2)), IsEmpty());
}

TEST(DoctorOfTheFabric, EcnAboveXoffIsPauseWithoutCnps) {
  const auto file = ConfigFiles().read("scenarios/ecn-above-xoff.toml");
  ASSERT_TRUE(file);
  const auto scenario = fabric::scenario_from_toml(
      file->text, file->name, {{"hosts.mtu", "4096"}, {"hosts.storm_prevention", "100ms"}});
  ASSERT_TRUE(scenario);
  EXPECT_THAT(found(doctor(*scenario, 3)), ElementsAre("ECN-3"));
}

TEST(DoctorOfTheFabric, ASwitchThatForgotTheClassIsSeenFromItsHosts) {
  const fabric::Scenario scenario =
      scenario_of(kHealthy, "[[switches.own]]\nswitches = [0]\nlossless = [4]\n");
  EXPECT_THAT(found(doctor(scenario, 1)), ElementsAre("SW-4"));
}

TEST(DoctorOfTheFabric, WithholdsEthernetAdviceOnInfiniBand) {
  const auto scenario = fabric::scenario_from_toml(kHealthy, "test.toml", {{"link", "infiniband"}});
  ASSERT_TRUE(scenario);
  EXPECT_THAT(found(doctor(*scenario, 0)), ElementsAre("NET-3"));
}

TEST(PlanOfTheFabric, NoLinkBouncesForPfc) {
  const auto profile = tune::load_profile("roce-dscp26-prio3", ConfigFiles(), nics());
  ASSERT_TRUE(profile);
  const host::Host host = host_facts(FabricRun(scenario_of(kHealthy, own("lossless = []"))), 2);
  const auto plan = tune::make_plan(host, *profile, nics(), {}, 0);
  ASSERT_TRUE(plan);
  ASSERT_EQ(plan->steps.size(), 1u);
  EXPECT_EQ(plan->steps[0].changes.at(0).knob.kind, host::KnobKind::pfc);
  EXPECT_FALSE(plan->steps[0].interrupts_link);
}

TEST(PlanOfTheFabric, AHealthyHostNeedsNone) {
  const auto profile = tune::load_profile("roce-dscp26-prio3", ConfigFiles(), nics());
  ASSERT_TRUE(profile);
  const auto plan = tune::make_plan(host_facts(FabricRun(scenario_of(kHealthy)), 2), *profile, nics(), {}, 0);
  ASSERT_TRUE(plan);
  EXPECT_TRUE(plan->is_empty());
}

}  // namespace
}  // namespace rocetune::virtual_host
