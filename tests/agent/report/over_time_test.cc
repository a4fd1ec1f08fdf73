#include "agent/report/over_time.h"

#include <gmock/gmock.h>

#include "tests/dataplane/html/well_formed.h"

namespace rocetune::report {
namespace {

fabric::RunResult series_run(fabric::TimeSeries series) {
  fabric::RunResult out;
  out.series = std::move(series);
  return out;
}

using testing::HasSubstr;
using testing::Not;

TEST(OverTime, DrawsWhatHappenedAndNamesWhatDidNot) {
  const std::string section = over_time_section(series_run({.step_us = 10,
                                                            .goodput_gbps = {100, 50},
                                                            .queued_bytes = {0, 2000},
                                                            .ce_marked = {0, 0},
                                                            .cnps_handled = {0, 0},
                                                            .pause_frames = {3, 1},
                                                            .drops = {0, 0}}));
  EXPECT_EQ(html::markup_problem(section), "");
  EXPECT_THAT(section, HasSubstr("2 steps of 10\u00a0µs of virtual time."));
  EXPECT_THAT(section, HasSubstr("<b>goodput</b><small>payload that arrived</small>"));
  EXPECT_THAT(section, HasSubstr("<output data-v='100\u00a0Gb/s|50\u00a0Gb/s'>100\u00a0Gb/s</output>"));
  EXPECT_THAT(section, HasSubstr("<b>pause frames</b><small>per 10\u00a0µs</small>"));
  EXPECT_THAT(section, HasSubstr("None in the whole run: CE marked, CNPs received, drops."));
  EXPECT_THAT(section, HasSubstr("Not kept over time: p99 delay, sent again."));
}

TEST(OverTime, WhatWasNotMeasuredIsAGap) {
  const std::string section =
      over_time_section(series_run({.step_us = 10, .goodput_gbps = {1, 0, 1}, .delay_p99_us = {12, {}, 30}}));
  EXPECT_EQ(html::markup_problem(section), "");
  EXPECT_THAT(section, HasSubstr("<b>p99 delay</b>"));
  EXPECT_THAT(section, HasSubstr("data-v='12\u00a0µs|–|30\u00a0µs'"));
}

TEST(OverTime, StripsAreOfPortsLinksAndFlows) {
  fabric::TimeSeries series{.step_us = 10};
  series.ports = {{.name = "switch 0 port 0", .peer = "host 1", .queue_bytes = {1000}, .paused_ratio = {0.5}},
                  {.name = "switch 0 port 1", .peer = "host 2", .queue_bytes = {900}, .paused_ratio = {0.0}}};
  series.ports_left_out = 7;
  series.flows = {{.name = "host 3 to host 1", .goodput_gbps = {90}}};
  series.flows_left_out = 1200;
  series.links = {{.name = "host 3", .peer = "switch 0", .rate_gbps = 100, .throughput_gbps = {95}}};
  const std::string section = over_time_section(series_run(series));
  EXPECT_EQ(html::markup_problem(section), "");
  EXPECT_THAT(section, HasSubstr("switch 0 port 1<small>→ host 2</small>"));
  EXPECT_THAT(section, HasSubstr("7 more ports with shorter queues."));
  // Only one was ever held.
  EXPECT_THAT(section, HasSubstr("Held by their peers, switch 0 port 0: at most 50\u00a0%"));
  EXPECT_THAT(section, Not(HasSubstr("Held by their peers, switch 0 port 1")));
  EXPECT_THAT(section, HasSubstr("Throughput of flows, host 3 to host 1: mean 90\u00a0Gb/s"));
  EXPECT_THAT(section, HasSubstr("1\u202f200 more that are smaller"));
  EXPECT_THAT(section, HasSubstr("host 3<small>→ switch 0, 100\u00a0Gb/s</small>"));
  EXPECT_THAT(section, HasSubstr("Load of the busiest links, host 3: mean 95\u00a0%"));
}

TEST(OverTime, AStepOfAJobIsAStrip) {
  fabric::RunResult run = series_run({.step_us = 10, .goodput_gbps = {1, 1}});
  fabric::JobResult job{.name = "training"};
  job.steps = {{.name = "gradients"}, {.name = "never finished"}};
  job.steps[0].when = {{0, 5}, {10, 20}};
  run.jobs = {job};
  const std::string section = over_time_section(run);
  EXPECT_EQ(html::markup_problem(section), "");
  EXPECT_THAT(section, HasSubstr("<title>gradients, time 2: 10\u00a0µs</title>"));
  EXPECT_THAT(section, Not(HasSubstr("never finished")));
}

TEST(OverTime, WithoutASeriesIsEmpty) { EXPECT_EQ(over_time_section({}), ""); }

TEST(OverTime, OfARunShorterThanAStepSaysSo) {
  EXPECT_THAT(over_time_section(series_run({.step_us = 10})), HasSubstr("shorter than a step"));
}

}  // namespace
}  // namespace rocetune::report
