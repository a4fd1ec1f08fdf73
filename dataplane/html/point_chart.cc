#include "dataplane/html/point_chart.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "dataplane/base/utf8.h"
#include "dataplane/html/markup.h"

namespace rocetune::html {
namespace {

constexpr double kWidth = 1000, kHeight = 100, kMargin = 0.07;  // of the width, on either side
// How much of a mark's own part of the axis the series take up that stand beside one another.
constexpr double kSpread = 0.5;
constexpr int kSteps = 4;
constexpr double kFarApart = 50;  // times the lowest value: logarithmic from there on
// Widths of a narrow plot and of a digit in it, in CSS pixels: what decides which marks overlap.
constexpr double kNarrowPlot = 290, kDigit = 6.5;
constexpr std::array kSeriesHues{Hue::blue, Hue::orange, Hue::green,     Hue::pink,
                                 Hue::sky,  Hue::purple, Hue::vermilion, Hue::ink};
static_assert(kSeriesHues.size() == PointChart::kMostColoured);

// Told apart without colour, too: round or square, full or hollow, and lines whole or dashed.
struct SeriesLook {
  std::string_view hue, shape;
  bool is_hollow, is_dashed;
};
SeriesLook look_of(std::size_t series) {
  if (series >= kSeriesHues.size()) return {hue_class(Hue::grey), "round", false, false};
  return {.hue = hue_class(kSeriesHues[series]),
          .shape = series % 2 == 0 ? "round" : "square",
          .is_hollow = series % 4 >= 2,
          .is_dashed = series >= 4};
}

double across_of(double share) { return kMargin + (1 - 2 * kMargin) * std::clamp(share, 0.0, 1.0); }

std::string dot_at(const SeriesLook& look, double x, double y) {
  // A line of no length: its caps stay round however the chart is stretched.
  std::string out = fmt::format("<path class='dot {}' d='M{:.5g} {:.4g}h.01'/>", look.shape, x, y);
  if (look.is_hollow) out += fmt::format("<path class='hole {}' d='M{:.5g} {:.4g}h.01'/>", look.shape, x, y);
  return out;
}

std::string connection(const PointChart::Series& series, const SeriesLook& look, const Scale& up) {
  std::string d;
  for (const PointChart::Point& p : series.points) {
    d += fmt::format("{}{:.5g} {:.4g}", d.empty() ? "M" : "L", kWidth * across_of(p.share),
                     kHeight * (1 - up.share(p.mean)));
  }
  return fmt::format("<path class='range{}' d='{}'/>", look.is_dashed ? " dashed" : "", d);
}

std::string series_markup(const PointChart& chart, std::size_t index, const Scale& up) {
  const PointChart::Series& series = chart.series[index];
  const SeriesLook look = look_of(index);
  std::string out = fmt::format("<g class='{}'>", look.hue);
  if (chart.is_connected && series.points.size() > 1) out += connection(series, look, up);
  // Beside one another where the marks are evenly spread and nothing lies between them.
  const auto places = static_cast<double>(std::max<std::size_t>(1, chart.marks.size()) * chart.series.size());
  const bool is_shifted = chart.are_side_by_side && !chart.is_connected;
  const double gap = !is_shifted ? 0 : kSpread * kWidth * (1 - 2 * kMargin) / places;
  const double shift = gap * (static_cast<double>(index) - static_cast<double>(chart.series.size() - 1) / 2);
  for (const PointChart::Point& p : series.points) {
    const double x = kWidth * across_of(p.share) + shift;
    out += "<g>";
    if (!p.explanation.empty()) out += "<title>" + escaped(p.explanation) + "</title>";
    if (p.high > p.low) {
      out += fmt::format("<path class='range' d='M{:.5g} {:.4g}V{:.4g}'/>", x,
                         kHeight * (1 - up.share(p.low)), kHeight * (1 - up.share(p.high)));
    }
    out += dot_at(look, x, kHeight * (1 - up.share(p.mean))) + "</g>";
  }
  return out + "</g>";
}

std::string marks_below(const PointChart& chart) {
  std::string out = "<div class='axis'>";
  double free_from = 0;
  for (const Tick& mark : chart.marks) {
    const double at = across_of(mark.share);
    const double half = kDigit * (display_width(mark.text) + 1) / kNarrowPlot / 2;
    if (at - half < free_from && free_from > 0) continue;
    free_from = at + half;
    out += fmt::format("<span style='left:{:.4g}%'>{}</span>", 100 * at, escaped(mark.text));
  }
  return out + "</div>";
}

Scale scale_of(const PointChart& chart) {
  double low = INFINITY, high = -INFINITY;
  for (const PointChart::Series& series : chart.series) {
    for (const PointChart::Point& p : series.points) {
      low = std::min(low, p.low);
      high = std::max(high, p.high);
    }
  }
  // Few marks would stand apart from 0.
  if (low > 0 && high > kFarApart * low) return scale_of_decades(low, high, chart.unit);
  // From 0, unless all that differs would then be in the upper half.
  return scale_around(low < high / 2 ? 0 : low, high, chart.unit, kSteps);
}

}  // namespace

std::string point_chart(const PointChart& chart) {
  const Scale up = scale_of(chart);
  std::string out = "<figure class='chart'><figcaption class='name'><b>" + escaped(chart.title) + "</b>";
  if (!chart.note.empty()) out += "<small>" + escaped(chart.note) + "</small>";
  out += "</figcaption>" + marks_beside(up);
  std::string lines;
  for (const Tick& tick : up.ticks)
    lines += fmt::format("M0 {:.4g}H{:g}", kHeight * (1 - tick.share), kWidth);
  out += fmt::format(
      "<div class='plot'><svg viewBox='0 0 {:g} {:g}' preserveAspectRatio='none' role='img' "
      "aria-label='{} over {}'><path class='grid' d='{}'/>",
      kWidth, kHeight, escaped(chart.title), escaped(chart.across), lines);
  // The first ones last: they are on top.
  for (std::size_t i = chart.series.size(); i-- > 0;) out += series_markup(chart, i, up);
  return out + "</svg></div>" + marks_below(chart) + "<div class='label'>" + escaped(chart.across) +
         "</div></figure>\n";
}

std::string point_legend(const PointChart& chart) {
  if (chart.series.size() < 2) return {};
  std::string out = "<div class='legend'>";
  for (std::size_t i = 0; i < std::min(chart.series.size(), PointChart::kMostColoured); ++i) {
    const SeriesLook look = look_of(i);
    const std::string line = chart.is_connected ? fmt::format("<path class='range{}' d='M0 7H26'/>",
                                                              look.is_dashed ? " dashed" : "")
                                                : std::string();
    out += fmt::format("<span><svg viewBox='0 0 26 14' class='{}' aria-hidden='true'>{}{}</svg>{}</span>",
                       look.hue, line, dot_at(look, 13, 7), escaped(chart.series[i].label));
  }
  if (chart.series.size() > PointChart::kMostColoured) {
    out += fmt::format("<span class='faint'>grey: {} more</span>",
                       chart.series.size() - PointChart::kMostColoured);
  }
  return out + "</div>\n";
}

}  // namespace rocetune::html
