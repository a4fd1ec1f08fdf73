#include "dataplane/base/resampling.h"

#include <gtest/gtest.h>

#include <numeric>
#include <vector>

namespace rocetune {
namespace {

double mean_of(std::span<double> sample) {
  return std::accumulate(sample.begin(), sample.end(), 0.0) / static_cast<double>(sample.size());
}

// About normal: the sum of twelve uniform numbers.
double noise(Random& random) {
  double sum = -6;
  for (int i = 0; i < 12; ++i) sum += static_cast<double>(random.below(1'000'000)) / 1e6;
  return sum;
}

TEST(Bootstrap, IntervalsCoverTheTruthAboutAsOftenAsTheySay) {
  Random random(21);
  int covered = 0;
  for (int trial = 0; trial < 300; ++trial) {
    std::vector<double> sample;
    for (int i = 0; i < 40; ++i) sample.push_back(10 + noise(random));
    const auto interval = bootstrap(sample, mean_of, Ratio::from_percent(90), 200, random);
    EXPECT_LE(interval.low, interval.estimate);
    EXPECT_GE(interval.high, interval.estimate);
    covered += interval.low <= 10 && 10 <= interval.high ? 1 : 0;
  }
  EXPECT_NEAR(covered, 270, 25);
}

TEST(Bootstrap, TheSameSeedGivesTheSameInterval) {
  const std::vector<double> sample{1, 5, 2, 8, 3};
  Random first(1), second(1);
  const auto a = bootstrap(sample, mean_of, Ratio::from_percent(95), 500, first);
  const auto b = bootstrap(sample, mean_of, Ratio::from_percent(95), 500, second);
  EXPECT_EQ(a.low, b.low);
  EXPECT_EQ(a.high, b.high);
  EXPECT_EQ(a.estimate, 3.8);
}

TEST(Bootstrap, DifferencesOfDistinctSamplesExcludeZero) {
  Random random(22);
  std::vector<double> a, b;
  for (int i = 0; i < 50; ++i) {
    a.push_back(10 + noise(random));
    b.push_back(12 + noise(random));
  }
  const auto interval = bootstrap_difference(a, b, mean_of, Ratio::from_percent(95), 1000, random);
  EXPECT_LT(interval.high, 0);
  EXPECT_GT(interval.low, -3.5);
}

TEST(MannWhitney, IsExactForSmallSamples) {
  Random random(1);
  const std::vector<std::int64_t> low{1, 2, 3, 4, 5}, high{6, 7, 8, 9, 10};
  const RankTest test = mann_whitney(low, high, random);
  EXPECT_TRUE(test.is_exact);
  EXPECT_EQ(test.twice_u, 0);
  EXPECT_EQ(test.a_is_larger, Ratio());
  EXPECT_EQ(test.p, Ratio::of(2, 252));
  const RankTest reversed = mann_whitney(high, low, random);
  EXPECT_EQ(reversed.p, test.p);
  EXPECT_EQ(reversed.a_is_larger, Ratio::one());
}

TEST(MannWhitney, IsExactWithTies) {
  Random random(1);
  const std::vector<std::int64_t> a{1, 2, 2, 3, 9}, b{2, 3, 4, 5, 5, 6};
  const RankTest test = mann_whitney(a, b, random);
  EXPECT_EQ(test.twice_u, 17);
  EXPECT_EQ(test.p, Ratio::of(124, 462));  // counted by enumerating all 462 choices
  const std::vector<std::int64_t> same{4, 4, 4};
  EXPECT_EQ(mann_whitney(same, same, random).p, Ratio::one());
}

TEST(MannWhitney, DrawsArrangementsForLargeSamples) {
  // The largest of 62 values alone in a sample: 2 of 62 arrangements are as extreme.
  Random random(2);
  const std::vector<std::int64_t> a{61};
  std::vector<std::int64_t> b(61);
  std::iota(b.begin(), b.end(), std::int64_t{0});
  const RankTest test = mann_whitney(a, b, random);
  EXPECT_FALSE(test.is_exact);
  EXPECT_EQ(test.a_is_larger, Ratio::one());
  EXPECT_NEAR(test.p.value(), 2.0 / 62, 0.009);  // five standard deviations of 10000 draws
}

TEST(PermutationTest, FindsARealDifferenceAndNoOther) {
  Random random(3);
  const std::vector<std::int64_t> a{10, 11, 12, 13, 14, 15}, b{20, 21, 22, 23, 24, 25};
  // 2 of C(12, 6) = 924 splits are as extreme.
  EXPECT_NEAR(permutation_test(a, b, 20'000, random).p.value(), 2.0 / 924, 0.0018);
  EXPECT_EQ(permutation_test(a, a, 100, random).p, Ratio::one());
}

TEST(PermutationTest, NeverClaimsCertainty) {
  Random random(4);
  const std::vector<std::int64_t> a(30, 0), b(30, 1'000'000'000);
  EXPECT_EQ(permutation_test(a, b, 99, random).p, Ratio::of(1, 100));
}

}  // namespace
}  // namespace rocetune
