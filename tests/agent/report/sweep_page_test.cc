#include "agent/report/sweep_page.h"

#include <gmock/gmock.h>

#include "tests/agent/report/sweep_fixtures.h"
#include "tests/dataplane/html/well_formed.h"

namespace rocetune::report {
namespace {

using html::markup_problem;
using testing::HasSubstr;
using testing::Not;

std::string swept_page(const std::vector<fabric::Variation>& runs) {
  return sweep_page(
      {.command = "rocetune sim incast --seeds 2", .variations = runs, .metrics = usual_metrics(runs)});
}

std::vector<fabric::Variation> four_runs() {
  return {run_with({{"kmin", "25kB"}}, 1, 90, 100), run_with({{"kmin", "25kB"}}, 2, 92, 120),
          run_with({{"kmin", "50kB"}}, 1, 95, 300), run_with({{"kmin", "50kB"}}, 2, 95, 300)};
}

TEST(SweepPage, ARowHasMeansAndRanges) {
  const std::string page = swept_page(four_runs());
  EXPECT_EQ(markup_problem(page), "");
  EXPECT_THAT(page, HasSubstr("4 runs of 2 combinations of settings"));
  EXPECT_THAT(page, HasSubstr("<td>2</td><td>91.0<br/><small>90.0 – 92.0</small></td>"));
  // No range where there is none.
  EXPECT_THAT(page, HasSubstr("<td>2</td><td>95.0</td>"));
  EXPECT_THAT(page, HasSubstr("<th scope='col'>completion p99<br/><small>µs</small></th>"));
  EXPECT_THAT(page, HasSubstr("None in any run: pause frames, CE marked, lost, sent again."));
}

TEST(SweepPage, WhatIsAbsentIsNotZero) {
  std::vector<fabric::Variation> runs = four_runs();
  EXPECT_THAT(swept_page(runs), HasSubstr("Not in these results: longest queue."));
  for (fabric::Variation& run : runs) run.result.ports.resize(1);
  runs[3].result.checkers.clear();
  const std::string page = swept_page(runs);
  EXPECT_THAT(page, HasSubstr("None in any run: longest queue, pause frames, CE marked, lost, sent again."));
  EXPECT_THAT(page, HasSubstr("<b>No checks</b> in 1 of 4 runs."));
  EXPECT_THAT(page, Not(HasSubstr("All checks hold")));
}

TEST(SweepPage, TheBestAreMarked) {
  const std::string page = swept_page(four_runs());
  EXPECT_THAT(page, HasSubstr("goodput</span> highest: <b>95\u00a0Gb/s</b> with kmin = 50kB"));
  EXPECT_THAT(page, HasSubstr("completion p99</span> shortest: <b>110\u00a0µs</b> with kmin = 25kB"));
  EXPECT_THAT(page,
              HasSubstr("<tr class='best'><td class='l'>50kB<div class='badges'><span class='badge blue'>★ "
                        "goodput</span></div></td>"));
}

TEST(SweepPage, ChartsAreOverTheFirstSettingThatVaries) {
  std::vector<fabric::Variation> runs = four_runs();
  for (fabric::Variation& run : runs) {
    run.settings.insert(run.settings.begin(), {"hosts", "17"});
    run.settings.emplace_back("cc", run.result.seed == 1 ? "off" : "dcqcn");
  }
  const std::string page = swept_page(runs);
  EXPECT_EQ(markup_problem(page), "");
  EXPECT_THAT(page, HasSubstr("in all hosts = 17"));
  EXPECT_THAT(page, HasSubstr("<h2>Over kmin</h2>"));
  EXPECT_THAT(page, HasSubstr("</svg>cc = dcqcn</span>"));
  EXPECT_THAT(page, HasSubstr("<title>kmin = 50kB, cc = off: 95\u00a0Gb/s</title>"));
  EXPECT_THAT(page, Not(HasSubstr("<b>CE marked</b>")));
}

TEST(SweepPage, WrongAndUnfinishedRunsAreNamed) {
  std::vector<fabric::Variation> runs = four_runs();
  runs[2].result.checkers[0] = {"no drop in a lossless class", false, "3 drops"};
  runs[1].result.flows.count = 2;
  runs[1].result.deadlock.emplace();
  const std::string page = swept_page(runs);
  EXPECT_THAT(page,
              HasSubstr("<b>A check does not hold in 1 of 4 runs.</b><div>kmin = 50kB, seed 1: no drop in a "
                        "lossless class: 3 drops</div>"));
  EXPECT_THAT(page, HasSubstr("<b>A deadlock</b> in 1 of 4 runs."));
  EXPECT_THAT(page, HasSubstr("<b>Traffic is unfinished</b> in 1 of 4 runs"));
  EXPECT_THAT(page, HasSubstr("✗ wrong</span></div>"));
  EXPECT_THAT(page, HasSubstr("<div class='badges'><span class='badge bad'>✗ deadlock</span>"
                              "<span class='badge warn'>! unfinished</span></div>"));
  EXPECT_THAT(page, Not(HasSubstr("All checks hold")));
}

TEST(SweepPage, SaysWhichRunsShowTheLesson) {
  std::vector<fabric::Variation> runs = four_runs();
  EXPECT_THAT(swept_page(runs), Not(HasSubstr("What this scenario shows")));
  for (fabric::Variation& run : runs) {
    run.result.lesson = {
        {.says = "a < b", .metric = "goodput_gbps", .is_seen = run.settings[0].value == "50kB"},
        {.says = "never", .metric = "goodput_gbps"}};
  }
  runs[0].result.lesson[1].is_seen = true;
  const std::string page = swept_page(runs);
  EXPECT_EQ(markup_problem(page), "");
  EXPECT_THAT(page,
              HasSubstr("<li class='good'><b class='sign'>1</b> a &lt; b<small>in 2 of 4 runs</small>"));
  EXPECT_THAT(page, HasSubstr("<td>✓</td>"));
  EXPECT_THAT(page, HasSubstr("<td>1 of 2</td>"));
}

TEST(SweepPage, WithoutCompletionTimesHasNone) {
  std::vector<fabric::Variation> runs = four_runs();
  runs[0].result.flows.fct_us.reset();
  runs[2].result.flows.fct_us.reset();
  runs[3].result.flows.fct_us.reset();
  const std::string page = swept_page(runs);
  EXPECT_EQ(markup_problem(page), "");
  EXPECT_THAT(page, HasSubstr("<td>120<br/><small>in 1 of 2</small></td>"));
  EXPECT_THAT(page, HasSubstr("<td class='faint'>–</td>"));
}

TEST(SweepPage, OfSeedsAloneHasNoCharts) {
  const std::string page = swept_page({run_with({}, 1, 90, 10), run_with({}, 2, 91, 10)});
  EXPECT_EQ(markup_problem(page), "");
  EXPECT_THAT(page, HasSubstr("Nothing but the seed was varied."));
  EXPECT_THAT(page, Not(HasSubstr("<svg")));
}

TEST(SweepPage, ChartsAreOverAmountsRatherThanWords) {
  const std::string page = swept_page({job_with({{"algorithm", "ring"}, {"bytes", "1MiB"}}, 300, 50),
                                       job_with({{"algorithm", "ring"}, {"bytes", "2MiB"}}, 500, 60),
                                       job_with({{"algorithm", "tree"}, {"bytes", "1MiB"}}, 1900, 8),
                                       job_with({{"algorithm", "tree"}, {"bytes", "2MiB"}}, 26'000, 9)});
  EXPECT_EQ(markup_problem(page), "");
  EXPECT_THAT(page, HasSubstr("<h2>Over bytes</h2>"));
  EXPECT_THAT(page, HasSubstr("</svg>algorithm = tree</span>"));
  // From 300 us to 26 ms.
  EXPECT_THAT(page, HasSubstr("'>100\u00a0ms</span>"));
}

TEST(SweepPage, OfJobsComparesBusbw) {
  const std::string page =
      swept_page({job_with({{"algorithm", "ring"}}, 900, 80), job_with({{"algorithm", "tree"}}, 800, 70)});
  EXPECT_EQ(markup_problem(page), "");
  EXPECT_THAT(page, HasSubstr("★ gradients busbw</span> highest: <b>80\u00a0Gb/s</b> with algorithm = ring"));
  EXPECT_THAT(page, HasSubstr("★ all steps once</span> shortest: <b>800\u00a0µs</b> with algorithm = tree"));
  EXPECT_THAT(page, Not(HasSubstr("goodput")));
}

TEST(SweepPage, NoNameBecomesMarkup) {
  const std::string hostile = "<img src=x>'\"&";
  std::vector<fabric::Variation> runs{run_with({{hostile, hostile}, {"a", hostile}}, 1, 90, 10),
                                      run_with({{hostile, "b"}, {"a", "c"}}, 1, 91, 20)};
  runs[0].result.event_log_sha256 = hostile;
  runs[0].result.checkers[0] = {hostile, false, hostile};
  runs[0].result.scenario = runs[0].result.description = hostile;
  std::vector<Metric> metrics = usual_metrics(runs);
  metrics[0].title = hostile;
  const std::string text = sweep_page({.command = hostile, .variations = runs, .metrics = metrics});
  EXPECT_EQ(markup_problem(text), "");
  EXPECT_THAT(text, Not(HasSubstr("<img")));
}

TEST(SweepPage, TakesTwoHundredRuns) {
  std::vector<fabric::Variation> runs;
  for (int i = 0; i < 200; ++i) {
    runs.push_back(run_with({{"kmin", std::to_string(i / 10) + "kB"}, {"n", std::to_string(i % 10)}}, 1,
                            90 + i % 7, 10));
  }
  const std::string page = swept_page(runs);
  EXPECT_EQ(markup_problem(page), "");
  EXPECT_THAT(page, HasSubstr("200 runs of 200 combinations"));
  EXPECT_LT(page.size(), 500'000U);
}

}  // namespace
}  // namespace rocetune::report
