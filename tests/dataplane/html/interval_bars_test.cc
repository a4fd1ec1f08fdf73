#include "dataplane/html/interval_bars.h"

#include <gmock/gmock.h>

#include "tests/dataplane/html/well_formed.h"

namespace rocetune::html {
namespace {

using testing::HasSubstr;
using testing::Not;

IntervalBars bars() {
  return {.title = "gain & loss",
          .unit = kPercent,
          .ways = {{"alone", Hue::blue}, {"without", Hue::orange}},
          .rows = {{.label = "kmin <1>", .bars = {IntervalBars::Bar{0.4, 0.3, 0.5}, IntervalBars::Bar{-0.1, -0.2, 0}}},
                   {.label = "mtu", .note = "MTU-1", .bars = {std::nullopt, IntervalBars::Bar{0.1, 0.1, 0.1}}}}};
}

TEST(IntervalBars, BeginAtZeroAndHaveTheirRange) {
  const std::string drawn = interval_bars(bars());
  EXPECT_EQ(markup_problem(drawn), "");
  // From -20 to 60 %: 0 lies at a quarter, 40 % at three.
  EXPECT_THAT(drawn, HasSubstr("<path class='solid blue' d='M250 1.5H750v7H250z'/>"
                               "<path class='range ink' d='M625 5H875M625 3v4M875 3v4'/>"));
  EXPECT_THAT(drawn, HasSubstr("<path class='solid orange' d='M250 11.5H125v7H250z'/>"));
  EXPECT_THAT(drawn, HasSubstr("<span title='alone: +30.0\u00a0% to +50.0\u00a0%'>+40.0\u00a0%</span>"));
}

TEST(IntervalBars, WhatIsNotKnownHasNoBarAndSaysSo) {
  IntervalBars chart = bars();
  chart.rows.erase(chart.rows.begin());
  const std::string drawn = interval_bars(chart);
  EXPECT_THAT(drawn, HasSubstr("<span class='faint' title='alone: not measured'>–</span>"));
  EXPECT_THAT(drawn, Not(HasSubstr("solid blue")));
  EXPECT_THAT(drawn, HasSubstr("mtu<small>MTU-1</small>"));
}

TEST(IntervalBars, NamesAreEscaped) {
  const std::string drawn = interval_bars(bars());
  EXPECT_THAT(drawn, HasSubstr("gain &amp; loss"));
  EXPECT_THAT(drawn, HasSubstr("kmin &lt;1&gt;"));
  EXPECT_THAT(drawn, Not(HasSubstr("<1>")));
}

TEST(IntervalBars, NothingOfNoRows) { EXPECT_EQ(interval_bars({.title = "gain", .unit = kPercent}), ""); }

}  // namespace
}  // namespace rocetune::html
