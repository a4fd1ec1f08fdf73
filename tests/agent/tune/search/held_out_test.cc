#include "agent/tune/search/held_out.h"

#include <gtest/gtest.h>

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

// As far as the search sees it: what chance explains costs nothing.
TEST(HeldOut, ALossCountsFromWhereChanceDoesNotExplainIt) {
  SyntheticWorld world;
  const SyntheticPlant plant(SyntheticOptions(), world);
  Policy policy = shipped_policy();
  policy.loss_weight = 1;
  Scorer scorer(plant, policy);
  const std::size_t w = scorer.members(WorkloadSet::held_out).front();
  const Candidate start = plant.space().start();
  Candidate slower = start;
  slower.values[0] += 1;
  Candidate same = start;
  same.values[1] += 1;
  std::deque<Trial> trials;
  const auto add = [&](const Candidate& candidate, double goodput) {
    Trial trial{.number = static_cast<int>(trials.size()) + 1, .candidate = candidate};
    trial.observations.resize(plant.workloads().size());
    trial.observations[w].emplace().objectives[Objective::goodput] = goodput;
    if (candidate == start) scorer.learn_baseline(trial);
    trials.push_back(std::move(trial));
  };
  for (const double goodput : {98.0, 100.0, 102.0}) add(start, goodput);
  add(slower, 80);
  add(slower, 81);
  add(same, 98.8);
  const auto losses = held_out_losses(trials, scorer, start, kLeast);
  ASSERT_EQ(losses.size(), 2u);
  EXPECT_NEAR(losses.at(slower).gain, std::log(0.805), 0.01);
  EXPECT_NEAR(losses.at(slower).excess, -std::log(0.805) - kLeast / 2, 0.01);
  EXPECT_NEAR(losses.at(same).gain, -0.012, 0.002);
  EXPECT_EQ(losses.at(same).excess, 0);
}

}  // namespace
}  // namespace rocetune::search
