#include "dataplane/html/scale.h"

#include <gmock/gmock.h>

#include <cmath>

namespace rocetune::html {
namespace {

using testing::ElementsAre;

std::vector<std::string> texts(const Scale& scale) {
  std::vector<std::string> out;
  for (const Tick& tick : scale.ticks) out.push_back(tick.text);
  return out;
}

TEST(ScaleAround, HasRoundEndsAndTheUnitAtTheLast) {
  const Scale scale = scale_around(0, 1.74e6, kBytes, 4);
  EXPECT_DOUBLE_EQ(scale.high, 2e6);
  EXPECT_THAT(texts(scale), ElementsAre("0", "0.5", "1.0", "1.5", "2.0\u00a0MB"));
  EXPECT_DOUBLE_EQ(scale.ticks[1].share, 0.25);
}

TEST(ScaleOfDecades, HasAMarkAtEachPowerOfTen) {
  const Scale scale = scale_of_decades(75, 26'000, kMicroseconds);
  EXPECT_THAT(texts(scale),
              ElementsAre("10\u00a0µs", "100\u00a0µs", "1\u00a0ms", "10\u00a0ms", "100\u00a0ms"));
  EXPECT_DOUBLE_EQ(scale.share(1000), 0.5);
  EXPECT_EQ(scale.share(0), 0);
  EXPECT_EQ(scale.share(1e9), 1);
  EXPECT_EQ(scale_of_decades(100, 100, kCount).ticks.size(), 2U);
}

TEST(ScaleAround, NeedNotBeginAtZero) {
  const Scale scale = scale_around(88.3e9, 93.6e9, kBitRate, 4);
  EXPECT_THAT(texts(scale), ElementsAre("88", "90", "92", "94\u00a0Gb/s"));
  EXPECT_DOUBLE_EQ(scale.share(91e9), 0.5);
}

TEST(ScaleBetween, KeepsItsEnds) {
  const Scale scale = scale_between(0, 2.769e-3, kSeconds, 6);
  EXPECT_DOUBLE_EQ(scale.high, 2.769e-3);
  EXPECT_THAT(texts(scale), ElementsAre("0", "0.5", "1.0", "1.5", "2.0", "2.5\u00a0ms"));
  EXPECT_LT(scale.ticks.back().share, 1);
}

TEST(Scale, GroupsLargeCounts) {
  EXPECT_THAT(texts(scale_around(0, 60'000, kCount, 3)),
              ElementsAre("0", "20\u202f000", "40\u202f000", "60\u202f000"));
}

TEST(Scale, CountsHaveNoHalves) {
  EXPECT_THAT(texts(scale_between(0, 1.05, kCount, 5)), ElementsAre("0", "1"));
  EXPECT_THAT(texts(scale_around(0, 0.4, kCount, 4)), ElementsAre("0", "1"));
}

TEST(Scale, ValuesOutsideLieAtTheEnds) {
  const Scale scale = scale_around(0, 10, kCount, 2);
  EXPECT_EQ(scale.share(-5), 0);
  EXPECT_EQ(scale.share(50), 1);
  EXPECT_EQ(scale.share(NAN), 0);
}

// Whatever a result holds, a chart of it has an axis.
TEST(Scale, AnEmptyRangeIsOne) {
  const std::vector<std::pair<double, double>> ends{
      {0, 0},         {5, 5},  {NAN, NAN},  {INFINITY, -INFINITY},
      {1e300, 1e300}, {3, -3}, {0, 1e-300}, {1e9, 1e9 + 1e-7}};
  for (const auto& [low, high] : ends) {
    for (const Scale& scale : {scale_around(low, high, kBytes, 4), scale_between(low, high, kSeconds, 4)}) {
      EXPECT_LT(scale.low, scale.high);
      EXPECT_FALSE(scale.ticks.empty());
      EXPECT_LT(scale.ticks.size(), 12U);
      for (const Tick& tick : scale.ticks) {
        EXPECT_GE(tick.share, 0);
        EXPECT_LE(tick.share, 1);
      }
    }
  }
}

}  // namespace
}  // namespace rocetune::html
