#include "agent/report/over_time.h"

#include <gmock/gmock.h>

#include "tests/dataplane/html/well_formed.h"

namespace rocetune::report {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(OverTime, DrawsWhatHappenedAndNamesWhatDidNot) {
  const std::string section = over_time_section({.step_us = 10,
                                                 .goodput_gbps = {100, 50},
                                                 .queued_bytes = {0, 2000},
                                                 .ce_marked = {0, 0},
                                                 .cnps_handled = {0, 0},
                                                 .pause_frames = {3, 1},
                                                 .drops = {0, 0}});
  EXPECT_EQ(html::markup_problem(section), "");
  EXPECT_THAT(section, HasSubstr("2 steps of 10\u00a0µs of virtual time."));
  EXPECT_THAT(section, HasSubstr("<b>goodput</b><small>payload acknowledged</small>"));
  EXPECT_THAT(section, HasSubstr("<output data-v='100\u00a0Gb/s|50\u00a0Gb/s'>100\u00a0Gb/s</output>"));
  EXPECT_THAT(section, HasSubstr("<b>pause frames</b><small>per 10\u00a0µs</small>"));
  EXPECT_THAT(section, HasSubstr("None in the whole run: CE marked, CNPs handled, drops."));
  EXPECT_THAT(section, HasSubstr("Not kept over time: sent again."));
}

TEST(OverTime, StripsAreOfTheBusiestPorts) {
  fabric::TimeSeries series{.step_us = 10};
  for (std::size_t i = 0; i < kMostStrips + 1; ++i) {
    series.ports.push_back({.name = "switch 0 port " + std::to_string(i),
                            .peer = "host 1",
                            .queue_bytes = {1000},
                            .paused_ratio = {i == 0 ? 0.5 : 0.0}});
  }
  const std::string section = over_time_section(series);
  EXPECT_EQ(html::markup_problem(section), "");
  EXPECT_THAT(section, HasSubstr("switch 0 port 15<small>→ host 1</small>"));
  EXPECT_THAT(section, Not(HasSubstr("switch 0 port 16")));
  // Only one was ever held.
  EXPECT_THAT(section, HasSubstr("Held by their peers, switch 0 port 0: at most 50\u00a0%"));
  EXPECT_THAT(section, Not(HasSubstr("Held by their peers, switch 0 port 1")));
}

TEST(OverTime, OfARunShorterThanAStepSaysSo) {
  EXPECT_THAT(over_time_section({.step_us = 10}), HasSubstr("shorter than a step"));
}

}  // namespace
}  // namespace rocetune::report
