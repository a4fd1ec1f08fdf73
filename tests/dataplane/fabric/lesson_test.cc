#include "dataplane/fabric/lesson.h"

#include <gmock/gmock.h>

#include "dataplane/base/config_files.h"
#include "dataplane/fabric/measure.h"
#include "tests/dataplane/fabric/fabric_scenes.h"

namespace rocetune::fabric {
namespace {

using testing::HasSubstr;

const std::string kPair = R"(
name = "pair"
[topology]
shape = "star"
hosts = 2
[[flows]]
pattern = "pair"
from = 0
to = 1
bytes = "1MB"
)";

std::string error_of(const std::string& lesson) {
  const auto scenario = scenario_from_toml(kPair + "[[lesson]]\n" + lesson, "x.toml");
  return scenario ? "" : scenario.error().text();
}

TEST(Lesson, IsSeenBetweenItsBounds) {
  const RunResult r = result_of(kPair + R"(
[[lesson]]
says = "it ends"
metric = "flows.finished"
at_least = 1
at_most = 1
[[lesson]]
says = "it is slow"
metric = "flows.goodput_gbps"
at_most = 1
[[lesson]]
says = "a job ends"
metric = "jobs.0.finished"
at_least = 0
)");
  ASSERT_EQ(r.lesson.size(), 3u);
  EXPECT_TRUE(r.lesson[0].is_seen);
  EXPECT_EQ(r.lesson[0].found, 1);
  EXPECT_FALSE(r.lesson[1].is_seen);
  EXPECT_GT(r.lesson[1].found, 50);
  // What the result does not say is not seen.
  EXPECT_FALSE(r.lesson[2].is_seen);
  EXPECT_FALSE(r.lesson[2].found);
}

TEST(Lesson, AWrongOneIsAnIssueWithItsLine) {
  EXPECT_EQ(error_of("says = \"x\"\nmetric = \"pause.frames\"\nat_most = 0\n"), "");
  EXPECT_THAT(
      error_of("says = \"x\"\nmetric = \"pause.frame\"\nat_most = 0\n"),
      HasSubstr("x.toml:13:1: lesson[0].metric: found \"pause.frame\", allowed: pause with frames, "));
  EXPECT_THAT(error_of("says = \"x\"\nmetric = \"pause.frame\"\nat_most = 0\n"),
              HasSubstr("did you mean pause.frames?"));
  EXPECT_THAT(error_of("says = \"x\"\nmetric = \"pause.frames\"\n"), HasSubstr("at_least, at_most or both"));
  EXPECT_THAT(error_of("metric = \"pause.frames\"\nat_most = 0\n"), HasSubstr("lesson[0].says"));
}

// What each shipped scenario says that it shows, it shows.
TEST(Lesson, EveryShippedScenarioShowsIts) {
  const auto files = ConfigFiles().list("scenarios", ".toml").value();
  for (const ConfigFile& file : files) {
    const auto scenario = scenario_from_toml(file.text, file.name).value();
    EXPECT_FALSE(scenario.lesson.empty()) << file.path;
    const RunResult r = run(scenario);
    for (const LessonPoint& point : r.lesson)
      EXPECT_TRUE(point.is_seen) << file.path << ": " << point.says << ": " << point.found.value_or(-1);
  }
}

TEST(Measure, EveryNumberOfAResultHasAPath) {
  EXPECT_FALSE(measure_problem("series.links.0.throughput_gbps.*"));
  EXPECT_FALSE(measure_problem("pause.deadlock.found_us"));
  EXPECT_FALSE(measure_problem("theory.phase_margin_degrees"));
  EXPECT_FALSE(measure_problem("run.reached_limit"));
  EXPECT_TRUE(measure_problem("run.reached"));
}

}  // namespace
}  // namespace rocetune::fabric
