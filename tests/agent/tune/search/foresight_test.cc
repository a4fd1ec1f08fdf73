#include "agent/tune/search/foresight.h"

#include <gmock/gmock.h>

namespace rocetune::search {
namespace {

constexpr double kTolerance = 0.02;

std::vector<Foretold> foretold(const std::vector<std::pair<double, std::optional<double>>>& pairs) {
  std::vector<Foretold> out;
  for (const auto& [expected, measured] : pairs) out.push_back({{}, 0, expected, measured});
  return out;
}
Foresight judged(const std::vector<std::pair<double, std::optional<double>>>& pairs) {
  return foresight_of(foretold(pairs), kTolerance);
}

TEST(Foresight, BelievesWhatCameAsForetold) {
  const Foresight seen = judged({{0.3, 0.28}, {0.2, 0.21}, {0.0, 0.01}, {-0.2, -0.3}});
  EXPECT_EQ(seen.belief, Belief::believed);
  EXPECT_EQ(seen.right, 4);
  EXPECT_NEAR(seen.rank_correlation.value(), 1, 1e-9);
  EXPECT_LT(seen.median_error_percent.value(), 3);
}

TEST(Foresight, TellsDirectionsFromSizes) {
  const Foresight seen = judged({{0.9, 0.1}, {0.6, 0.08}, {0.5, 0.06}});
  EXPECT_EQ(seen.belief, Belief::directions);
  EXPECT_TRUE(seen.holds());
  EXPECT_THAT(seen.says, testing::HasSubstr("not in how much"));
}

TEST(Foresight, DoesNotBelieveWhatDidNotCome) {
  EXPECT_EQ(judged({{0.3, 0.0}, {0.2, 0.0}, {0.2, -0.1}}).belief, Belief::not_believed);
  // Nothing was to gain, and something was.
  EXPECT_EQ(judged({{0.0, 0.2}}).belief, Belief::not_believed);
  // All that was promised failed, however many others went as foretold.
  EXPECT_EQ(judged({{0.3, std::nullopt}, {0.0, 0.0}, {0.0, 0.01}}).belief, Belief::not_believed);
  // The other way round.
  EXPECT_EQ(judged({{0.1, 0.5}, {0.3, 0.3}, {0.5, 0.1}, {-0.1, 0.6}, {0.0, 0.0}}).belief,
            Belief::not_believed);
}

TEST(Foresight, NothingToGainThatHoldsIsForesight) {
  const Foresight seen = judged({{0.0, 0.01}, {0.01, -0.01}, {-0.005, 0.0}});
  EXPECT_TRUE(seen.holds());
  EXPECT_FALSE(seen.rank_correlation) << "all alike";
}

TEST(Foresight, SaysThatNothingWasTried) {
  const Foresight seen = judged({});
  EXPECT_EQ(seen.belief, Belief::unchecked);
  EXPECT_FALSE(seen.holds());
  EXPECT_FALSE(seen.median_error_percent);
}

}  // namespace
}  // namespace rocetune::search
