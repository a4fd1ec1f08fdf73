#include "dataplane/base/histogram.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "dataplane/base/random.h"
#include "dataplane/base/statistics.h"

namespace rocetune {
namespace {

TEST(Histogram, SmallValuesAreExact) {
  Histogram histogram(7);
  for (std::uint64_t v = 0; v < 256; ++v) histogram.add(v);
  EXPECT_EQ(histogram.percentile(Ratio()), 0u);
  EXPECT_EQ(histogram.percentile(Ratio::from_percent(50)), 127u);
  EXPECT_EQ(histogram.percentile(Ratio::one()), 255u);
  EXPECT_EQ(histogram.mean(), 127.5);
}

TEST(Histogram, PercentilesAreWithinTheStatedErrorOfTheTruth) {
  Random random(11);
  for (const int bits : {1, 5, 7, 14}) {
    Histogram histogram(bits);
    std::vector<std::int64_t> values;
    for (int i = 0; i < 5'000; ++i) {
      const auto value = static_cast<std::int64_t>(random.next() >> (1 + random.below(63)));
      values.push_back(value);
      histogram.add(static_cast<std::uint64_t>(value));
    }
    std::sort(values.begin(), values.end());
    for (int percent = 0; percent <= 100; ++percent) {
      const Ratio p = Ratio::from_percent(percent);
      const auto truth = static_cast<double>(nearest_rank(values, p));
      const auto found = static_cast<double>(histogram.percentile(p));
      EXPECT_GE(found, truth);
      EXPECT_LE(found, truth * (1 + 1.0 / (1 << bits))) << percent << "% at " << bits << " bits";
    }
  }
}

TEST(Histogram, HoldsTheWholeRange) {
  Histogram histogram;
  histogram.add(UINT64_MAX);
  histogram.add(0, 3);
  EXPECT_EQ(histogram.percentile(Ratio::from_percent(75)), 0u);
  EXPECT_EQ(histogram.percentile(Ratio::from_percent(76)), UINT64_MAX);
  EXPECT_EQ(histogram.max(), UINT64_MAX);
  EXPECT_EQ(histogram.count(), 4u);
}

TEST(Histogram, NeverExceedsTheLargestValue) {
  Histogram histogram(1);
  histogram.add(1'000'000);
  EXPECT_EQ(histogram.percentile(Ratio::one()), 1'000'000u);
  EXPECT_EQ(histogram.percentile(Ratio()), 1'000'000u);
}

TEST(Histogram, MergingIsAddingAll) {
  Histogram a, b, all;
  for (std::uint64_t v = 1; v < 1'000'000; v = v * 3 / 2 + 1) {
    (v % 2 == 0 ? a : b).add(v);
    all.add(v);
  }
  a.merge(b);
  EXPECT_EQ(a.count(), all.count());
  EXPECT_EQ(a.min(), all.min());
  for (int percent = 0; percent <= 100; percent += 5) {
    EXPECT_EQ(a.percentile(Ratio::from_percent(percent)), all.percentile(Ratio::from_percent(percent)));
  }
}

}  // namespace
}  // namespace rocetune
