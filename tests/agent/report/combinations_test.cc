#include "agent/report/combinations.h"

#include <gmock/gmock.h>

#include "tests/agent/report/sweep_fixtures.h"

namespace rocetune::report {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

TEST(Sweep, RunsThatDifferInTheSeedAreOne) {
  const std::vector<Variation> runs{run_with({{"kmin", "25kB"}, {"hosts", "17"}}, 1, 90, 10),
                                    run_with({{"kmin", "50kB"}, {"hosts", "17"}}, 1, 91, 10),
                                    run_with({{"kmin", "25kB"}, {"hosts", "17"}}, 2, 92, 10)};
  const Sweep sweep = sweep_of(runs);
  EXPECT_THAT(sweep.keys, ElementsAre("kmin"));
  EXPECT_THAT(sweep.fixed, ElementsAre(Pair("hosts", "17")));
  ASSERT_EQ(sweep.combinations.size(), 2U);
  EXPECT_THAT(sweep.combinations[0].values, ElementsAre("25kB"));
  const auto goodput = spread_of(sweep.combinations[0], goodput_metric());
  ASSERT_TRUE(goodput);
  EXPECT_DOUBLE_EQ(goodput->mean, 91e9);
  EXPECT_DOUBLE_EQ(goodput->low, 90e9);
  EXPECT_DOUBLE_EQ(goodput->high, 92e9);
  EXPECT_EQ(goodput->runs, 2U);
}

TEST(Sweep, AMissingSettingIsAValueOfItsOwn) {
  const std::vector<Variation> runs{run_with({}, 1, 90, 10), run_with({{"kmin", "25kB"}}, 1, 91, 10)};
  const Sweep sweep = sweep_of(runs);
  ASSERT_EQ(sweep.combinations.size(), 2U);
  EXPECT_THAT(sweep.combinations[0].values, ElementsAre("–"));
}

TEST(Sweep, OfNothingIsEmpty) { EXPECT_THAT(sweep_of({}).combinations, IsEmpty()); }

TEST(Spread, OfWhatNoRunSaysIsNone) {
  std::vector<Variation> runs{run_with({}, 1, 90, 10)};
  runs[0].result.flows.fct_us.reset();
  EXPECT_FALSE(spread_of(sweep_of(runs).combinations[0], p99_metric()));
}

TEST(Best, IsByMeanGoodputAndByMeanP99) {
  const std::vector<Variation> runs{run_with({{"a", "1"}}, 1, 90, 10), run_with({{"a", "2"}}, 1, 95, 30),
                                    run_with({{"a", "3"}}, 1, 92, 20)};
  const Best best = best_of(sweep_of(runs));
  EXPECT_EQ(best.goodput, 1U);
  EXPECT_EQ(best.p99, 0U);
}

TEST(Best, AWrongRunDoesNotCompete) {
  std::vector<Variation> runs{run_with({{"a", "1"}}, 1, 90, 30), run_with({{"a", "2"}}, 1, 95, 10),
                              run_with({{"a", "3"}}, 1, 92, 20)};
  runs[1].result.checkers[0].holds = false;
  Best best = best_of(sweep_of(runs));
  EXPECT_EQ(best.goodput, 2U);
  EXPECT_EQ(best.p99, 2U);
  runs[2].result.deadlock.emplace();
  best = best_of(sweep_of(runs));
  EXPECT_EQ(best.goodput, std::nullopt);
}

// Where the slow flows are still under way, those that ended look fast.
TEST(Best, UnfinishedFlowsAreNoFastOnes) {
  std::vector<Variation> runs{run_with({{"a", "1"}}, 1, 90, 30), run_with({{"a", "2"}}, 1, 95, 10),
                              run_with({{"a", "3"}}, 1, 92, 20)};
  runs[1].result.flows.count = 5;
  const Best best = best_of(sweep_of(runs));
  EXPECT_EQ(best.goodput, 1U);
  EXPECT_EQ(best.p99, 2U);
}

TEST(Best, IsNoneAmongEquals) {
  const std::vector<Variation> runs{run_with({{"a", "1"}}, 1, 90, 10), run_with({{"a", "2"}}, 1, 90, 10)};
  const Best best = best_of(sweep_of(runs));
  EXPECT_EQ(best.goodput, std::nullopt);
  EXPECT_EQ(best.p99, std::nullopt);
}

Placement placed(const std::vector<std::string>& values) { return placement_of(values); }

TEST(Placement, AmountsLieAsFarApartAsTheyAre) {
  const Placement placement = placed({"900kB", "1MB", "1100kB"});
  EXPECT_TRUE(placement.is_measured);
  EXPECT_FALSE(placement.is_logarithmic);
  EXPECT_THAT(placement.shares, ElementsAre(0, 0.5, 1));
  EXPECT_THAT(placed({"10%", "20%", "50%"}).shares, ElementsAre(0, 0.25, 1));
  EXPECT_THAT(placed({"1us", "500ns", "2us"}).shares, ElementsAre(testing::DoubleEq(1 / 3.0), 0, 1));
}

TEST(Placement, OverADecadeIsLogarithmic) {
  const Placement placement = placed({"1Gbps", "10Gbps", "100Gbps"});
  EXPECT_TRUE(placement.is_logarithmic);
  EXPECT_THAT(placement.shares, ElementsAre(0, testing::DoubleNear(0.5, 1e-12), 1));
  EXPECT_FALSE(placed({"0", "100"}).is_logarithmic);
}

TEST(Placement, WordsAreSpreadEvenly) {
  const Placement placement = placed({"dcqcn", "off"});
  EXPECT_FALSE(placement.is_measured);
  EXPECT_THAT(placement.shares, ElementsAre(0.25, 0.75));
  EXPECT_THAT(placed({"1", "1kB"}).shares, ElementsAre(0.25, 0.75));
  EXPECT_THAT(placed({"1"}).shares, ElementsAre(0.5));
  EXPECT_THAT(placed({}).shares, IsEmpty());
}

}  // namespace
}  // namespace rocetune::report
