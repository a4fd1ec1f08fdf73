#include "agent/tune/search/score.h"

#include <gtest/gtest.h>

#include <cmath>

#include "agent/tune/search/interval.h"
#include "tests/agent/tune/search/synthetic_plant.h"

namespace rocetune::search {
namespace {

Observation measured(double goodput, std::optional<double> p99 = std::nullopt) {
  Observation out;
  out.objectives[Objective::goodput] = goodput;
  out.objectives[Objective::p99_fct] = p99;
  return out;
}

class ScorerTest : public ::testing::Test {
 protected:
  // Workloads 0 to 2 are searched on, 3 is held out.
  Trial trial(const std::vector<Observation>& observations, bool is_start, std::uint64_t repeat = 7) {
    Trial out;
    out.candidate = plant_.space().start();
    if (!is_start) out.candidate.values[1] = 1;
    out.repeat = repeat;
    for (const Observation& observation : observations) out.observations.emplace_back(observation);
    out.observations.resize(4);
    return out;
  }

  SyntheticWorld world_;
  SyntheticPlant plant_{SyntheticOptions{}, world_};
  Policy policy_ = shipped_policy();
};

TEST(Gain, IsARatioOrADifference) {
  EXPECT_NEAR(gain(Objective::goodput, 20, 10), std::log(2), 1e-12);
  EXPECT_NEAR(gain(Objective::p99_fct, 20, 10), -std::log(2), 1e-12);
  EXPECT_NEAR(gain(Objective::pause_ratio, 0.1, 0.4), 0.3, 1e-12);
  EXPECT_NEAR(gain(Objective::fairness, 0.9, 0.6), 0.3, 1e-12);
  EXPECT_EQ(gain(Objective::goodput, 0, 10), -kMostGain);
  EXPECT_EQ(gain(Objective::goodput, 1e9, 1), kMostGain);
}

TEST_F(ScorerTest, AWorkloadThatMeasuresNothingThatCountsHasOnlyFaults) {
  policy_.weights = {};
  policy_.weights[static_cast<std::size_t>(Objective::p99_fct)] = 1;
  policy_.worst_share = 0.5;
  Scorer scorer(plant_, policy_);
  scorer.learn_baseline(trial({measured(10, 10), measured(10), measured(10, 20)}, true));
  EXPECT_TRUE(scorer.is_mute(1));
  EXPECT_FALSE(scorer.is_mute(0));
  Trial better = trial({measured(10, 5), measured(1), measured(10, 20)}, false);
  EXPECT_FALSE(scorer.workload_score(1, better));
  EXPECT_NEAR(*scorer.score(better, WorkloadSet::searched), 0.5 * std::log(2) / 2, 1e-12);
  EXPECT_EQ(scorer.why_no_score(better, WorkloadSet::searched), "");
  better.observations[1]->breaches = {{"deadlock", "closed"}};
  EXPECT_FALSE(scorer.score(better, WorkloadSet::searched)) << "a guardrail holds under every workload";
  EXPECT_NE(scorer.why_no_score(better, WorkloadSet::searched).find("deadlock"), std::string::npos);
}

TEST_F(ScorerTest, WeighsWhatIsMeasuredAndCountsTheWorstWorkloadAgain) {
  policy_.weights = {};
  policy_.weights[static_cast<std::size_t>(Objective::goodput)] = 3;
  policy_.weights[static_cast<std::size_t>(Objective::p99_fct)] = 1;
  policy_.worst_share = 0.5;
  Scorer scorer(plant_, policy_);
  scorer.learn_baseline(trial({measured(10, 10), measured(10), measured(10)}, true));
  const Trial better = trial({measured(20, 10), measured(20), measured(10)}, false);
  EXPECT_NEAR(*scorer.workload_score(0, better), 0.75 * std::log(2), 1e-12);
  EXPECT_NEAR(*scorer.workload_score(1, better), std::log(2), 1e-12);
  EXPECT_NEAR(*scorer.score(better, WorkloadSet::searched), 0.5 * 1.75 * std::log(2) / 3, 1e-12);
  EXPECT_FALSE(scorer.score(better, WorkloadSet::held_out)) << "it was not run";
}

TEST_F(ScorerTest, WhatGetsWorseCountsMore) {
  policy_.weights = {};
  policy_.weights[static_cast<std::size_t>(Objective::goodput)] = 1;
  policy_.weights[static_cast<std::size_t>(Objective::p99_fct)] = 1;
  policy_.loss_weight = 3;
  Scorer scorer(plant_, policy_);
  const Trial baseline = trial({measured(10, 10), measured(10), measured(10)}, true);
  scorer.learn_baseline(baseline);
  const Trial mixed = trial({measured(20, 20), measured(20), measured(10)}, false);
  EXPECT_NEAR(*scorer.workload_score(0, mixed), (std::log(2) - 3 * std::log(2)) / 2, 1e-12);
  EXPECT_NEAR(*scorer.workload_score(0, mixed, baseline), -std::log(2), 1e-12);
  // Against another run of the baseline.
  const Trial slower = trial({measured(5, 20), measured(10), measured(10)}, true);
  EXPECT_NEAR(*scorer.workload_score(0, mixed, slower), std::log(4) / 2, 1e-12);
}

TEST_F(ScorerTest, WhatIsAbsentIsNotZero) {
  Scorer scorer(plant_, policy_);
  scorer.learn_baseline(trial({measured(10, 10), measured(10), measured(10)}, true));
  const Trial vanished = trial({measured(20), measured(20), measured(20)}, false);
  EXPECT_FALSE(scorer.score(vanished, WorkloadSet::searched));
  EXPECT_EQ(scorer.why_no_score(vanished, WorkloadSet::searched),
            "incast: counters_vanished: an objective that the baseline shows is not there");
  // What only the candidate shows has nothing to be compared with.
  const Trial more = trial({measured(20, 5), measured(20, 5), measured(20, 5)}, false);
  EXPECT_NEAR(*scorer.workload_score(1, more), std::log(2), 1e-12);
}

TEST_F(ScorerTest, AFailedRunOrABreachHasNoScore) {
  Scorer scorer(plant_, policy_);
  const std::vector<Observation> good{measured(10), measured(10), measured(10)};
  scorer.learn_baseline(trial(good, true));
  auto failed = good;
  failed[1].failure = Failure{FailureKind::hung, "no progress"};
  EXPECT_FALSE(scorer.score(trial(failed, false), WorkloadSet::searched));
  auto breached = good;
  breached[2].breaches.push_back({"lossless-drop", "3 packets"});
  EXPECT_FALSE(scorer.score(trial(breached, false), WorkloadSet::searched));
  EXPECT_TRUE(scorer.score(trial(breached, true), WorkloadSet::searched))
      << "of the baseline it is a finding";
  auto nonsense = good;
  nonsense[0].objectives[Objective::fairness] = 1.2;
  EXPECT_EQ(fault_of(nonsense[0]), "nonsense: fairness = 1.2");
  EXPECT_EQ(fault_of(Observation{}), "counters_vanished: no objective was measured");
}

TEST_F(ScorerTest, ComparesWithinARepeatWhereThePlantRepeats) {
  Scorer scorer(plant_, policy_);
  scorer.learn_baseline(trial({measured(10), measured(10), measured(10)}, true, 1));
  scorer.learn_baseline(trial({measured(40), measured(40), measured(40)}, true, 2));
  const std::vector<Observation> runs{measured(40), measured(40), measured(40)};
  EXPECT_NEAR(*scorer.workload_score(0, trial(runs, false, 2)), 0, 1e-12);
  EXPECT_NEAR(*scorer.workload_score(0, trial(runs, false, 1)), std::log(4), 1e-12);
  EXPECT_NEAR(*scorer.workload_score(0, trial(runs, false, 9)), std::log(2), 1e-12) << "mean of all: 20";
}

TEST(Interval, StudentsQuantiles) {  // Abramowitz and Stegun, table 26.10
  EXPECT_NEAR(student_quantile(1, 0.95), 12.706, 1e-3);
  EXPECT_NEAR(student_quantile(2, 0.95), 4.303, 1e-3);
  EXPECT_NEAR(student_quantile(3, 0.95), 3.182, 1e-3);
  EXPECT_NEAR(student_quantile(5, 0.99), 4.032, 1e-3);
  EXPECT_NEAR(student_quantile(30, 0.90), 1.697, 1e-3);
}

TEST(Interval, HoldsTheMeanAsOftenAsItSays) {
  Random random(3);
  int missed = 0;
  for (int i = 0; i < 1000; ++i) {
    std::vector<double> sample;
    for (int k = 0; k < 4; ++k) {
      double sum = -6;
      for (int n = 0; n < 12; ++n) sum += static_cast<double>(random.below(1000)) / 999;
      sample.push_back(sum);
    }
    const Interval interval = mean_interval(sample, 0.95, random);
    EXPECT_LE(interval.low, interval.mid);
    EXPECT_LE(interval.mid, interval.high);
    missed += interval.low > 0 || interval.high < 0 ? 1 : 0;
  }
  EXPECT_LT(missed, 70);  // 50 expected, standard deviation 7
  EXPECT_GT(missed, 20);
}

TEST(Interval, OfAShiftHoldsItAsOftenAsItSaysWhateverTheErrors) {
  Random random(5);
  int missed = 0;
  for (int i = 0; i < 1000; ++i) {
    const auto draw = [&](double shift) {  // one of eight breaks down
      return shift + static_cast<double>(random.below(1000)) / 1000 - (random.below(8) == 0 ? 20.0 : 0.0);
    };
    std::vector<double> sample;
    std::vector<double> others;
    for (int k = 0; k < 5; ++k) sample.push_back(draw(0.3));
    for (int k = 0; k < 6; ++k) others.push_back(draw(0));
    const Interval interval = shift_interval(sample, others, 0.95).value();
    EXPECT_LE(interval.low, interval.mid);
    EXPECT_LE(interval.mid, interval.high);
    missed += interval.low > 0.3 || interval.high < 0.3 ? 1 : 0;
  }
  EXPECT_LT(missed, 70);
  EXPECT_GT(missed, 5);  // with so few values it holds it more often
}

// U of 3 beside 6: 84 arrangements, one of them has U = 0; of 2 beside 3 there are 10.
TEST(Interval, OfAShiftNeedsEnoughValues) {
  const std::vector<double> three{11, 12, 13};
  const std::vector<double> six{1, 2, 3, 4, 5, 6};
  const Interval interval = shift_interval(three, six, 0.97).value();
  EXPECT_EQ(interval.low, 5);
  EXPECT_EQ(interval.high, 12);
  EXPECT_EQ(interval.mid, 8.5);
  EXPECT_TRUE(shift_interval(three, six, 0.976));
  EXPECT_FALSE(shift_interval(three, six, 0.98));
  EXPECT_FALSE(shift_interval(std::vector<double>{1, 2}, std::vector<double>{3, 4, 5}, 0.95));
}

TEST(Policy, ComesFromTheShippedFile) {
  const Policy policy = shipped_policy();
  EXPECT_GT(policy.weights[static_cast<std::size_t>(Objective::goodput)], 0);
  EXPECT_GT(policy.minimum_gain_percent, 0);
}

}  // namespace
}  // namespace rocetune::search
