#include "agent/report/over_time.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

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

// What is not known leaves a gap.
std::vector<double> with_gaps(const std::vector<std::optional<double>>& values, double factor) {
  std::vector<double> out;
  out.reserve(values.size());
  for (const std::optional<double>& v : values) out.push_back(v ? factor * *v : NAN);
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
      {"goodput", "payload that arrived", html::kBitRate, Fold::mean, Hue::blue,
       as_doubles(s.goodput_gbps, 1e9)},
      {"p99 delay", "of data packets, from NIC to receiver", html::kSeconds, Fold::largest, Hue::sky,
       with_gaps(s.delay_p99_us, 1e-6)},
      {"queued", "in all switches", html::kBytes, Fold::largest, Hue::purple, as_doubles(s.queued_bytes)},
      {"CE marked", "packets", html::kCount, Fold::sum, Hue::orange, as_doubles(s.ce_marked)},
      {"CNPs received", "", html::kCount, Fold::sum, Hue::green, as_doubles(s.cnps_handled)},
      {"pause frames", "", html::kCount, Fold::sum, Hue::vermilion, as_doubles(s.pause_frames)},
      {"drops", "packets", html::kCount, Fold::sum, Hue::pink, as_doubles(s.drops)},
      {"sent again", "packets", html::kCount, Fold::sum, Hue::grey, as_doubles(s.retransmitted_frames)},
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

std::string left_out(std::uint64_t count, std::string_view what) {
  if (count == 0) return {};
  return fmt::format("<p class='faint'>{} more {}.</p>\n", html::count_text(count), what);
}

std::string with_marks(const html::TimeAxis& axis, const html::HeatMap& map) {
  return map.rows.empty() ? std::string() : html::lanes(axis, html::heat_map(axis, map));
}

std::string flow_strips(const html::TimeAxis& axis, const fabric::TimeSeries& series) {
  html::HeatMap map{.title = "Throughput of flows",
                    .note = "payload that arrived; the number: mean of the whole run",
                    .unit = html::kBitRate,
                    .fold = Fold::mean};
  for (const fabric::FlowSeries& flow : series.flows)
    map.rows.push_back({.label = flow.name, .values = as_doubles(flow.goodput_gbps, 1e9)});
  return with_marks(axis, map) + left_out(series.flows_left_out, "that are smaller, or as large and faster");
}

std::string link_strips(const html::TimeAxis& axis, const fabric::TimeSeries& series) {
  html::HeatMap map{.title = "Load of the busiest links",
                    .note = "with headers, of what the link can carry; the number: mean",
                    .unit = html::kPercent,
                    .most = 1,
                    .fold = Fold::mean};
  for (const fabric::LinkSeries& link : series.links) {
    map.rows.push_back({.label = link.name,
                        .note = fmt::format("→ {}, {}", link.peer,
                                            html::quantity_text(link.rate_gbps * 1e9, html::kBitRate)),
                        .values = as_doubles(link.throughput_gbps, 1 / link.rate_gbps)});
  }
  return with_marks(axis, map) + left_out(series.links_left_out, "links with less load");
}

std::string port_strips(const html::TimeAxis& axis, const fabric::TimeSeries& series) {
  html::HeatMap queues{
      .title = "Queues of the busiest ports", .note = "the number: its longest", .unit = html::kBytes};
  html::HeatMap pauses{.title = "Held by their peers",
                       .note = "share of each step; the number: the most",
                       .unit = html::kPercent,
                       .ramp = html::Ramp::unwelcome,
                       .most = 1};
  for (const fabric::PortSeries& port : series.ports) {
    if (!port.queue_bytes.empty())
      queues.rows.push_back({port.name, "→ " + port.peer, as_doubles(port.queue_bytes)});
    if (is_any(port.paused_ratio)) pauses.rows.push_back({port.name, "→ " + port.peer, port.paused_ratio});
  }
  return with_marks(axis, queues) + with_marks(axis, pauses) +
         left_out(series.ports_left_out, "ports with shorter queues");
}

// When each step of each job was under way, one strip a step.
std::string job_strips(const html::TimeAxis& axis, const std::vector<fabric::JobResult>& jobs) {
  std::string out;
  for (const fabric::JobResult& job : jobs) {
    std::string strips;
    for (std::size_t i = 0; i < job.steps.size(); ++i) {
      const fabric::StepResult& step = job.steps[i];
      std::vector<html::Span> spans;
      for (const fabric::TimeSpan& when : step.when) {
        const std::string took = html::quantity_text((when.end_us - when.start_us) / 1e6, html::kSeconds);
        spans.push_back({.start_s = when.start_us / 1e6,
                         .end_s = when.end_us / 1e6,
                         .hue = spans.size() % 2 == 0 ? Hue::blue : Hue::sky,
                         .explanation = fmt::format("{}, time {}: {}", step.name, spans.size() + 1, took)});
      }
      if (!spans.empty()) strips += html::span_lane(axis, step.name, spans);
    }
    if (strips.empty()) continue;
    out += fmt::format(
        "<div class='lanehead'><b>{}</b><small>when each step was under way, from the first rank to the "
        "last; repetitions in turn dark and light</small></div>\n{}",
        html::escaped(job.name), strips);
  }
  return out.empty() ? out : html::lanes(axis, out);
}

}  // namespace

std::string over_time_section(const fabric::RunResult& result) {
  if (!result.series) return {};
  const fabric::TimeSeries& series = *result.series;
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
  return out + job_strips(axis, result.jobs) + flow_strips(axis, series) + link_strips(axis, series) +
         port_strips(axis, series);
}

}  // namespace rocetune::report
