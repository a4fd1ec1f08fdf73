#include "agent/report/combinations.h"

#include <gmock/gmock.h>

#include <algorithm>

#include "tests/agent/report/sweep_fixtures.h"

namespace rocetune::report {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

Sweep swept(const std::vector<fabric::Variation>& runs) { return sweep_of(runs, usual_metrics(runs)); }

std::size_t place_of(const Sweep& sweep, std::string_view title) {
  return static_cast<std::size_t>(std::ranges::find(sweep.metrics, title, &Metric::title) -
                                  sweep.metrics.begin());
}

std::optional<std::size_t> best(const std::vector<fabric::Variation>& runs, std::string_view title) {
  const Sweep sweep = swept(runs);
  for (const Winner& winner : winners_of(sweep)) {
    if (sweep.metrics[winner.metric].title == title) return winner.combination;
  }
  return std::nullopt;
}

TEST(Sweep, RunsThatDifferInTheSeedAreOne) {
  const std::vector<fabric::Variation> runs{run_with({{"kmin", "25kB"}, {"hosts", "17"}}, 1, 90, 10),
                                            run_with({{"kmin", "50kB"}, {"hosts", "17"}}, 1, 91, 10),
                                            run_with({{"kmin", "25kB"}, {"hosts", "17"}}, 2, 92, 10)};
  const Sweep sweep = swept(runs);
  EXPECT_THAT(sweep.keys, ElementsAre("kmin"));
  EXPECT_THAT(sweep.fixed, ElementsAre(TomlSetting{"hosts", "17"}));
  ASSERT_EQ(sweep.combinations.size(), 2U);
  EXPECT_THAT(sweep.combinations[0].values, ElementsAre("25kB"));
  const auto goodput = spread_of(sweep.combinations[0], place_of(sweep, "goodput"));
  ASSERT_TRUE(goodput);
  EXPECT_DOUBLE_EQ(goodput->mean, 91);
  EXPECT_DOUBLE_EQ(goodput->low, 90);
  EXPECT_DOUBLE_EQ(goodput->high, 92);
  EXPECT_EQ(goodput->runs, 2U);
}

TEST(Sweep, AMissingSettingIsAValueOfItsOwn) {
  const std::vector<fabric::Variation> runs{run_with({}, 1, 90, 10), run_with({{"kmin", "25kB"}}, 1, 91, 10)};
  const Sweep sweep = swept(runs);
  ASSERT_EQ(sweep.combinations.size(), 2U);
  EXPECT_THAT(sweep.combinations[0].values, ElementsAre("–"));
}

TEST(Spread, OfWhatNoRunSaysIsNone) {
  std::vector<fabric::Variation> runs{run_with({}, 1, 90, 10)};
  runs[0].result.flows.fct_us.reset();
  const Sweep sweep = swept(runs);
  EXPECT_FALSE(spread_of(sweep.combinations[0], place_of(sweep, "completion p99")));
}

TEST(Winners, AreByTheMeansOfMetricsWithAnAim) {
  const std::vector<fabric::Variation> runs{run_with({{"a", "1"}}, 1, 90, 10),
                                            run_with({{"a", "2"}}, 1, 95, 30),
                                            run_with({{"a", "3"}}, 1, 92, 20)};
  EXPECT_EQ(best(runs, "goodput"), 1U);
  EXPECT_EQ(best(runs, "completion p99"), 0U);
  EXPECT_EQ(best(runs, "completion p50"), std::nullopt);  // it has no aim
}

TEST(Winners, OfJobsAreByBusbwAndTime) {
  const std::vector<fabric::Variation> runs{job_with({{"a", "ring"}}, 900, 80),
                                            job_with({{"a", "tree"}}, 800, 70)};
  EXPECT_EQ(best(runs, "gradients busbw"), 0U);
  EXPECT_EQ(best(runs, "all steps once"), 1U);
}

TEST(Winners, AWrongRunDoesNotCompete) {
  std::vector<fabric::Variation> runs{run_with({{"a", "1"}}, 1, 90, 30), run_with({{"a", "2"}}, 1, 95, 10),
                                      run_with({{"a", "3"}}, 1, 92, 20)};
  runs[1].result.checkers[0].holds = false;
  EXPECT_EQ(best(runs, "goodput"), 2U);
  EXPECT_EQ(best(runs, "completion p99"), 2U);
  runs[2].result.deadlock.emplace();
  EXPECT_EQ(best(runs, "goodput"), std::nullopt);
}

// Where slow flows are still under way, those that ended look fast.
TEST(Winners, UnfinishedTrafficIsNotFast) {
  std::vector<fabric::Variation> runs{run_with({{"a", "1"}}, 1, 90, 30), run_with({{"a", "2"}}, 1, 95, 10),
                                      run_with({{"a", "3"}}, 1, 92, 20)};
  runs[1].result.flows.count = 5;
  EXPECT_EQ(best(runs, "goodput"), 1U);
  EXPECT_EQ(best(runs, "completion p99"), 2U);
  runs = {job_with({{"a", "ring"}}, 900, 80), job_with({{"a", "tree"}}, 800, 90),
          job_with({{"a", "none"}}, 850, 70)};
  runs[1].result.jobs[0].finished = 3;
  EXPECT_EQ(best(runs, "gradients busbw"), 0U);
  EXPECT_EQ(best(runs, "all steps once"), 2U);
}

TEST(Winners, SayHowManyAreAsGood) {
  const std::vector<fabric::Variation> runs{run_with({{"a", "1"}}, 1, 90, 10),
                                            run_with({{"a", "2"}}, 1, 89.5, 10),
                                            run_with({{"a", "3"}}, 1, 80, 10)};
  const auto winners = winners_of(swept(runs));
  ASSERT_EQ(winners.size(), 1U);
  EXPECT_EQ(winners[0].as_good, 1U);
  EXPECT_EQ(as_good_text(winners[0]), "; another is within 1 %");
  EXPECT_EQ(as_good_text({.as_good = 2}), "; 2 others are within 1 %");
  EXPECT_EQ(as_good_text({}), "");
}

TEST(Winners, AreNoneAmongEquals) {
  const std::vector<fabric::Variation> runs{run_with({{"a", "1"}}, 1, 90, 10),
                                            run_with({{"a", "2"}}, 1, 90, 10)};
  EXPECT_THAT(winners_of(swept(runs)), IsEmpty());
}

TEST(Shown, IsWhatEverHappenedOrWasAskedFor) {
  const std::vector<fabric::Variation> runs{run_with({{"a", "1"}}, 1, 90, 10)};
  const Shown usual = shown_of(swept(runs));
  EXPECT_EQ(usual.metrics.size(), 4U);
  EXPECT_EQ(usual.never, "pause frames, CE marked, lost, sent again");
  EXPECT_EQ(usual.unknown, "longest queue");
  const Shown asked = shown_of(sweep_of(runs, {metric_asked_for("pause.frames", "--metric").value()}));
  EXPECT_THAT(asked.metrics, ElementsAre(0));
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
