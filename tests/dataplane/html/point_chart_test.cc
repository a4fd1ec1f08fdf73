#include "dataplane/html/point_chart.h"

#include <gmock/gmock.h>

#include "tests/dataplane/html/well_formed.h"

namespace rocetune::html {
namespace {

using testing::HasSubstr;
using testing::Not;

PointChart chart_of(std::size_t series) {
  PointChart out{.title = "goodput", .unit = kBitRate, .across = "kmin"};
  out.marks = {{0, "25kB"}, {1, "50kB"}};
  for (std::size_t i = 0; i < series; ++i) {
    out.series.push_back(
        {.label = "<" + std::to_string(i) + ">",
         .points = {{.share = 0, .mean = 10e9, .low = 5e9, .high = 15e9, .explanation = "a & b"},
                    {.share = 1, .mean = 20e9, .low = 20e9, .high = 20e9}}});
  }
  return out;
}

TEST(PointChart, AMeanHasItsRange) {
  PointChart chart = chart_of(1);
  chart.is_connected = true;
  const std::string drawn = point_chart(chart);
  EXPECT_EQ(markup_problem(drawn), "");
  EXPECT_THAT(drawn, HasSubstr("<g><title>a &amp; b</title><path class='range' d='M70 75V25'/>"
                               "<path class='dot round' d='M70 50h.01'/></g>"));
  EXPECT_THAT(drawn, HasSubstr("<path class='range' d='M70 50L930 0'/>"));
}

TEST(PointChart, ASingleValueHasNoRange) {
  EXPECT_THAT(point_chart(chart_of(1)), HasSubstr("<g><path class='dot round' d='M930 0h.01'/></g>"));
}

TEST(PointChart, UnconnectedSeriesStandBesideOneAnother) {
  PointChart chart = chart_of(2);
  for (PointChart::Series& series : chart.series) series.points.front().share = 0.25;
  const std::string drawn = point_chart(chart);
  EXPECT_THAT(drawn, Not(HasSubstr("L930")));
  EXPECT_THAT(drawn, HasSubstr("d='M231.25 50h.01'"));
}

TEST(PointChart, SeriesAreToldApartWithoutColour) {
  EXPECT_THAT(
      point_legend(chart_of(4)),
      HasSubstr("<svg viewBox='0 0 26 14' class='pink' aria-hidden='true'><path class='dot square' d='M13 "
                "7h.01'/><path class='hole square' d='M13 7h.01'/></svg>&lt;3&gt;"));
}

TEST(PointChart, MoreSeriesThanColoursAreGrey) {
  EXPECT_THAT(point_chart(chart_of(10)), HasSubstr("<g class='grey'>"));
  EXPECT_THAT(point_legend(chart_of(10)), HasSubstr("grey: 2 more"));
}

TEST(PointChart, OneSeriesNeedsNoLegend) { EXPECT_EQ(point_legend(chart_of(1)), ""); }

TEST(PointChart, WithoutPointsIsAnEmptyPlot) {
  EXPECT_EQ(markup_problem(point_chart({.title = "t", .unit = kBytes, .across = "x"})), "");
  EXPECT_EQ(markup_problem(point_chart({.title = "t", .unit = kBytes, .across = "x", .series = {{}}})), "");
}

TEST(PointChart, MarksThatWouldOverlapAreLeftOut) {
  PointChart chart = chart_of(1);
  chart.marks.clear();
  for (int i = 0; i < 100; ++i) chart.marks.push_back({i / 99.0, "value " + std::to_string(i)});
  const std::string drawn = point_chart(chart);
  EXPECT_THAT(drawn, HasSubstr(">value 0<"));
  EXPECT_THAT(drawn, Not(HasSubstr(">value 1<")));
}

}  // namespace
}  // namespace rocetune::html
