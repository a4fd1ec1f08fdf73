#include "agent/tune/host_plant/host_plant.h"

#include <thread>

#include "agent/tune/planner.h"
#include "agent/tune/search/tuner.h"
#include "dataplane/base/clock.h"
#include "dataplane/base/random.h"
#include "tests/agent/tune/host_plant/plant_bench.h"

namespace rocetune::tune {
namespace {

using search::FailureKind;
using testing::HasSubstr;

class HostPlantTest : public testing::Test {
 protected:
  HostPlantTest() {
    machines_.push_back(std::make_unique<FakeMachine>(fixture_host("mlx5", "h1")));
    options_.metrics.push_back(*Metric::parse("busbw=re:Gb/s:busbw ([0-9.]+)"));
    options_.interval = milliseconds(100);
    options_.workload_limit = seconds(30);
    run("echo busbw 60");
  }
  FakeMachine& machine(std::size_t i = 0) { return *machines_[i]; }
  void add_machine() { machines_.push_back(std::make_unique<FakeMachine>(fixture_host("mlx5", "h2"))); }
  void run(const std::string& command) { options_.workloads = {{"workload", command, false}}; }

  HostPlant& plant() {
    if (plant_) return *plant_;
    std::vector<FoundHost> found_hosts;
    std::vector<HostControl> controls;
    for (const auto& machine : machines_) {
      found_hosts.push_back(found(machine->host()));
      controls.push_back(machine->control());
    }
    HostSpaceLimits limits{
        .mtus = {Bytes(1500), Bytes(4200), Bytes(9000)}, .safe_factor = 10, .profiles = profiles_};
    auto space = HostSpace::make(std::move(found_hosts), {}, limits, ConfigFiles(), guardrails(), kAllow);
    EXPECT_TRUE(space) << (space ? "" : space.error().text());
    plant_.emplace(std::move(controls), std::move(*space), options_, guardrails().soak);
    return *plant_;
  }
  search::Candidate start() { return plant().space().start(); }
  // Another value of a knob that takes effect by itself.
  search::Candidate changed() {
    const search::Space& space = plant().space();
    const auto knob = space.find("mtu");
    EXPECT_TRUE(knob);
    return space.with(space.start(), {{*knob, space[*knob].start == 0 ? 1.0 : 0.0}});
  }
  Expected<search::Observation> observe(const search::Candidate& candidate, std::stop_token stop = {}) {
    return plant().observe({.candidate = candidate}, stop);
  }
  // Of a candidate that changes something.
  search::Observation observed(const search::Candidate& candidate) {
    auto out = observe(candidate);
    EXPECT_TRUE(out) << (out ? "" : out.error().text());
    return out ? *out : search::Observation{};
  }
  void expect_all_as_before() {
    const auto back = plant().restore();
    EXPECT_TRUE(back) << (back ? "" : back.error().text());
    for (const auto& machine : machines_) EXPECT_TRUE(machine->is_as_before());
  }

  static bool never() { return false; }

  const std::vector<std::string> kAllow{"take-dcbx",  "inexact-revert", "bounce-default-route",
                                        "bounce-ssh", "bounce-storage", "other-owner"};
  std::vector<std::unique_ptr<FakeMachine>> machines_;
  HostPlantOptions options_;
  std::vector<std::string> profiles_;
  std::optional<HostPlant> plant_;
};

TEST_F(HostPlantTest, MeasuresWhatIsThereWithoutChangingIt) {
  const auto seen = observed(start());
  EXPECT_FALSE(seen.failure);
  EXPECT_DOUBLE_EQ(seen.objectives[search::Objective::busbw].value(), 60);
  EXPECT_DOUBLE_EQ(seen.objectives[search::Objective::pause_ratio].value(), 0);
  EXPECT_GT(seen.counter_deltas.at("rdma_tx_bytes"), 0);
  EXPECT_EQ(machine().transactions(), 0U);
}

// mlx5's rows of paused priorities go with PFC.
TEST_F(HostPlantTest, WithoutAnyPauseNobodyIsPaused) {
  profiles_ = {"lossy"};
  machine().put("hides", found(machine().host()).ports.front() + " pfc");
  const search::Space& space = plant().space();
  const auto lossy = space.setting("class.profile", "lossy");
  ASSERT_TRUE(lossy);
  const auto seen = observed(space.with(space.start(), {*lossy}));
  EXPECT_FALSE(seen.failure);
  EXPECT_EQ(seen.objectives[search::Objective::pause_ratio], 0.0);
}

TEST_F(HostPlantTest, PauseThatNobodyCountsIsNotZero) {
  machine().put("hides", found(machine().host()).ports.front() + " mtu");
  EXPECT_EQ(observed(changed()).objectives[search::Objective::pause_ratio], std::nullopt);
}

TEST_F(HostPlantTest, ACandidateIsInForceWhileItIsMeasured) {
  run("grep -c settings " + machine().folder() + "/book.json; " +
      "python3 -S -c 'import json; print(\"busbw\", 1 + len(json.load(open(\"" + machine().folder() +
      "/book.json\"))[\"settings\"]))'");
  EXPECT_GT(observed(changed()).objectives[search::Objective::busbw].value(), 1);
  EXPECT_EQ(machine().open(), 1U) << "waits, never confirmed";
  EXPECT_EQ(observed(changed()).failure, std::nullopt);
  EXPECT_EQ(machine().transactions(), 1U) << "the same candidate stays where it is";
  expect_all_as_before();
}

TEST_F(HostPlantTest, WhatIsRefusedIsAFailureAndNothingIsLeft) {
  machine().go_wrong(R"({"apply": ["refuse", "undone"]})");
  for (int i = 0; i < 2; ++i) {
    const auto seen = observed(changed());
    ASSERT_TRUE(seen.failure);
    EXPECT_EQ(seen.failure->kind, FailureKind::not_applied);
    EXPECT_THAT(seen.failure->why, HasSubstr("said no"));
    EXPECT_TRUE(machine().is_as_before());
  }
}

TEST_F(HostPlantTest, AFailedRollbackEndsItUntilItIsRepaired) {
  machine().go_wrong(R"({"apply": ["stuck"], "rollback": ["stuck", "stuck", "stuck"]})");
  const auto seen = observe(changed());
  ASSERT_FALSE(seen);
  EXPECT_THAT(seen.error().text(), HasSubstr("by hand: "));
  EXPECT_THAT(seen.error().text(), HasSubstr("rollback 1"));
  EXPECT_GT(machine().changed(), 0U);
  expect_all_as_before();  // the next try succeeds
}

TEST_F(HostPlantTest, AnAnswerThatIsLostIsFoundOut) {
  machine().go_wrong(R"({"apply": ["lost", "late", "die"]})");
  for (int i = 0; i < 3; ++i) {
    const auto seen = observed(changed());
    ASSERT_TRUE(seen.failure) << i;
    EXPECT_EQ(seen.failure->kind, FailureKind::not_applied);
    EXPECT_TRUE(machine().is_as_before()) << i;
  }
}

TEST_F(HostPlantTest, ARollbackIsTriedAgainAndItsAnswerFoundOut) {
  machine().go_wrong(R"({"rollback": ["die", "", "lost"]})");
  for (int i = 0; i < 2; ++i) {
    EXPECT_FALSE(observed(changed()).failure);
    expect_all_as_before();
  }
}

TEST_F(HostPlantTest, TheDeadManMayBeFirst) {
  EXPECT_FALSE(observed(changed()).failure);
  machine().put(
      "book.json",
      R"({"settings": {}, "transactions": [{"id": 1, "phase": "ended", "outcome": "rolled_back", "plan": {}}]})");
  expect_all_as_before();
}

TEST_F(HostPlantTest, WhenOneHostFailsAllAreTakenBack) {
  add_machine();
  machine(1).go_wrong(R"({"apply": ["refuse"]})");
  const auto seen = observed(changed());
  ASSERT_TRUE(seen.failure);
  EXPECT_THAT(seen.failure->why, HasSubstr("h2: refused"));
  EXPECT_EQ(machine(0).transactions(), 1U);
  EXPECT_TRUE(machine(0).is_as_before());
  EXPECT_TRUE(machine(1).is_as_before());
}

TEST_F(HostPlantTest, HarmEndsTheWorkloadAndTheChange) {
  EXPECT_FALSE(observed(start()).failure);
  machine().put("harm", found(machine().host()).ports.front() + " mtu");
  run("sleep 25; echo busbw 60");
  plant_.reset();
  const SystemClock clock;
  const Instant begin = clock.now();
  const auto seen = observed(changed());
  ASSERT_FALSE(seen.breaches.empty());
  EXPECT_EQ(seen.breaches[0].guardrail, "held-by-network");
  EXPECT_LT((clock.now() - begin).seconds(), 20) << "the workload was not waited for";
  EXPECT_TRUE(machine().is_as_before()) << "at once, not with the next candidate";
}

TEST_F(HostPlantTest, ABlindTrialIsEnded) {
  options_.workload_limit = seconds(60);
  run("sleep 50; echo busbw 60");
  machine().go_wrong(R"({"watch": ["die", "silent"]})");
  for (const char* why : {"watch ended with 1", "no counters for"}) {
    const auto seen = observed(changed());
    ASSERT_TRUE(seen.failure);
    EXPECT_EQ(seen.failure->kind, FailureKind::counters_vanished);
    EXPECT_THAT(seen.failure->why, HasSubstr(why));
    EXPECT_TRUE(machine().is_as_before());
  }
}

TEST_F(HostPlantTest, CountersThatVanishAndDamagedOnesAreTold) {
  run("sleep 2; echo busbw 60");
  machine().go_wrong(R"({"watch": ["vanish", "garbage"]})");
  const auto vanished = observed(start());
  ASSERT_TRUE(vanished.failure);
  EXPECT_EQ(vanished.failure->kind, FailureKind::counters_vanished);
  const auto damaged = observed(start());
  ASSERT_FALSE(damaged.confounders.empty());
  EXPECT_THAT(damaged.confounders[0], HasSubstr("damaged"));
}

TEST_F(HostPlantTest, AWorkloadThatFailsOrHangsOrTellsNonsense) {
  const std::string state = machine().folder() + "/";
  options_.workload_limit = seconds(1);
  struct Case {
    const char* command;
    FailureKind kind;
    const char* why;
  };
  for (const Case& one :
       {Case{"echo no GPU >&2; exit 3", FailureKind::workload_failed, "ended with 3: no GPU"},
        Case{"sleep 60", FailureKind::hung, "no end within 1s"},
        Case{"echo done", FailureKind::workload_failed, "not in what the workload printed"},
        Case{"echo busbw 0", FailureKind::nonsense, "0 Gb/s"},
        Case{"echo busbw 99999", FailureKind::nonsense, "links of"}}) {
    run(one.command);
    plant_.reset();
    const auto seen = observed(start());
    ASSERT_TRUE(seen.failure) << one.command;
    EXPECT_EQ(seen.failure->kind, one.kind) << one.command << ": " << seen.failure->why;
    EXPECT_THAT(seen.failure->why, HasSubstr(one.why));
  }
}

TEST_F(HostPlantTest, AStopInTheMiddleBringsTheStartStateBack) {
  run("sleep 25; echo busbw 60");
  std::stop_source stop;
  const SystemClock clock;
  const Instant begin = clock.now();
  std::jthread signal([&] {
    while (machine().open() == 0 && (clock.now() - begin).seconds() < 20)
      SystemClock().sleep_for(milliseconds(20));
    stop.request_stop();
  });
  const auto seen = observe(changed(), stop.get_token());
  ASSERT_FALSE(seen);
  EXPECT_EQ(seen.error().kind(), ErrorKind::conflict);
  EXPECT_LT((clock.now() - begin).seconds(), 20);
  EXPECT_EQ(machine().transactions(), 1U);
  EXPECT_TRUE(machine().is_as_before());
}

TEST_F(HostPlantTest, CommitsOnAllHosts) {
  add_machine();
  const auto done = plant().commit(changed(), never);
  ASSERT_TRUE(done) << done.error().text();
  EXPECT_EQ(*done, (std::vector<std::int64_t>{1, 1}));
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_GT(machine(i).changed(), 0U);
    EXPECT_EQ(machine(i).open(), 0U);
  }
  EXPECT_TRUE(plant().restore()) << "what is confirmed is not taken back";
  EXPECT_GT(machine().changed(), 0U);
}

TEST_F(HostPlantTest, CommitsOnAllHostsOrOnNone) {
  add_machine();
  machine(1).go_wrong(R"({"confirm": ["die"]})");
  const auto done = plant().commit(changed(), never);
  ASSERT_FALSE(done);
  EXPECT_THAT(done.error().text(), HasSubstr("h2: not confirmed"));
  EXPECT_TRUE(machine(0).is_as_before());
  EXPECT_TRUE(machine(1).is_as_before());
}

TEST_F(HostPlantTest, AStopBeforeTheConfirmationCommitsNothing) {
  for (const std::size_t asked_before : {0U, 1U}) {
    std::size_t asked = 0;
    const auto done = plant().commit(changed(), [&] { return asked++ == asked_before; });
    ASSERT_FALSE(done);
    EXPECT_THAT(done.error().text(), HasSubstr("stopped"));
    EXPECT_EQ(machine().transactions(), asked_before);
    expect_all_as_before();
  }
}

// Two tuners at once, or a person with a plan: what is measured is nobody's any more.
TEST_F(HostPlantTest, SomebodyElsesChangeEndsIt) {
  EXPECT_FALSE(observed(start()).failure);
  const std::string theirs =
      R"({"id": 1, "phase": "ended", "outcome": "committed", "plan": {"profile": "lossy"}})";
  machine().put("book.json", R"({"settings": {}, "transactions": [)" + theirs + "]}");
  const auto seen = observe(start());
  ASSERT_FALSE(seen);
  EXPECT_EQ(seen.error().kind(), ErrorKind::conflict);
  EXPECT_THAT(seen.error().text(), HasSubstr("transaction 1 (lossy) is not of this run"));
}

TEST_F(HostPlantTest, WhatWasDoneBeforeIsNoMatter) {
  machine().put(
      "book.json",
      R"({"settings": {}, "transactions": [{"id": 7, "phase": "ended", "outcome": "committed", "plan": {}}]})");
  EXPECT_FALSE(observed(start()).failure);
}

TEST_F(HostPlantTest, ATrialWhoseChangeWasTakenBackMeanwhileShowsNothing) {
  run("sed -i s/waiting/ended/ " + machine().folder() +
      "/book.json; sed -i 's/\"id\": 1,/\"id\": 1, \"outcome\": " + "\"rolled_back\",/' " +
      machine().folder() + "/book.json; echo busbw 90");
  const auto seen = observed(changed());
  ASSERT_TRUE(seen.failure);
  EXPECT_EQ(seen.failure->kind, FailureKind::not_applied);
  EXPECT_THAT(seen.failure->why, HasSubstr("was taken back meanwhile"));
}

TEST_F(HostPlantTest, AnApplyThatWasGivenUpAndComesLateIsTakenBack) {
  run("sed -i s/ended/waiting/ " + machine().folder() + "/book.json; echo busbw 60");
  EXPECT_FALSE(observed(changed()).failure);
  expect_all_as_before();
  const auto seen = observe(start());
  ASSERT_FALSE(seen);
  EXPECT_THAT(seen.error().text(), HasSubstr("transaction 1 of this run came late"));
  EXPECT_EQ(machine().open(), 1U);
  expect_all_as_before();
}

TEST_F(HostPlantTest, ATrialWhoseChangeSomebodyConfirmedEndsIt) {
  run("sed -i s/waiting/ended/ " + machine().folder() +
      "/book.json; sed -i 's/\"id\": 1,/\"id\": 1, \"outcome\": " + "\"committed\",/' " + machine().folder() +
      "/book.json; echo busbw 90");
  const auto seen = observe(changed());
  ASSERT_FALSE(seen);
  EXPECT_THAT(seen.error().text(), HasSubstr("somebody else ended transaction 1: committed"));
  EXPECT_TRUE(plant().restore());
  EXPECT_EQ(machine().changed(), 0U) << "it was this run's change, and is taken back";
}

TEST_F(HostPlantTest, AConfirmationWhoseAnswerIsLostCounts) {
  machine().go_wrong(R"({"confirm": ["lost"]})");
  EXPECT_TRUE(plant().commit(changed(), never));
  EXPECT_GT(machine().changed(), 0U);
}

TEST_F(HostPlantTest, WhateverGoesWrongNoHostStaysChanged) {
  add_machine();
  constexpr std::uint64_t kSeeds = 6;
  const std::vector<std::string> of_apply{"", "", "refuse", "undone", "stuck", "die", "lost"};
  const std::vector<std::string> of_rollback{"", "", "", "stuck", "lost", "die"};
  const std::vector<std::string> of_watch{"", "", "", "die", "vanish", "garbage"};
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    Random random(seed);
    const auto some_of = [&](const std::vector<std::string>& faults) {
      std::string out;
      for (int i = 0; i < 8; ++i)
        out += (i == 0 ? "\"" : ", \"") + faults[random.next() % faults.size()] + "\"";
      return "[" + out + "]";
    };
    for (std::size_t i = 0; i < 2; ++i) {
      machine(i).put("counts.json", "{}");
      machine(i).go_wrong("{\"apply\": " + some_of(of_apply) + ", \"rollback\": " + some_of(of_rollback) +
                          ", \"watch\": " + some_of(of_watch) + "}");
    }
    run(random.next() % 3 == 0 ? "exit 1" : "echo busbw 60");
    plant_.reset();
    for (int i = 0; i < 4; ++i) (void)observe(i % 2 == 0 ? changed() : start());
    for (std::size_t i = 0; i < 2; ++i) machine(i).go_wrong("{}");
    SCOPED_TRACE("seed " + std::to_string(seed));
    expect_all_as_before();
  }
}

TEST_F(HostPlantTest, ASearchFindsWhatTheWorkloadLikes) {
  profiles_ = {"sonic-dscp3-4"};
  run(workload_that_likes(machine(), found(machine().host()).ports.front() + " pfc"));
  const auto policy = search::load_policy(ConfigFiles());
  ASSERT_TRUE(policy);
  const auto outcome = search::tune(plant(), *policy, {.budget = {.trials = 14}, .seed = 1},
                                    [](const search::Progressed&) {}, {});
  EXPECT_EQ(outcome.verdict, search::Verdict::change) << outcome.reason;
  EXPECT_TRUE(outcome.restored);
  ASSERT_TRUE(outcome.gain_percent);
  EXPECT_GT(outcome.gain_percent->low, 30);
  EXPECT_LT(outcome.gain_percent->high, 51) << "pause counts, too, and nobody paused";
  EXPECT_EQ(outcome.best.values[*plant().space().find("class.profile")], 1);
  EXPECT_TRUE(machine().is_as_before());
}

}  // namespace
}  // namespace rocetune::tune
