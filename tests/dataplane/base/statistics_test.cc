#include "dataplane/base/statistics.h"

#include <gtest/gtest.h>

namespace rocetune {
namespace {

TEST(NearestRank, IsAlwaysAMeasuredValue) {
  const std::vector<std::int64_t> sorted{15, 20, 35, 40, 50};
  EXPECT_EQ(nearest_rank(sorted, Ratio()), 15);
  EXPECT_EQ(nearest_rank(sorted, Ratio::from_percent(5)), 15);
  EXPECT_EQ(nearest_rank(sorted, Ratio::from_percent(30)), 20);
  EXPECT_EQ(nearest_rank(sorted, Ratio::from_percent(40)), 20);
  EXPECT_EQ(nearest_rank(sorted, Ratio::from_percent(50)), 35);
  EXPECT_EQ(nearest_rank(sorted, Ratio::from_percent(100)), 50);
}

TEST(NearestRank, IsExactWhereDoublesAreNot) {
  // 0.29 × 100 is 28.999... in doubles.
  std::vector<std::int64_t> sorted(100);
  for (std::size_t i = 0; i < sorted.size(); ++i) sorted[i] = static_cast<std::int64_t>(i + 1);
  EXPECT_EQ(nearest_rank(sorted, Ratio::from_percent(29)), 29);
  EXPECT_EQ(nearest_rank(sorted, Ratio(290'000'001)), 30);
}

TEST(NearestRank, SortsForSeveral) {
  const std::vector<Ratio> wanted{Ratio::from_percent(50), Ratio::from_percent(99)};
  EXPECT_EQ(nearest_ranks({3, 1, 2}, wanted), (std::vector<std::int64_t>{2, 3}));
}

TEST(Interpolated, IsDefinition7) {
  const std::vector<double> sorted{1, 2, 4, 8};
  EXPECT_DOUBLE_EQ(interpolated(sorted, Ratio()), 1);
  EXPECT_DOUBLE_EQ(interpolated(sorted, Ratio::from_percent(50)), 3);
  EXPECT_DOUBLE_EQ(interpolated(sorted, Ratio::from_percent(90)), 6.8);
  EXPECT_DOUBLE_EQ(interpolated(sorted, Ratio::one()), 8);
}

TEST(Median, OfOddAndEven) {
  EXPECT_EQ(median({5, 1, 3}), 3);
  EXPECT_EQ(median({5, 1, 3, 4}), 3.5);
  EXPECT_EQ(median({7}), 7);
}

TEST(Median, AbsoluteDeviationIgnoresOutliers) {
  EXPECT_EQ(median_absolute_deviation({1, 1, 2, 2, 4, 6, 9}), 1);
  EXPECT_EQ(median_absolute_deviation({1, 1, 2, 2, 4, 6, 1e9}), 1);
}

TEST(Jain, GoesFromOneOverNToOne) {
  EXPECT_DOUBLE_EQ(jain_fairness(std::vector<double>{5, 5, 5, 5}), 1);
  EXPECT_DOUBLE_EQ(jain_fairness(std::vector<double>{7, 0, 0, 0}), 0.25);
  EXPECT_DOUBLE_EQ(jain_fairness(std::vector<double>{1, 2, 3}), 36.0 / 42);
  EXPECT_DOUBLE_EQ(jain_fairness(std::vector<double>{1e200, 1e200}), 1);
  EXPECT_EQ(jain_fairness(std::vector<double>{0, 0}), 1);
}

TEST(Moments, DoNotLoseSmallDifferencesOfLargeValues) {
  Moments moments;
  for (const double x : {1e9 + 4, 1e9 + 7, 1e9 + 13, 1e9 + 16}) moments.add(x);
  EXPECT_DOUBLE_EQ(moments.mean(), 1e9 + 10);
  EXPECT_DOUBLE_EQ(moments.variance(), 30);
}

TEST(Moments, MergingIsAddingAll) {
  Moments left, right, all, empty;
  for (int i = 0; i < 10; ++i) (i < 3 ? left : right).add(i * i);
  for (int i = 0; i < 10; ++i) all.add(i * i);
  left.merge(right);
  left.merge(empty);
  EXPECT_EQ(left.count(), 10);
  EXPECT_DOUBLE_EQ(left.mean(), all.mean());
  EXPECT_DOUBLE_EQ(left.variance(), all.variance());
  empty.merge(all);
  EXPECT_DOUBLE_EQ(empty.mean(), all.mean());
}

TEST(Moments, OneValueHasNoSpread) {
  Moments moments;
  moments.add(5);
  EXPECT_EQ(moments.variance(), 0);
}

// Groups of 3 and of 2 with variances 1 and 8: (2 × 1 + 1 × 8) / 3, wherever their means are.
TEST(PooledVariance, WeighsByDegreesOfFreedom) {
  Moments three, two, one;
  for (const double x : {1.0, 2.0, 3.0}) three.add(x);
  for (const double x : {100.0, 104.0}) two.add(x);
  one.add(-7);
  PooledVariance pooled;
  EXPECT_EQ(pooled.variance(), 0);
  pooled.add(one);
  EXPECT_EQ(pooled.degrees(), 0);
  pooled.add(three);
  pooled.add(two);
  EXPECT_EQ(pooled.degrees(), 3);
  EXPECT_DOUBLE_EQ(pooled.variance(), 10.0 / 3);
  pooled.add(0, 2);
  EXPECT_DOUBLE_EQ(pooled.variance(), 2);
}

TEST(StatisticsDeathTest, AnEmptySampleHasNoSummary) {
  EXPECT_DEATH((void)median({}), "assertion");
  EXPECT_DEATH((void)nearest_rank({}, Ratio()), "assertion");
}

}  // namespace
}  // namespace rocetune
