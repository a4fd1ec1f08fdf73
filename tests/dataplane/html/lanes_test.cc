#include "dataplane/html/lanes.h"

#include <gmock/gmock.h>

#include <cmath>

#include "dataplane/html/heat_map.h"
#include "tests/dataplane/html/well_formed.h"

namespace rocetune::html {
namespace {

using testing::HasSubstr;
using testing::Not;

CurveLane lane_of(std::vector<double> values, Fold fold = Fold::mean) {
  return {
      .title = "a<b", .note = "n", .unit = kCount, .fold = fold, .curves = {{.values = std::move(values)}}};
}

TEST(CurveLane, DrawsEachValueAsWideAsItsStep) {
  const std::string lane = curve_lane({.end_s = 4, .step_s = 1}, lane_of({10, 10, 0, 20}));
  EXPECT_EQ(markup_problem(lane), "");
  EXPECT_THAT(lane, HasSubstr("viewBox='0 0 4 100'"));
  EXPECT_THAT(lane, HasSubstr("<path class='line blue' d='M0 52.4H2V100H3V4.8H4'/>"));
  EXPECT_THAT(lane, HasSubstr("<path class='area blue' d='M0 100V52.4H2V100H3V4.8H4V100z'/>"));
  EXPECT_THAT(lane, HasSubstr("a&lt;b over time, at most 20"));
}

TEST(CurveLane, ASingleValueIsALine) {
  EXPECT_THAT(curve_lane({.end_s = 1, .step_s = 1}, lane_of({7})), HasSubstr("d='M0 4.8H1'"));
}

TEST(CurveLane, WithoutValuesIsAnEmptyPlot) {
  for (const TimeAxis& axis : {TimeAxis{}, TimeAxis{.end_s = 1, .step_s = 1, .reads_out = true}}) {
    const std::string lane = lanes(axis, curve_lane(axis, lane_of({})));
    EXPECT_EQ(markup_problem(lane), "");
    EXPECT_THAT(lane, HasSubstr("<path class='line blue' d=''/>"));
  }
}

TEST(CurveLane, WhatIsNotKnownIsAGap) {
  EXPECT_THAT(curve_lane({.end_s = 4, .step_s = 1}, lane_of({10, NAN, 0, 10})),
              HasSubstr("d='M0 4.8H1M2 100H3V4.8H4'"));
}

TEST(CurveLane, ALittleIsSeenBesideAPeak) {
  EXPECT_THAT(curve_lane({.end_s = 2, .step_s = 1}, lane_of({1, 1000})), HasSubstr("d='M0 98H1V4.8H2'"));
}

TEST(CurveLane, ManyStepsShareAColumn) {
  const TimeAxis axis{.end_s = 1025, .step_s = 1, .reads_out = true};
  EXPECT_EQ(axis.steps_a_column(), 3U);
  const std::vector<double> values(1025, 2);
  const std::string sum = curve_lane(axis, lane_of(values, Fold::sum));
  EXPECT_THAT(sum, HasSubstr("<small>n per 3\u00a0s</small>"));
  EXPECT_THAT(sum, HasSubstr("<output data-v='6|6|6|"));
  // The last column has two steps.
  EXPECT_THAT(sum, HasSubstr("|6|4'>6</output>"));
  EXPECT_THAT(curve_lane(axis, lane_of(values, Fold::largest)),
              HasSubstr("<small>n, most of 3\u00a0s</small>"));
  EXPECT_THAT(curve_lane(axis, lane_of(values)), HasSubstr("|2|2'>2</output>"));
  EXPECT_THAT(lanes(axis, ""), HasSubstr("<div class='lanes' data-n='341.667'>"));
}

// A capture whose few RoCE packets stand at the beginning of days.
TEST(CurveLane, AnAxisMayBeFarLongerThanItsValues) {
  const TimeAxis axis{.end_s = 1e30, .step_s = 1e-12};
  const std::string lane = curve_lane(axis, lane_of({1, 5, 2}, Fold::largest));
  EXPECT_EQ(markup_problem(lane), "");
  EXPECT_THAT(lane, HasSubstr("<output>5</output>"));
}

TEST(CurveLane, SeveralCurvesHaveAKey) {
  CurveLane lane = lane_of({1, 2});
  lane.curves.push_back({.label = "<other>", .hue = Hue::orange, .values = {3}});
  const std::string drawn = curve_lane({.end_s = 2, .step_s = 1}, lane);
  EXPECT_EQ(markup_problem(drawn), "");
  EXPECT_THAT(drawn, HasSubstr("<i class='swatch orange'></i> &lt;other&gt;"));
  EXPECT_THAT(drawn, Not(HasSubstr("class='area")));
}

TEST(CurveLane, CarriesValuesOnlyForTheScript) {
  EXPECT_THAT(curve_lane({.end_s = 2, .step_s = 1}, lane_of({1, 2})), Not(HasSubstr("data-v")));
}

TEST(Lanes, MarkTheirTime) {
  const std::string drawn = lanes({.end_s = 0.004, .step_s = 1e-5, .reads_out = true}, "");
  EXPECT_EQ(markup_problem(drawn), "");
  EXPECT_THAT(drawn, HasSubstr("<span class='first' style='left:0%'>0</span>"));
  EXPECT_THAT(drawn, HasSubstr("<span class='last' style='left:100%'>4\u00a0ms</span>"));
  EXPECT_THAT(drawn, HasSubstr("<output class='when' data-v='0\u00a0s|10\u00a0µs|20\u00a0µs|"));
}

TEST(HeatMap, IsOnePathALevel) {
  const std::string map =
      heat_map({.end_s = 6, .step_s = 1},
               {.title = "queues", .unit = kBytes, .rows = {{"p<0>", "→ h", {0, 1, 9, 9, 1, NAN}}}});
  EXPECT_EQ(markup_problem(map), "");
  EXPECT_THAT(map, HasSubstr("'><path class='q1' d='M1 0H2V1H1zM4 0H5V1H4z'/>"
                             "<path class='q9' d='M2 0H4V1H2z'/></svg>"));
  EXPECT_THAT(map, HasSubstr("p&lt;0&gt;<small>→ h</small>"));
  EXPECT_THAT(map, HasSubstr("queues, p&lt;0&gt;: at most 9\u00a0B"));
}

TEST(HeatMap, OneScaleForAllRows) {
  HeatMap map{
      .title = "held", .unit = kPercent, .ramp = Ramp::unwelcome, .rows = {{"a", "", {0.5}}, {"b", "", {1}}}};
  EXPECT_THAT(heat_map({.end_s = 1, .step_s = 1}, map), HasSubstr("<path class='w5' d='M0 0H1V1H0z'/>"));
  map.most = 10;
  EXPECT_THAT(heat_map({.end_s = 1, .step_s = 1}, map),
              HasSubstr("<path class='w1' d='M0 0H1V1H0z'/></svg>"));
}

TEST(HeatMap, WithoutValuesIsEmpty) {
  const std::string map = heat_map({}, {.title = "t", .unit = kBytes, .rows = {{"a", "", {}}}});
  EXPECT_EQ(markup_problem(map), "");
}

TEST(SpanLane, JoinsWhatNeedsNoWords) {
  const std::string lane = span_lane({.end_s = 10}, "paused 3",
                                     {{1, 2, Hue::orange},
                                      {4, 4, Hue::orange},
                                      {1, 2, Hue::vermilion, "storm <1>"},
                                      {9, 20, Hue::orange},
                                      {10, 10, Hue::orange}});
  EXPECT_EQ(markup_problem(lane), "");
  EXPECT_THAT(lane, HasSubstr("<path class='solid orange' d='M100 0h100v1h-100zM400 0h1.5v1h-1.5z'/>"));
  EXPECT_THAT(lane, HasSubstr("d='M100 0h100v1h-100z'><title>storm &lt;1&gt;</title></path>"));
  EXPECT_THAT(lane, HasSubstr("M900 0h100v1h-100zM998.5 0h1.5v1h-1.5z"));
}

}  // namespace
}  // namespace rocetune::html
