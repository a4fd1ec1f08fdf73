#include "agent/tune/search/tuner.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <ranges>

#include "tests/agent/tune/search/tuner_scenes.h"

namespace rocetune::search {
namespace {

TEST(Tuner, SaysThatNothingMeasuresWhatCounts) {
  SyntheticWorld world;
  SyntheticPlant plant(SyntheticOptions(), world);
  Policy policy = shipped_policy();
  policy.weights = {};
  policy.weights[static_cast<std::size_t>(Objective::busbw)] = 1;
  TuneOptions options;
  options.budget.trials = 40;
  const Outcome outcome = tune(plant, policy, options, nullptr, {});
  EXPECT_EQ(outcome.verdict, Verdict::refused);
  EXPECT_EQ(outcome.reason, "no workload that is searched on measures what counts: busbw");
  EXPECT_LT(outcome.trials.size(), 5u) << "nothing is spent on it";
}

// Latency counts, and one workload does not measure it: the others decide, confirmed like any.
TEST(Tuner, SearchesOnWhatIsMeasured) {
  class Deaf final : public PlantInFront {
   public:
    using PlantInFront::PlantInFront;
    Expected<Observation> observe(const Request& request, std::stop_token stop) override {
      auto out = PlantInFront::observe(request, stop);
      if (out && (request.workload == 1 || workloads()[request.workload].held_out))
        out->objectives[Objective::p99_fct].reset();
      return out;
    }
  };
  SyntheticWorld world;
  SyntheticPlant plant(SyntheticOptions(), world);
  Deaf deaf(plant);
  Policy policy = shipped_policy();
  policy.weights = {};
  policy.weights[static_cast<std::size_t>(Objective::p99_fct)] = 1;
  TuneOptions options;
  options.budget.trials = 40;
  const Outcome outcome = tune(deaf, policy, options, nullptr, {});
  EXPECT_EQ(outcome.verdict, Verdict::change) << outcome.reason;
  EXPECT_NE(outcome.reason, "");
  EXPECT_TRUE(outcome.gain_percent);
  EXPECT_FALSE(outcome.held_out_gain_percent) << "what is held out shows nothing that counts";
  EXPECT_FALSE(outcome.workloads[1].gain_percent);
  EXPECT_TRUE(outcome.workloads[0].gain_percent);
}

TEST(Tuner, FindsMostOfWhatCanBeHad) {
  const Policy policy = shipped_policy();
  for (const std::uint64_t seed : {1, 2, 3, 4}) {
    SyntheticOptions options;
    options.seed = seed;
    SyntheticWorld world;
    SyntheticPlant plant(options, world);
    const Outcome outcome = tuned(plant, 60, seed);
    ASSERT_EQ(outcome.verdict, Verdict::change) << outcome.reason;
    EXPECT_LE(outcome.trials.size(), 60u);
    const double found = plant.true_score(outcome.best, policy).value();
    const double best = plant.true_score(plant.optimum(), policy).value();
    EXPECT_GT(found, 0.75 * best) << "plant " << seed;
    // The interval of the confirmation holds the truth, give or take what the held-out half of it cannot
    // know.
    EXPECT_NEAR(std::log1p(outcome.gain_percent->mid / 100), found, 0.05);
    EXPECT_EQ(world.applied, plant.space().start());
    EXPECT_EQ(world.violations, 0);
    EXPECT_TRUE(outcome.restored);
  }
}

TEST(Tuner, TheSameSeedGivesTheSameTrials) {
  SyntheticWorld world;
  SyntheticPlant plant(SyntheticOptions{}, world);
  const Outcome one = tuned(plant, 30, 5);
  const Outcome two = tuned(plant, 30, 5);
  ASSERT_EQ(one.trials.size(), two.trials.size());
  for (std::size_t i = 0; i < one.trials.size(); ++i) {
    EXPECT_EQ(one.trials[i].candidate, two.trials[i].candidate);
    EXPECT_EQ(one.trials[i].why, two.trials[i].why);
  }
  EXPECT_NE(tuned(plant, 30, 6).trials.back().repeat, one.trials.back().repeat);
}

// The start is slow and even, as behind a rate limit, and its repairs are fast and uneven.
class EvenStart final : public PlantAround {
 public:
  using PlantAround::PlantAround;
  Expected<Observation> observe(const Request& request, std::stop_token stop) override {
    if (request.candidate == space().start()) return plant_.truth(request.candidate, request.workload);
    return plant_.observe(request, std::move(stop));
  }
};

// A host that refuses every change.
class FrozenPlant final : public PlantAround {
 public:
  using PlantAround::PlantAround;
  Expected<Observation> observe(const Request& request, std::stop_token stop) override {
    if (request.candidate == space().start()) return plant_.observe(request, std::move(stop));
    Observation out;
    out.failure = Failure{FailureKind::not_applied, "the journal is full"};
    return out;
  }
};

TEST(Tuner, WhereNothingCouldBeTriedItDoesNotSayThatNothingIsBetter) {
  SyntheticWorld world;
  SyntheticPlant synthetic(SyntheticOptions{.is_repeatable = false}, world);
  FrozenPlant plant(synthetic);
  const Outcome outcome = tuned(plant, 20);
  EXPECT_EQ(outcome.verdict, Verdict::no_change);
  EXPECT_NE(outcome.reason.find("changes that were tried ran"), std::string::npos) << outcome.reason;
  EXPECT_NE(outcome.reason.find("the journal is full"), std::string::npos) << outcome.reason;
}

TEST(Tuner, WhatChanceDoesIsSeenAtTheBestToo) {
  SyntheticOptions options;
  options.seed = 11;
  options.is_mistuned = false;
  options.faults = 2;
  options.noise = 0.2;
  options.common_noise = 0;
  options.is_repeatable = false;
  SyntheticWorld world;
  SyntheticPlant synthetic(options, world);
  EvenStart plant(synthetic);
  const Outcome outcome = tuned(plant, 40);
  EXPECT_EQ(outcome.noise.sd, 0);
  const auto is_search = [](const Trial& t) { return t.phase == Phase::explore || t.phase == Phase::model; };
  const auto begin = std::ranges::find_if(outcome.trials, is_search);
  ASSERT_NE(begin, outcome.trials.end());
  std::map<Candidate, int> runs;
  for (auto trial = outcome.trials.begin(); trial != begin; ++trial) ++runs[trial->candidate];
  runs.erase(plant.space().start());
  EXPECT_GE(std::ranges::max(runs | std::views::values), 2) << "before anything is built on one run of it";
}

TEST(Tuner, AttributesTheGainToTheFixesAndRefusesAFalseOne) {
  SyntheticOptions options;
  options.seed = 11;
  options.is_mistuned = false;
  options.faults = 2;
  options.has_false_remedy = true;  // DCQCN off
  options.idle_knobs = 2;
  SyntheticWorld world;
  SyntheticPlant plant(options, world);
  const Outcome outcome = tuned(plant, 60);
  ASSERT_EQ(outcome.verdict, Verdict::change) << outcome.reason;
  const std::size_t dcqcn = *plant.space().find("hosts.dcqcn");
  EXPECT_EQ(outcome.best.values[dcqcn], 1);
  std::vector<std::string> credited;
  for (const Attribution& one : outcome.attribution) {
    if (one.effect == Attribution::Effect::cure || one.effect == Attribution::Effect::part ||
        one.effect == Attribution::Effect::together) {
      credited.push_back(one.suggestion);
    }
  }
  EXPECT_NE(std::ranges::find(credited, "RULE-1"), credited.end());
  EXPECT_NE(std::ranges::find(credited, "RULE-2"), credited.end());
}

// Clamp and a small hyper-increase do nothing alone and everything together.
TEST(Tuner, FindsTwoKnobsThatHelpOnlyTogether) {
  int found = 0;
  for (std::uint64_t seed = 1; seed <= 40 && found < 3; ++seed) {
    SyntheticOptions options;
    options.seed = seed;
    options.faults = 0;
    options.is_mistuned = false;
    SyntheticWorld world;
    SyntheticPlant plant(options, world);
    if (!plant.plant_pair()) continue;
    ++found;
    const Outcome outcome = tuned(plant, 60);
    ASSERT_EQ(outcome.verdict, Verdict::change) << outcome.reason;
    const std::size_t clamp = *plant.space().find("dcqcn.clamp");
    const std::size_t hai = *plant.space().find("dcqcn.hai");
    EXPECT_EQ(outcome.best.values[clamp], 1);
    EXPECT_LT(outcome.best.values[hai], plant.space()[hai].start / 3);
    int together = 0;
    for (const Attribution& one : outcome.attribution) {
      EXPECT_NE(one.effect, Attribution::Effect::cure) << plant.space().text(one.settings);
      together += one.effect == Attribution::Effect::together ? 1 : 0;
    }
    EXPECT_GE(together, 1);
  }
  EXPECT_EQ(found, 3);
}

TEST(Tuner, SaysNoChangeOfAPlantThatIsRight) {
  for (const bool is_repeatable : {true, false}) {
    int changes = 0;
    for (std::uint64_t seed = 1; seed <= 100; ++seed) {
      SyntheticOptions options;
      options.seed = seed;
      options.faults = 0;
      options.is_mistuned = false;
      options.noise = 0.02;
      options.is_repeatable = is_repeatable;
      SyntheticWorld world;
      SyntheticPlant plant(options, world);
      const Outcome outcome = tuned(plant, 40, seed);
      EXPECT_NE(outcome.verdict, Verdict::refused);
      changes += outcome.verdict == Verdict::change ? 1 : 0;
    }
    EXPECT_LE(changes, 5) << (is_repeatable ? "repeatable" : "not repeatable");
  }
}

TEST(Tuner, StopsEarlyWhereNothingMoreIsToBeHad) {
  SyntheticOptions options;
  options.faults = 0;
  options.is_mistuned = false;
  options.idle_knobs = 0;
  options.noise = 0.001;
  options.common_noise = 0.001;
  SyntheticWorld world;
  SyntheticPlant plant(options, world);
  const Outcome outcome = tuned(plant, 300);
  EXPECT_EQ(outcome.verdict, Verdict::no_change);
  EXPECT_LT(outcome.trials.size(), 150u) << outcome.stop_reason;
  EXPECT_NE(outcome.stop_reason.find("expects nothing more"), std::string::npos) << outcome.stop_reason;
}

TEST(Tuner, KeepsToATimeBudget) {
  SyntheticWorld world;
  SyntheticPlant plant(SyntheticOptions{}, world);
  TuneOptions options;
  options.budget.time = seconds(150);  // a run takes one
  const Outcome outcome = tune(plant, shipped_policy(), options, nullptr, {});
  EXPECT_LE(world.observations, 160);
  EXPECT_GT(world.observations, 90);
  EXPECT_EQ(outcome.verdict, Verdict::change) << outcome.reason;
}

// A fault that strikes in one run of three: what is there is far noisier than what cures it.
class StrikingNowAndThen final : public PlantAround {
 public:
  using PlantAround::PlantAround;
  Expected<Observation> observe(const Request& request, std::stop_token stop) override {
    auto out = plant_.observe(request, std::move(stop));
    if (out && request.candidate == space().start() && request.repeat % 3 == 0) {
      auto& goodput = out->objectives[Objective::goodput];
      if (goodput) *goodput /= 20;
    }
    return out;
  }
};

TEST(Tuner, AFaultThatStrikesNowAndThenHidesNoGain) {
  int changes = 0;
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    SyntheticOptions options;
    options.seed = 12;
    options.faults = 0;
    SyntheticWorld world;
    SyntheticPlant synthetic(options, world);
    StrikingNowAndThen plant(synthetic);
    changes += tuned(plant, 40, seed).verdict == Verdict::change ? 1 : 0;
  }
  EXPECT_GE(changes, 9) << "of 10";
}

TEST(Tuner, RefusesWhatShowsNothing) {
  SyntheticWorld world;
  SyntheticPlant plant(SyntheticOptions{}, world);
  const Outcome outcome = tuned(plant, 5);
  EXPECT_EQ(outcome.verdict, Verdict::refused);
  EXPECT_EQ(outcome.reason, "a budget of 5 trials shows nothing: at least 12");
  EXPECT_EQ(world.observations, 0);
}

TEST(Tuner, StoppedOnRequest) {
  SyntheticOptions options;
  options.injected.stopped_at = 40;
  SyntheticWorld world;
  std::stop_source stop;
  SyntheticPlant plant(options, world, &stop);
  TuneOptions tuning;
  tuning.budget.trials = 60;
  const Outcome outcome = tune(plant, shipped_policy(), tuning, nullptr, stop.get_token());
  EXPECT_EQ(outcome.verdict, Verdict::interrupted);
  EXPECT_EQ(outcome.best, plant.space().start());
  EXPECT_EQ(world.applied, plant.space().start());
  EXPECT_TRUE(outcome.restored);
  EXPECT_FALSE(outcome.trials.empty());
}

TEST(Tuner, SaysWhatItRefusedBeforeATrial) {
  SyntheticOptions options;
  options.seed = 4;
  SyntheticWorld world;
  SyntheticPlant plant(options, world);
  const Outcome outcome = tuned(plant, 60);
  const bool is_told = std::ranges::any_of(outcome.not_tried, [](const NotTried& one) {
    return one.what == "ecn-order: Kmin < Kmax < Xoff" && one.times > 0;
  });
  EXPECT_TRUE(is_told);
  EXPECT_EQ(world.violations, 0);
}

}  // namespace
}  // namespace rocetune::search
