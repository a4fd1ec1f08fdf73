#include "agent/report/metric.h"

#include <gmock/gmock.h>

#include "tests/agent/report/sweep_fixtures.h"

namespace rocetune::report {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

std::vector<std::string> usual_paths(const std::vector<fabric::Variation>& runs) {
  std::vector<std::string> out;
  for (const Metric& metric : usual_metrics(runs)) out.push_back(metric.path);
  return out;
}

TEST(Metric, UsualOnesAreThoseOfTheTraffic) {
  const auto flows = usual_paths({run_with({}, 1, 90, 10)});
  EXPECT_THAT(flows, Contains("flows.goodput_gbps"));
  EXPECT_THAT(flows, Not(Contains(HasSubstr("jobs"))));
  const auto jobs = usual_paths({job_with({}, 900, 80)});
  EXPECT_THAT(jobs, Not(Contains("flows.goodput_gbps")));
  EXPECT_THAT(jobs, Contains("jobs.0.steps.0.busbw_gbps"));
  EXPECT_THAT(jobs, Contains("jobs.0.iteration_us.mean"));
}

TEST(Metric, EveryUsualOneCanBeAskedFor) {
  std::vector<fabric::Variation> runs{job_with({}, 900, 80)};
  runs.push_back(run_with({}, 1, 90, 10));
  for (const std::string& path : usual_paths(runs)) EXPECT_TRUE(metric_asked_for(path, "--metric")) << path;
}

TEST(Metric, ItsUnitAndAimFollowFromItsName) {
  const Metric goodput = metric_asked_for("flows.goodput_gbps", "--metric").value();
  EXPECT_EQ(html::quantity_text(92.5, goodput.unit), "92.5\u00a0Gb/s");
  EXPECT_EQ(goodput.aim, Metric::Aim::most);
  const Metric p99 = metric_asked_for("flows.fct_us.p99", "--metric").value();
  EXPECT_EQ(html::quantity_text(2768.9, p99.unit), "2.77\u00a0ms");
  EXPECT_EQ(p99.aim, Metric::Aim::least);
  EXPECT_TRUE(p99.is_of_finished);
  const Metric drops = metric_asked_for("loss.switch_drops", "--metric").value();
  EXPECT_EQ(html::quantity_text(12, drops.unit), "12");
  EXPECT_EQ(drops.aim, Metric::Aim::none);
  const Metric queue = metric_asked_for("ports.*.queue_bytes.max", "--metric").value();
  EXPECT_EQ(html::quantity_text(2000, queue.unit), "2\u00a0kB");
}

TEST(Metric, AnUnknownPathIsAnErrorWithTheNearestOne) {
  const auto wrong = metric_asked_for("flows.fct_us.p98", "--metric");
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.error().kind(), ErrorKind::bad_input);
  EXPECT_EQ(
      wrong.error().text(),
      "--metric: found flows.fct_us.p98, allowed: flows.fct_us with min, mean, p50, p99, p999, max; did "
      "you mean flows.fct_us.p99?");
  EXPECT_THAT(metric_asked_for("busbw_gbps", "--metric").error().text(),
              HasSubstr("did you mean jobs.*.steps.*.busbw_gbps?"));
  EXPECT_FALSE(metric_asked_for("", "--metric"));
  EXPECT_FALSE(metric_asked_for("flows", "--metric"));
  EXPECT_FALSE(metric_asked_for("scenario", "--metric"));
}

TEST(Metric, WhatTheResultDoesNotSayIsNotZero) {
  const std::vector<Metric> metrics{metric_of("flows.fct_us.p99", ""),
                                    metric_of("jobs.1.iteration_us.max", ""), metric_of("flows.count", "")};
  EXPECT_THAT(measured(run_with({}, 1, 90, 10).result, metrics),
              ElementsAre(testing::Optional(10.0), std::nullopt, testing::Optional(1.0)));
}

}  // namespace
}  // namespace rocetune::report
