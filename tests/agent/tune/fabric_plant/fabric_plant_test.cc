#include "agent/tune/fabric_plant/fabric_plant.h"

#include <gmock/gmock.h>

#include <cmath>

#include "agent/tune/fabric_plant/advice.h"
#include "agent/tune/fabric_plant/measure.h"
#include "agent/tune/fabric_plant/tuning.h"
#include "tests/agent/tune/fabric_plant/plant_scenes.h"

namespace rocetune::fabric_plant {
namespace {

using search::Objective;
using search::Observation;
using ::testing::HasSubstr;

Observation observed(FabricPlant& plant, search::Request request) {
  if (request.candidate.values.empty()) request.candidate = plant.space().start();
  auto out = plant.observe(request, {});
  EXPECT_TRUE(out);
  if (!out) return {};
  out->took_ns = 0;
  return *out;
}

TEST(FabricPlant, GivesTheSameAnswerToTheSameQuestion) {
  const auto one = plant_of();
  const auto two = plant_of("", {.threads = 4});
  std::vector<search::Request> requests;
  for (std::uint64_t repeat = 0; repeat < 6; ++repeat)
    requests.push_back({.candidate = one->space().start(), .workload = 0, .repeat = repeat});
  const auto together = two->observe_all(requests, {});
  for (std::size_t i = 0; i < requests.size(); ++i) {
    ASSERT_TRUE(together[i]);
    Observation seen = *together[i];
    seen.took_ns = 0;
    EXPECT_EQ(observed(*one, requests[i]), seen);
  }
}

TEST(FabricPlant, RepeatsAreOtherCircumstances) {
  const auto plant = plant_of();
  EXPECT_NE(observed(*plant, {.repeat = 1}), observed(*plant, {.repeat = 2}));
  const auto other = plant_of("", {.seed = 2});
  EXPECT_NE(observed(*plant, {.repeat = 1}), observed(*other, {.repeat = 1}));
  EXPECT_NE(plant->traits().identity, other->traits().identity);
}

TEST(FabricPlant, MeasuresWhatFlowsDo) {
  const auto plant = plant_of();
  const Observation seen = observed(*plant, {.with_series = true});
  EXPECT_FALSE(seen.failure);
  EXPECT_TRUE(seen.breaches.empty());
  EXPECT_GT(*seen.objectives[Objective::goodput], 50);
  EXPECT_LT(*seen.objectives[Objective::goodput], 100);
  EXPECT_FALSE(seen.objectives[Objective::busbw]);
  // 900 kB into one link of 100 Gb/s.
  EXPECT_GT(*seen.objectives[Objective::p99_fct], 72);
  EXPECT_GE(*seen.objectives[Objective::p99_fct], *seen.objectives[Objective::latency]);
  EXPECT_FALSE(seen.series.empty());
  for (const search::Series& series : seen.series) EXPECT_EQ(series.at_us.size(), series.values.size());
}

TEST(FabricPlant, MeasuresWhatJobsDo) {
  const auto plant = plant_of(R"(
[[workloads]]
name = "ring"
[[workloads.jobs]]
name = "ring"
[[workloads.jobs.steps]]
name = "gradients"
collective = "all_reduce"
bytes = "256KiB"
[tune]
workloads = ["ring"]
)");
  const Observation seen = observed(*plant, {});
  ASSERT_TRUE(seen.objectives[Objective::busbw]);
  EXPECT_GT(*seen.objectives[Objective::busbw], 20);
  EXPECT_FALSE(seen.objectives[Objective::fairness]);
}

// What has not finished has taken until the limit, at least.
TEST(FabricPlant, CountsWhatIsUnfinishedAsLate) {
  fabric::RunResult result;
  result.virtual_s = 0.002;
  result.flows.count = 10;
  result.flows.finished = 6;
  result.flows.fct_us = fabric::FctSummary{.p50 = 100, .p99 = 150, .max = 160};
  fabric::Scenario scenario;
  scenario.limit = milliseconds(2);
  scenario.topology = fabric::star(2, gigabits_per_second(100), microseconds(1));
  const Observation seen = observation_of(result, with_own_parts(scenario));
  EXPECT_EQ(seen.objectives[Objective::p99_fct], 2000);
  EXPECT_EQ(seen.objectives[Objective::latency], 100);
}

TEST(FabricPlant, TellsBreachesOfGuardrails) {
  fabric::RunResult result;
  result.virtual_s = 0.0001;
  result.lossless_drops = 3;
  result.failed_requests = 1;
  result.deadlock = fabric::Deadlock{.found_us = 100, .cycle = {"switch 0 port 2", "switch 1 port 1"}};
  fabric::Scenario scenario;
  scenario.topology = fabric::star(2, gigabits_per_second(100), microseconds(1));
  const Observation seen = observation_of(result, with_own_parts(scenario));
  ASSERT_EQ(seen.breaches.size(), 3u);
  EXPECT_EQ(seen.breaches[0].guardrail, "deadlock");
  EXPECT_THAT(seen.breaches[0].what, HasSubstr("switch 0 port 2, switch 1 port 1"));
  EXPECT_EQ(seen.breaches[1].guardrail, "lossless-drop");
  EXPECT_EQ(seen.breaches[2].guardrail, "failed-requests");
}

TEST(FabricPlant, LatencyOfFlowsWithoutEndIsThatOfQueues) {
  const auto plant = plant_of("", with({{"flows.0.bytes", "\"1GB\""}}));
  const Observation seen = observed(*plant, {});
  EXPECT_FALSE(seen.objectives[Objective::p99_fct]);
  EXPECT_GT(*seen.objectives[Objective::latency], 8);  // four links of 1 us, there and back
}

TEST(FabricPlant, HoldsOutWhatTheFileSays) {
  const std::string others = R"(
[[workloads]]
name = "pair"
[[workloads.flows]]
pattern = "pair"
from = 1
to = 2
bytes = "100kB"
[tune]
held_out = ["pair"]
workload_weights = { default = 3 }
)";
  const auto plant = plant_of(others);
  ASSERT_EQ(plant->workloads().size(), 2u);
  EXPECT_EQ(plant->workloads()[0].name, "default");
  EXPECT_EQ(plant->workloads()[0].weight, 3);
  EXPECT_TRUE(plant->workloads()[1].held_out);
  // Without it the first workload is held out under seeds that no search has.
  const auto alone = plant_of();
  ASSERT_EQ(alone->workloads().size(), 2u);
  EXPECT_EQ(alone->workloads()[1].name, "default, other seeds");
  EXPECT_TRUE(alone->workloads()[1].held_out);
  EXPECT_NE(observed(*alone, {.workload = 0}), observed(*alone, {.workload = 1}));
}

// A trial runs each workload several times, what is held out twice as often, and counts all of them.
TEST(FabricPlant, ATrialIsSeveralRuns) {
  const auto marks = [](FabricPlant& plant, std::size_t workload) {
    const Observation seen = observed(plant, {.workload = workload});
    return static_cast<double>(seen.counter_deltas.at("switch_ce_marked"));
  };
  const auto once = plant_of("[tune]\nruns = 1\n");
  const auto thrice = plant_of("[tune]\nruns = 3\n");
  ASSERT_GT(marks(*once, 0), 20);
  EXPECT_NEAR(marks(*thrice, 0) / marks(*once, 0), 3, 0.5);
  EXPECT_NEAR(marks(*once, 1) / marks(*once, 0), 2, 0.5);
  EXPECT_NE(observed(*thrice, {}).objectives, observed(*once, {}).objectives) << "each has its own seed";
  EXPECT_EQ(plant_of()->table().runs, 9);
  // Two threads share the runs of one workload, and nothing depends on it.
  const auto shared = plant_of("[tune]\nruns = 3\n", {.threads = 2});
  EXPECT_EQ(observed(*shared, {}).objectives, observed(*thrice, {}).objectives);
}

TEST(FabricPlant, PutsRunsTogether) {
  Observation slow;
  slow.objectives[Objective::goodput] = 40;
  slow.objectives[Objective::busbw] = 10;
  slow.objectives[Objective::fairness] = 0.5;
  slow.counter_deltas["switch_drops"] = 3;
  slow.breaches = {{"lossless-drop", "3 packets"}};
  slow.series = {{.name = "throughput", .unit = "Gb/s", .at_us = {1}, .values = {40}}};
  Observation fast;
  fast.objectives[Objective::goodput] = 90;
  fast.counter_deltas["switch_drops"] = 1;
  const Observation idle;
  const Observation seen = together({slow, fast, idle});
  EXPECT_NEAR(*seen.objectives[Objective::goodput], 60, 1e-9) << "of ratios the geometric mean";
  EXPECT_FALSE(seen.objectives[Objective::busbw]) << "a collective that did not end in one run has no mean";
  EXPECT_EQ(seen.objectives[Objective::fairness], 0.5) << "a single flow has nothing to be fair to";
  EXPECT_EQ(seen.counter_deltas.at("switch_drops"), 4);
  ASSERT_EQ(seen.breaches.size(), 1u);
  EXPECT_EQ(seen.breaches[0].what, "3 packets (1 of 3 runs)");
  EXPECT_EQ(seen.series.size(), 1u);
  EXPECT_EQ(together({idle, idle}).objectives, search::Objectives()) << "nothing is not zero";
}

// However long a flow random arrivals draw, what is measured stays the same.
TEST(FabricPlant, RandomArrivalsAreMeantToEnd) {
  const auto plant = plant_of(R"(
[[workloads]]
name = "mix"
[[workloads.flows]]
pattern = "poisson"
load = "100%"
until = "2ms"
bytes = "30MB"
[tune]
workloads = ["mix"]
)");
  EXPECT_TRUE(observed(*plant, {}).objectives[Objective::p99_fct]);
}

TEST(FabricPlant, TurnsOnlyWhatItMay) {
  const auto plant = plant_of("[tune]\nwithout = [\"hosts.*\"]\n", {.without = {"switches.pmax"}});
  for (const search::Knob& knob : plant->space().knobs()) {
    EXPECT_FALSE(knob.name.starts_with("hosts.")) << knob.name;
    EXPECT_NE(knob.name, "switches.pmax");
  }
  const auto one = plant_of("", {.only = {"switches.kmin", "switches.kmax"}});
  EXPECT_EQ(one->space().size(), 2u);
}

struct Wrong {
  std::string more;
  FabricOptions options;
  std::string says;
};
TEST(FabricPlant, SaysWhatIsWrongWithAFile) {
  const Wrong cases[] = {
      {"[tune]\nheld_out = [\"defualt\"]\n",
       {},
       "small.toml:21:1: tune.held_out: found \"defualt\", allowed: default"},
      {"[tune]\nheld_out = [\"default\"]\n", {}, "tune.held_out"},
      {"[tune]\nruns = 0\n", {}, "tune.runs: found 0, allowed: 1 to 100"},
      {"[tune]\nweight = { goodputt = 1 }\n", {}, "did you mean goodput"},
      {"[tune]\nwithout = [\"switches.kminn\"]\n", {}, "did you mean switches.kmin"},
      {"[tune]\nworkload_weights = { default = 0 }\n", {}, "weights above 0"},
      {"", {.only = {"nothing"}}, "--only: found nothing"},
      {"", {.settings = {{"link", "\"infiniband\""}}}, "credits have nothing to tune"},
      {"[[workloads]]\nname = \"default\"\n", {}, "a name of its own"},
      {"", {.settings = {{"limit", "\"2us\""}}}, "small.toml: limit: found 2us, allowed: more than "},
      {"", {.settings = {{"workload", "\"none\""}}}, "workload: found \"none\", allowed: default"},
  };
  for (const Wrong& wrong : cases) {
    const auto plant = try_plant(wrong.more, wrong.options);
    ASSERT_FALSE(plant) << wrong.says;
    EXPECT_EQ(plant.error().kind(), ErrorKind::bad_input);
    EXPECT_THAT(plant.error().text(), HasSubstr(wrong.says));
  }
}

TEST(FabricPlant, AWorkloadMayHaveAnyName) {
  const auto plant = plant_of(
      "[[workloads]]\nname = 'a\"\\ <b>'\n[[workloads.flows]]\npattern = \"pair\"\n"
      "from = 1\nto = 2\nbytes = \"10kB\"\n");
  ASSERT_EQ(plant->workloads().size(), 3u);
  EXPECT_EQ(plant->workloads()[1].name, "a\"\\ <b>");
}

TEST(FabricPlant, AStoppedRunIsNoObservation) {
  auto plant = plant_of();
  std::stop_source stop;
  fabric::RunOptions options{.stop = stop.get_token()};
  options.on_progress = [&](double) { stop.request_stop(); };
  const fabric::RunResult part = fabric::run(plant->scenario(), options);
  EXPECT_LT(part.virtual_s, fabric::run(plant->scenario()).virtual_s);
  EXPECT_GT(part.events, 0u);
  EXPECT_FALSE(plant->observe({.candidate = plant->space().start()}, stop.get_token()));
  const auto opened = try_plant("", {.stop = stop.get_token()});
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().kind(), ErrorKind::conflict);
}

TEST(FabricPlant, WeightsThatAreAllZeroAreRefused) {
  const auto plant = plant_of(
      "[tune]\nweight = { goodput = 0, busbw = 0, latency = 0, p99_fct = 0, pause_ratio = 0, fairness = 0 "
      "}\n");
  const auto policy = policy_for(*plant, {}, {}, "--objective");
  ASSERT_FALSE(policy);
  EXPECT_THAT(policy.error().text(), HasSubstr("tune.weight"));
  EXPECT_TRUE(policy_for(*plant, {}, {"goodput"}, "--objective"));
}

TEST(FabricPlant, SaysWhatToDoAndHowToUndoIt) {
  const auto plant = plant_of("[[switches.own]]\nswitches = [1]\npriority_of_dscp = { 26 = 0 }\n");
  search::Candidate candidate =
      candidate_of(*plant, {{"switches.kmin", "50000"}, {"hosts.rp_ai_rate", "40"}});
  candidate.values[*plant->space().find("switch1.priority_of_dscp")] = 1;
  const auto steps = steps_of(*plant, candidate);
  ASSERT_EQ(steps.size(), 3u);
  EXPECT_EQ(steps[0].where, "all switches");
  EXPECT_EQ(steps[0].how, "WRED_PROFILE green_min_threshold 50000");
  EXPECT_EQ(steps[0].undo, "WRED_PROFILE green_min_threshold 100000");
  EXPECT_EQ(steps[1].how, "echo 40 > /sys/kernel/debug/mlx5/BDF/cc_params/rp_ai_rate");
  EXPECT_EQ(steps[2].where, "switch1");
  EXPECT_EQ(steps[2].before, "26=0, 48=6");
  EXPECT_EQ(steps[2].after, "26=3, 48=6");
}

}  // namespace
}  // namespace rocetune::fabric_plant
