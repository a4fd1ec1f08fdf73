#include "dataplane/html/lanes.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "dataplane/html/scale.h"
#include "dataplane/html/time_columns.h"

namespace rocetune::html {
namespace {

constexpr int kTimeTicks = 6, kValueTicks = 5;
constexpr double kAbovePeak = 1.05;
// Of a lane's 100 units of height: one drop is seen beside a peak of a thousand.
constexpr double kLeastHeight = 2;
// A span's coordinates over the whole axis, and how short one is still seen.
constexpr double kSpanUnits = 1000, kLeastSpan = 1.5;

Scale time_scale(const TimeAxis& axis) { return scale_between(0, axis.end_s, kSeconds, kTimeTicks); }

// No more digits than a pixel needs.
double top_of(const Scale& scale, double value) {
  const double height = 100 * scale.share(value);
  return 100 - std::round(10 * (value > 0 ? std::max(height, kLeastHeight) : height)) / 10;
}

struct CurvePaths {
  std::string line, area;
};
// As steps, in coordinates of (step, 1/100 of the height): each value is as wide as the time it stands for,
// and a single one is a line, too.
CurvePaths paths_of(const TimeAxis& axis, const std::vector<double>& columns, const Scale& scale) {
  CurvePaths out;
  for (std::size_t i = 0; i < columns.size();) {
    if (!std::isfinite(columns[i])) {
      ++i;
      continue;
    }
    const double first = top_of(scale, columns[i]);
    double y = first;
    std::size_t end = i + 1;
    std::string top;
    for (; end < columns.size() && std::isfinite(columns[end]); ++end) {
      const double next = top_of(scale, columns[end]);
      if (next == y) continue;
      top += fmt::format("H{}V{:g}", column_start(axis, end), next);
      y = next;
    }
    top += fmt::format("H{}", column_start(axis, end));
    const std::size_t start = column_start(axis, i);
    out.line += fmt::format("M{} {:g}{}", start, first, top);
    out.area += fmt::format("M{} 100V{:g}{}V100z", start, first, top);
    i = end;
  }
  return out;
}

std::string svg_begin(double width, double height, const std::string& label) {
  return fmt::format("<svg viewBox='0 0 {:g} {:g}' preserveAspectRatio='none' role='img' aria-label='{}'>",
                     width, height, escaped(label));
}

std::string grid_lines(const Scale& across, const Scale& up, double width) {
  std::string d;
  for (const Tick& tick : across.ticks) d += fmt::format("M{:.6g} 0V100", tick.share * width);
  for (const Tick& tick : up.ticks) d += fmt::format("M0 {:.4g}H{:g}", 100 - 100 * tick.share, width);
  return "<path class='grid' d='" + d + "'/>";
}

// What the lane is called and what its numbers are.
std::string caption(const TimeAxis& axis, const CurveLane& lane) {
  std::string note = escaped(lane.note);
  const std::string column = quantity_text(axis.column_s(), kSeconds);
  if (lane.fold == Fold::sum) note += fmt::format("{}per {}", note.empty() ? "" : " ", column);
  if (lane.fold != Fold::sum && axis.steps_a_column() > 1)
    note += fmt::format("{}{} of {}", note.empty() ? "" : ", ", lane.fold == Fold::mean ? "mean" : "most",
                        column);
  std::string out = "<figcaption class='name'><b>" + escaped(lane.title) + "</b>";
  if (!note.empty()) out += "<small>" + note + "</small>";
  if (lane.curves.size() > 1) {
    for (const Curve& curve : lane.curves) {
      out += fmt::format("<span class='key'><i class='swatch {}'></i> {}</span>", hue_class(curve.hue),
                         escaped(curve.label));
    }
  }
  return out + "</figcaption>";
}

std::string time_marks(const TimeAxis& axis) {
  std::string out = "<div class='ticks'><div class='axis'>";
  bool is_minor = false;
  for (const Tick& tick : time_scale(axis).ticks) {
    const std::string_view place = tick.share < 0.02 ? "first" : tick.share > 0.97 ? "last" : "";
    // On a narrow screen every other mark goes, never the ends.
    out += fmt::format("<span class='{}{}' style='left:{:.4g}%'>{}</span>", place,
                       place.empty() && is_minor ? "minor" : "", 100 * tick.share, tick.text);
    is_minor = !is_minor;
  }
  if (axis.reads_out) {
    std::vector<double> starts;
    for (std::size_t step = 0; step < steps_of(axis); step += axis.steps_a_column())
      starts.push_back(static_cast<double>(step) * axis.step_s);
    out += "<output class='when'" + values_attribute(axis, starts, kSeconds) + "></output>";
  }
  return out + "</div></div>\n";
}

}  // namespace

std::string curve_lane(const TimeAxis& axis, const CurveLane& lane) {
  std::vector<std::vector<double>> columns;
  double most = 0;
  for (const Curve& curve : lane.curves) {
    columns.push_back(columns_of(axis, curve.values, lane.fold));
    most = std::max(most, highest_of(columns.back()));
  }
  // Ends where the curve does, not at the next round value: height is scarce here.
  const Scale up = scale_between(0, most * kAbovePeak, lane.unit, kValueTicks);
  const double width = std::max(1.0, static_cast<double>(steps_of(axis)));
  const std::string peak = quantity_text(most, lane.unit);
  std::string drawn = svg_begin(width, 100, fmt::format("{} over time, at most {}", lane.title, peak)) +
                      grid_lines(time_scale(axis), up, width);
  std::string out = "<div class='out'><small class='rest'>peak</small>";
  const bool is_alone = lane.curves.size() == 1;
  for (std::size_t i = 0; i < lane.curves.size(); ++i) {
    const CurvePaths paths = paths_of(axis, columns[i], up);
    const std::string_view hue = hue_class(lane.curves[i].hue);
    if (is_alone) drawn += fmt::format("<path class='area {}' d='{}'/>", hue, paths.area);
    drawn += fmt::format("<path class='line {}' d='{}'/>", hue, paths.line);
    if (!is_alone) out += fmt::format("<i class='swatch {}'></i>", hue);
    out += read_out(axis, columns[i], lane.unit, quantity_text(highest_of(columns[i]), lane.unit));
  }
  return "<figure class='lane'>" + caption(axis, lane) + marks_beside(up) + "<div class='plot'>" + drawn +
         "</svg></div>" + out + "</div></figure>\n";
}

std::string span_lane(const TimeAxis& axis, const std::string& title, const std::vector<Span>& spans) {
  std::string drawn = svg_begin(kSpanUnits, 1, title);
  const double scale = axis.end_s > 0 ? kSpanUnits / axis.end_s : 0;
  const auto box = [&](const Span& span) {
    const double start = std::clamp(span.start_s * scale, 0.0, kSpanUnits);
    const double width = std::max(std::clamp(span.end_s * scale, 0.0, kSpanUnits) - start, kLeastSpan);
    // What began with the last moment is still on the page.
    const double x = std::min(start, kSpanUnits - width);
    return fmt::format("M{0:.6g} 0h{1:.4g}v1h-{1:.4g}z", x, width);
  };
  // Neighbours that need no words of their own are one element: there may be ten thousand.
  for (std::size_t i = 0; i < spans.size();) {
    const Span& first = spans[i];
    std::string d;
    do d += box(spans[i++]);
    while (i < spans.size() && first.explanation.empty() && spans[i].explanation.empty() &&
           spans[i].hue == first.hue);
    drawn += fmt::format("<path class='solid {}' d='{}'", hue_class(first.hue), d);
    drawn += first.explanation.empty() ? std::string("/>")
                                       : "><title>" + escaped(first.explanation) + "</title></path>";
  }
  return "<figure class='strip'><figcaption class='name'>" + escaped(title) +
         "</figcaption><div class='plot'>" + drawn + "</svg></div></figure>\n";
}

std::string lanes(const TimeAxis& axis, const std::string& content) {
  std::string begin = "<div class='lanes'>\n";
  if (axis.reads_out && axis.step_s > 0) {
    // In columns, for the script: the last one may be narrower than the others.
    begin = fmt::format("<div class='lanes' data-n='{:.6g}'>\n",
                        static_cast<double>(steps_of(axis)) / static_cast<double>(axis.steps_a_column()));
  }
  return begin + content + time_marks(axis) + "</div>\n";
}

}  // namespace rocetune::html
