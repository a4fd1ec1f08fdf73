#include "agent/report/over_time.h"

#include <fmt/core.h>

#include <algorithm>

#include "dataplane/html/heat_map.h"
#include "dataplane/html/lanes.h"
#include "dataplane/html/quantity.h"

namespace rocetune::report {
namespace {

using html::Fold;
using html::Hue;

template <class T>
std::vector<double> as_doubles(const std::vector<T>& values, double factor = 1) {
  std::vector<double> out;
  out.reserve(values.size());
  for (const T v : values) out.push_back(factor * static_cast<double>(v));
  return out;
}

struct Quantity {
  std::string_view title, note;
  html::Unit unit;
  Fold fold;
  Hue hue;
  std::vector<double> values;
};

std::vector<Quantity> quantities_of(const fabric::TimeSeries& s) {
  return {
      {"goodput", "payload acknowledged", html::kBitRate, Fold::mean, Hue::blue,
       as_doubles(s.goodput_gbps, 1e9)},
      {"queued", "in all switches", html::kBytes, Fold::largest, Hue::purple, as_doubles(s.queued_bytes)},
      {"CE marked", "packets", html::kCount, Fold::sum, Hue::orange, as_doubles(s.ce_marked)},
      {"CNPs handled", "", html::kCount, Fold::sum, Hue::green, as_doubles(s.cnps_handled)},
      {"pause frames", "", html::kCount, Fold::sum, Hue::vermilion, as_doubles(s.pause_frames)},
      {"drops", "packets", html::kCount, Fold::sum, Hue::pink, as_doubles(s.drops)},
      {"sent again", "packets", html::kCount, Fold::sum, Hue::sky, as_doubles(s.retransmitted_frames)},
  };
}

std::string sentence(std::string_view begin, const std::vector<std::string_view>& titles) {
  if (titles.empty()) return {};
  std::string names;
  for (const std::string_view title : titles) names += (names.empty() ? "" : ", ") + std::string(title);
  return fmt::format("<p class='faint'>{} {}.</p>\n", begin, names);
}

bool is_any(const std::vector<double>& values) {
  return std::ranges::any_of(values, [](double v) { return v > 0; });
}

std::string strips(const html::TimeAxis& axis, const fabric::TimeSeries& series) {
  html::HeatMap queues{
      .title = "Queues of the busiest ports", .note = "the number: its longest", .unit = html::kBytes};
  html::HeatMap pauses{.title = "Held by their peers",
                       .note = "share of each step; the number: the most",
                       .unit = html::kPercent,
                       .ramp = html::Ramp::unwelcome,
                       .most = 1};
  for (std::size_t i = 0; i < std::min(series.ports.size(), kMostStrips); ++i) {
    const fabric::PortSeries& port = series.ports[i];
    if (!port.queue_bytes.empty())
      queues.rows.push_back({port.name, "→ " + port.peer, as_doubles(port.queue_bytes)});
    if (is_any(port.paused_ratio)) pauses.rows.push_back({port.name, "→ " + port.peer, port.paused_ratio});
  }
  std::string out;
  if (!queues.rows.empty()) out += html::lanes(axis, html::heat_map(axis, queues));
  if (!pauses.rows.empty()) out += html::lanes(axis, html::heat_map(axis, pauses));
  return out;
}

}  // namespace

std::string over_time_section(const fabric::TimeSeries& series) {
  const std::vector<Quantity> quantities = quantities_of(series);
  std::size_t steps = 0;
  for (const Quantity& q : quantities) steps = std::max(steps, q.values.size());
  for (const fabric::PortSeries& port : series.ports)
    steps = std::max({steps, port.queue_bytes.size(), port.paused_ratio.size()});
  std::string out = "<h2>Over time</h2>\n";
  if (steps == 0 || series.step_us <= 0) return out + "<p>The run was shorter than a step of time.</p>\n";
  const double step_s = series.step_us / 1e6;
  const html::TimeAxis axis{
      .end_s = step_s * static_cast<double>(steps), .step_s = step_s, .reads_out = true};
  out += fmt::format("<p class='faint'>{} steps of {} of virtual time.</p>\n", html::count_text(steps),
                     html::quantity_text(step_s, html::kSeconds));
  std::string drawn;
  std::vector<std::string_view> never, not_kept;
  for (const Quantity& q : quantities) {
    if (q.values.empty()) {
      not_kept.push_back(q.title);
    } else if (!is_any(q.values)) {
      never.push_back(q.title);
    } else {
      drawn += html::curve_lane(axis, {.title = std::string(q.title),
                                       .note = std::string(q.note),
                                       .unit = q.unit,
                                       .fold = q.fold,
                                       .curves = {{.hue = q.hue, .values = q.values}}});
    }
  }
  if (!drawn.empty()) out += html::lanes(axis, drawn);
  out += sentence("None in the whole run:", never) + sentence("Not kept over time:", not_kept);
  return out + strips(axis, series);
}

}  // namespace rocetune::report
