#include "agent/tune/search/held_out.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "tests/agent/tune/search/synthetic_plant.h"

namespace rocetune::search {
namespace {

constexpr double kLeast = 0.03;
constexpr double kConfidence = 0.95;

HeldOutChange change_of(const HeldOutScores& scores, bool is_paired = false) {
  return held_out_change(scores, is_paired, kLeast, kConfidence).value();
}

TEST(HeldOut, NothingToCompareWith) {
  EXPECT_FALSE(held_out_change({.before = {}, .after = {0.1}, .beside = {}}, false, kLeast, kConfidence));
  EXPECT_FALSE(held_out_change({.before = {0.1}, .after = {0.1}, .beside = {}}, true, kLeast, kConfidence));
}

TEST(HeldOut, OnAQuietWorkloadTheLeastGainIsTheFloor) {
  const HeldOutChange change = change_of({.before = {0, 0.001, -0.001}, .after = {-0.04, -0.041, -0.039}});
  EXPECT_NEAR(change.mean, -0.04, 1e-9);
  EXPECT_EQ(change.floor, kLeast);
  EXPECT_EQ(judged(change, HeldOutStage::early, kLeast), HeldOutVerdict::doubtful);
  EXPECT_EQ(judged(change, HeldOutStage::late, kLeast), HeldOutVerdict::worse);
  EXPECT_FALSE(is_hidden(change, kLeast));
}

TEST(HeldOut, WhatChanceDoesToTheBaselineIsAllowed) {
  const HeldOutChange change =
      change_of({.before = {0.03, -0.03, 0.02, -0.02}, .after = {-0.05, -0.04, -0.06}});
  EXPECT_GT(change.floor, 0.06);
  EXPECT_EQ(judged(change, HeldOutStage::settled, kLeast), HeldOutVerdict::holds);
}

TEST(HeldOut, ButNotMoreThanThreeTimesWhatCounts) {
  const HeldOutChange change =
      change_of({.before = {0.3, -0.3, 0.2, -0.2}, .after = {-0.15, -0.14, -0.16, -0.15, -0.15}});
  EXPECT_DOUBLE_EQ(held_out_limit(change, kLeast), 3 * kLeast);
  EXPECT_EQ(judged(change, HeldOutStage::settled, kLeast), HeldOutVerdict::worse);
}

TEST(HeldOut, AFewRunsThatWentWrongAskForMore) {
  const HeldOutScores five{
      .before = {0, 0.02, -0.02, 0.01, -0.01}, .after = {0.01, -0.01, 0, -0.6, 0.01}, .beside = {}};
  const HeldOutChange change = change_of(five);
  EXPECT_LT(change.mean, -0.1);
  EXPECT_EQ(judged(change, HeldOutStage::late, kLeast), HeldOutVerdict::doubtful);
  HeldOutScores eight = five;
  eight.after.insert(eight.after.end(), {0.01, 0, -0.01});
  EXPECT_EQ(judged(change_of(eight), HeldOutStage::settled, kLeast), HeldOutVerdict::holds);
  eight.after = {0.01, -0.01, 0, -0.6, 0.01, -0.6, 0, -0.6};
  EXPECT_EQ(judged(change_of(eight), HeldOutStage::settled, kLeast), HeldOutVerdict::worse);
}

TEST(HeldOut, RepeatsThatDoTheSameToBothAreComparedOneByOne) {
  // Light and heavy traffic in turns, and a loss of 5 % in all of it.
  const HeldOutScores scores{.before = {0.3, -0.3, 0.3, -0.3, 0.3},
                             .after = {0.25, -0.35, 0.25, -0.35, 0.25},
                             .beside = {-0.05, -0.051, -0.049, -0.05, -0.05}};
  const HeldOutChange change = change_of(scores);
  EXPECT_NEAR(change.middle, -0.05, 1e-9);
  EXPECT_LT(change.error, 0.01);
  EXPECT_FALSE(is_hidden(change, kLeast));
  HeldOutScores unlike = scores;
  unlike.beside = {-0.6, 0.5, -0.5, 0.4, -0.05};
  EXPECT_GT(change_of(unlike).error, 0.3);
  EXPECT_TRUE(is_hidden(change_of(unlike), kLeast));
}

// Trials of one held-out workload, whose goodput is given.
class HeldOutLosses : public testing::Test {
 protected:
  void add(const Candidate& candidate, std::uint64_t repeat, double goodput) {
    Trial trial{.number = static_cast<int>(trials_.size()) + 1, .candidate = candidate, .repeat = repeat};
    trial.observations.resize(plant_.workloads().size());
    trial.observations[scorer_.members(WorkloadSet::held_out).front()]
        .emplace()
        .objectives[Objective::goodput] = goodput;
    if (candidate == start_) scorer_.learn_baseline(trial);
    trials_.push_back(std::move(trial));
  }
  Candidate with(std::size_t knob) const {
    Candidate out = start_;
    out.values[knob] += 1;
    return out;
  }
  HeldOutLoss loss_of(const Candidate& candidate) const {
    return held_out_losses(trials_, scorer_, start_, kLeast).at(candidate);
  }

  SyntheticWorld world_;
  SyntheticPlant plant_{SyntheticOptions(), world_};
  Policy policy_ = [] {
    Policy out = shipped_policy();
    out.loss_weight = 1;
    return out;
  }();
  Scorer scorer_{plant_, policy_};
  std::deque<Trial> trials_;
  const Candidate start_ = plant_.space().start();
};

// As far as the search sees it: what chance explains costs nothing.
TEST_F(HeldOutLosses, ALossCountsFromWhereChanceDoesNotExplainIt) {
  const Candidate slower = with(0);
  const Candidate same = with(1);
  const std::array<double, 3> baseline{98, 100, 102};
  for (std::uint64_t repeat = 0; repeat < 3; ++repeat) add(start_, repeat, baseline[repeat]);
  add(slower, 10, 80);
  add(slower, 11, 81);
  add(same, 12, 98.8);
  const double lost = -std::log(0.805);
  EXPECT_NEAR(loss_of(slower).gain, -lost, 0.01);
  EXPECT_NEAR(loss_of(slower).excess, lost - kLeast + (lost - kLeast / 2) / 4, 0.01);
  EXPECT_NEAR(loss_of(same).gain, -0.012, 0.002);
  EXPECT_EQ(loss_of(same).excess, 0);
}

// Random arrivals that are light in one repeat and heavy in the next hide nothing, and accuse nobody.
TEST_F(HeldOutLosses, WhatARepeatDoesToAllIsNobodysLoss) {
  constexpr std::array kRepeats{100.0, 60.0, 140.0};
  for (std::uint64_t repeat = 0; repeat < 3; ++repeat) {
    add(start_, repeat, kRepeats[repeat]);
    for (std::size_t knob = 0; knob < 14; ++knob) add(with(knob), repeat, kRepeats[repeat]);
    add(with(14), repeat, kRepeats[repeat] * 0.85);
  }
  add(with(15), 1, kRepeats[1]);  // heavy traffic is all that it saw
  EXPECT_EQ(loss_of(with(0)).excess, 0);
  EXPECT_GT(loss_of(with(14)).excess, 0.05);
  // Effects are shrunk as long as candidates are few.
  EXPECT_GT(loss_of(with(15)).gain, -0.1);
}

// A fault makes the baseline noisy, and repeats do nothing to what cures it.
TEST_F(HeldOutLosses, ANoisyBaselineDoesNotMakeTheOthersNoisy) {
  constexpr std::array kBaseline{100.0, 50.0, 160.0};
  for (std::uint64_t repeat = 0; repeat < 3; ++repeat) {
    add(start_, repeat, kBaseline[repeat]);
    for (std::size_t knob = 0; knob < 6; ++knob) add(with(knob), repeat, 200);
  }
  EXPECT_NEAR(loss_of(with(0)).gain, std::log(200 / std::cbrt(100.0 * 50 * 160)), 0.02);
  EXPECT_EQ(loss_of(with(0)).excess, 0);
}

}  // namespace
}  // namespace rocetune::search
