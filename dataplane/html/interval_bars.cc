#include "dataplane/html/interval_bars.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "congestion/units.h"
#include "dataplane/html/scale.h"

namespace rocetune::html {
namespace {

// Coordinates of a bar's own strip, and where in it the bar and the ends of its range are.
constexpr double kBarsWidth = 1000, kStrip = 10, kBarTop = 1.5, kBarHeight = 7, kCap = 2;
constexpr int kBarTicks = 5;

Scale scale_of_bars(const IntervalBars& chart) {
  double low = 0, high = 0;
  for (const IntervalBars::Row& row : chart.rows) {
    for (const auto& bar : row.bars) {
      if (!bar) continue;
      low = std::min({low, bar->low, bar->mid});
      high = std::max({high, bar->high, bar->mid});
    }
  }
  return scale_around(low, high, chart.unit, kBarTicks);
}

std::string bar_markup(const IntervalBars::Bar& bar, Hue hue, double top, const Scale& scale) {
  const double zero = kBarsWidth * scale.share(0), mid = kBarsWidth * scale.share(bar.mid);
  const double low = kBarsWidth * scale.share(bar.low), high = kBarsWidth * scale.share(bar.high);
  const double middle = top + kStrip / 2;
  return fmt::format(
      "<path class='solid {}' d='M{:.5g} {:g}H{:.5g}v{:g}H{:.5g}z'/>"
      "<path class='range ink' d='M{:.5g} {:g}H{:.5g}M{:.5g} {:g}v{:g}M{:.5g} {:g}v{:g}'/>",
      hue_class(hue), zero, top + kBarTop, mid, kBarHeight, zero, low, middle, high, low, middle - kCap, 2 * kCap,
      high, middle - kCap, 2 * kCap);
}

std::string signed_text(double value, const Written& as) {
  return fmt::format("{}{}\u00a0{}", value > 0 ? "+" : "", as.text(value), as.symbol);
}

std::string row_markup(const IntervalBars& chart, const IntervalBars::Row& row, const Scale& scale) {
  const Written as = written_for(std::max(std::abs(scale.low), std::abs(scale.high)), chart.unit);
  ROCETUNE_ASSERT(row.bars.size() == chart.ways.size());
  const double height = kStrip * static_cast<double>(row.bars.size());
  std::string grid;
  for (const Tick& tick : scale.ticks) grid += fmt::format("M{:.5g} 0V{:g}", kBarsWidth * tick.share, height);
  std::string drawn, read;
  for (std::size_t i = 0; i < row.bars.size(); ++i) {
    const IntervalBars::Way& way = chart.ways[i];
    if (!row.bars[i]) {
      read += fmt::format("<span class='faint' title='{}: not measured'>–</span>", escaped(way.label));
      continue;
    }
    const IntervalBars::Bar& bar = *row.bars[i];
    drawn += bar_markup(bar, way.hue, kStrip * static_cast<double>(i), scale);
    read += fmt::format("<span title='{}: {} to {}'>{}</span>", escaped(way.label),
                        signed_text(bar.low, as), signed_text(bar.high, as),
                        signed_text(bar.mid, as));
  }
  const std::string note = row.note.empty() ? std::string() : "<small>" + escaped(row.note) + "</small>";
  return fmt::format(
      "<figure class='strip bars' style='--n:{}'><figcaption class='name'>{}{}</figcaption><div class='plot'>"
      "<svg viewBox='0 0 {:g} {:g}' preserveAspectRatio='none' role='img' aria-label='{}'>"
      "<path class='grid' d='{}'/><path class='zero' d='M{:.5g} 0V{:g}'/>{}</svg></div>"
      "<div class='out'>{}</div></figure>\n",
      row.bars.size(), escaped(row.label), note, kBarsWidth, height, escaped(row.label), grid,
      kBarsWidth * scale.share(0), height, drawn, read);
}

}  // namespace

std::string interval_bars(const IntervalBars& chart) {
  if (chart.rows.empty()) return {};
  const Scale scale = scale_of_bars(chart);
  std::string out = "<div class='lanes'>\n<div class='lanehead'><b>" + escaped(chart.title) + "</b>";
  if (!chart.note.empty()) out += "<small>" + escaped(chart.note) + "</small>";
  for (const IntervalBars::Way& way : chart.ways) {
    out += fmt::format("<span class='key'><i class='swatch {}'></i> {}</span>", hue_class(way.hue),
                       escaped(way.label));
  }
  out += "</div>\n";
  for (const IntervalBars::Row& row : chart.rows) out += row_markup(chart, row, scale);
  out += "<div class='ticks'><div class='axis'>";
  for (const Tick& tick : scale.ticks) {
    const std::string_view place = tick.share < 0.02 ? "first" : tick.share > 0.97 ? "last" : "";
    out += fmt::format("<span class='{}' style='left:{:.4g}%'>{}</span>", place, 100 * tick.share, tick.text);
  }
  return out + "</div></div>\n</div>\n";
}

}  // namespace rocetune::html
