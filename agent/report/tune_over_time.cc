#include "agent/report/tune_over_time.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "agent/tune/search/compared.h"
#include "dataplane/html/lanes.h"
#include "dataplane/html/markup.h"

namespace rocetune::report {
namespace {

using search::Series;

constexpr double kSecondsPerMicrosecond = 1e-6;

struct Measured {
  std::string_view unit;  // Series::unit
  html::Unit shown;
  html::Fold fold;
};
// Counts are of a step and add up; a queue's peak is what fills a buffer.
constexpr Measured kMeasured[] = {
    {"Gb/s", html::kGigabitRate, html::Fold::mean},   {"bytes", html::kBytes, html::Fold::largest},
    {"us", html::kMicroseconds, html::Fold::largest}, {"packets", html::kCount, html::Fold::sum},
    {"frames", html::kCount, html::Fold::sum},
};
// Anything else: a plain number, and a share of 1 where its name says so.
Measured measured_as(const Series& series) {
  const auto* const known = std::ranges::find(kMeasured, series.unit, &Measured::unit);
  if (known != std::end(kMeasured)) return *known;
  const bool is_share = series.name.find("ratio") != std::string::npos;
  return {series.unit, is_share ? html::kPercent : html::kIndex, html::Fold::mean};
}

bool is_drawable(const Series& series) {
  return !series.values.empty() && series.at_us.size() == series.values.size() && series.at_us.back() > 0;
}

double step_us_of(const Series& series) {
  return series.step_us ? *series.step_us : series.at_us.back() / static_cast<double>(series.at_us.size());
}

// What of a series lies in each step of an axis, and nothing where it has a gap. A count is shared out over
// the steps it took.
std::vector<double> on_axis(const Series& series, double step_us, std::size_t steps, html::Fold fold) {
  std::vector<double> out(steps, NAN);
  std::size_t i = 0;
  for (std::size_t step = 0; step < steps; ++step) {
    const double middle = (static_cast<double>(step) + 0.5) * step_us;
    while (i < series.at_us.size() && series.at_us[i] < middle) ++i;
    if (i == series.at_us.size()) break;
    const double took = series.step_us.value_or(series.at_us[i] - (i == 0 ? 0 : series.at_us[i - 1]));
    if (middle < series.at_us[i] - took) continue;
    out[step] = series.values[i] * (fold == html::Fold::sum && took > 0 ? step_us / took : 1);
  }
  return out;
}

const Series* find_series(const search::Observation* seen, const std::string& name) {
  if (seen == nullptr) return nullptr;
  const auto found = std::ranges::find(seen->series, name, &Series::name);
  return found == seen->series.end() || !is_drawable(*found) ? nullptr : &*found;
}

const search::Observation* seen_in(const search::Trial* trial, std::size_t workload) {
  if (trial == nullptr || workload >= trial->observations.size() || !trial->observations[workload])
    return nullptr;
  return &*trial->observations[workload];
}

std::vector<std::string> names_in(const search::Observation* first, const search::Observation* second) {
  std::vector<std::string> out;
  for (const search::Observation* seen : {first, second}) {
    if (seen == nullptr) continue;
    for (const Series& series : seen->series) {
      if (is_drawable(series) && std::ranges::find(out, series.name) == out.end()) out.push_back(series.name);
    }
  }
  return out;
}

bool is_ever_positive(const Series* series) {
  return series != nullptr && std::ranges::any_of(series->values, [](double value) { return value > 0; });
}

// One axis for both runs and all their series: from the start to where the longest ends, in their finest
// step.
html::TimeAxis axis_of(const search::Observation* baseline, const search::Observation* best) {
  double step_us = INFINITY, end_us = 0;
  for (const search::Observation* seen : {baseline, best}) {
    if (seen == nullptr) continue;
    for (const Series& series : seen->series) {
      if (!is_drawable(series)) continue;
      step_us = std::min(step_us, step_us_of(series));
      end_us = std::max(end_us, series.at_us.back());
    }
  }
  if (end_us <= 0) return {};
  return {.end_s = end_us * kSecondsPerMicrosecond,
          .step_s = step_us * kSecondsPerMicrosecond,
          .reads_out = true};
}

std::string workload_lanes(const search::Observation* baseline, const search::Observation* best) {
  const html::TimeAxis axis = axis_of(baseline, best);
  if (axis.step_s <= 0) return "<p>Nothing was kept over time.</p>\n";
  const auto steps = static_cast<std::size_t>(std::ceil(axis.end_s / axis.step_s - kSecondsPerMicrosecond));
  std::string drawn, never;
  for (const std::string& name : names_in(baseline, best)) {
    const Series* const before = find_series(baseline, name);
    const Series* const after = find_series(best, name);
    if (!is_ever_positive(before) && !is_ever_positive(after)) {
      never += (never.empty() ? "" : ", ") + name;
      continue;
    }
    const Measured as = measured_as(before != nullptr ? *before : *after);
    html::CurveLane lane{.title = name, .unit = as.shown, .fold = as.fold};
    const double step_us = axis.step_s / kSecondsPerMicrosecond;
    if (before != nullptr) {
      lane.curves.push_back({.label = "as found",
                             .hue = html::Hue::orange,
                             .values = on_axis(*before, step_us, steps, as.fold)});
    }
    if (after != nullptr) {
      lane.curves.push_back(
          {.label = "changed", .hue = html::Hue::blue, .values = on_axis(*after, step_us, steps, as.fold)});
    }
    drawn += html::curve_lane(axis, lane);
  }
  std::string out = drawn.empty() ? drawn : html::lanes(axis, drawn);
  if (!never.empty()) out += "<p class='faint'>None at any time: " + html::escaped(never) + ".</p>\n";
  return out;
}

}  // namespace

std::string tune_over_time_section(const TunePage& page) {
  const search::Compared compared = search::compared_over_time(page.outcome);
  if (compared.baseline == nullptr) return {};
  std::string out = "<h2>Over time</h2>\n";
  if (compared.best != nullptr) {
    out += fmt::format(
        "<p class='faint'>The same traffic under the same circumstances, as found (trial {}) and with the "
        "changes "
        "(trial {}).</p>\n",
        compared.baseline->number, compared.best->number);
  } else {
    out += fmt::format("<p class='faint'>As found (trial {}).</p>\n", compared.baseline->number);
  }
  bool is_first = true;
  for (std::size_t w = 0; w < page.plant.workloads().size(); ++w) {
    const search::Observation* const before = seen_in(compared.baseline, w);
    const search::Observation* const after = seen_in(compared.best, w);
    if (before == nullptr && after == nullptr) continue;
    const search::Workload& workload = page.plant.workloads()[w];
    out +=
        fmt::format("<details{}><summary>Workload <b>{}</b>{}</summary>\n{}</details>\n",
                    is_first ? " open='open'" : "", html::escaped(workload.name),
                    workload.held_out ? ", which the search never saw" : "", workload_lanes(before, after));
    is_first = false;
  }
  return out;
}

}  // namespace rocetune::report
