#include "agent/report/flow_section.h"

#include <fmt/core.h>

#include <algorithm>

#include "dataplane/html/lanes.h"
#include "dataplane/html/table.h"

namespace rocetune::report {
namespace {

using html::count_text;
using html::quantity_text;
using html::Table;

std::string slowest_table(const fabric::FlowsResult& flows) {
  if (flows.slowest.size() < 2) return {};
  Table table({{.title = "flow", .align = Align::left},
               {.title = "size"},
               {.title = "start"},
               {.title = "completion", .explanation = "from its start to the last acknowledgement"},
               {.title = "goodput"}});
  double longest = 0;
  for (const fabric::FlowResult& flow : flows.slowest) longest = std::max(longest, flow.fct_us.value_or(0));
  for (const fabric::FlowResult& flow : flows.slowest) {
    const auto time = [](double us) { return quantity_text(us, html::kMicroseconds); };
    table.add_row({flow.name, quantity_text(static_cast<double>(flow.bytes), html::kBytes),
                   time(flow.start_us),
                   flow.fct_us ? Table::Cell(time(*flow.fct_us)).with_bar(*flow.fct_us / longest)
                               : Table::Cell("unfinished").in_class("warn"),
                   quantity_text(flow.goodput_gbps, html::kGigabitRate)});
  }
  std::string out = "<h3>Slowest flows</h3>\n" + table.text();
  if (flows.count > flows.slowest.size())
    out += fmt::format("<p class='faint'>{} more were faster.</p>\n",
                       count_text(flows.count - flows.slowest.size()));
  return out;
}

std::string completion_times(const fabric::FlowsResult& flows) {
  if (!flows.fct_us) return "<p>No flow is finished: there is no completion time.</p>\n";
  const fabric::FctSummary& t = *flows.fct_us;
  Table table({{.title = "min"},
               {.title = "p50"},
               {.title = "mean"},
               {.title = "p99"},
               {.title = "p99.9"},
               {.title = "max"}});
  // A digit more than elsewhere: these often lie close together.
  const auto text = [](double us) { return quantity_text(us, html::kMicroseconds, 4); };
  table.add_row({text(t.min), text(t.p50), text(t.mean), text(t.p99), text(t.p999), text(t.max)});
  const html::TimeAxis axis{.end_s = t.max / 1e6};
  const auto span = [](double from_us, double to_us, html::Hue hue, std::string words) {
    return html::Span{from_us / 1e6, to_us / 1e6, hue, std::move(words)};
  };
  return fmt::format(
             "<p class='faint'>Of {} that finished, from the start to the last acknowledgement.</p>\n",
             html::counted(flows.finished, "flow", "flows")) +
         table.text() +
         html::lanes(axis, html::span_lane(axis, "completion times",
                                           {span(t.min, t.max, html::Hue::sky, "min to max"),
                                            span(t.p50, t.p99, html::Hue::blue, "p50 to p99")})) +
         "<p class='faint'>Light: from the shortest to the longest. Strong: from the median to p99.</p>\n";
}

}  // namespace

std::string flows_section(const fabric::FlowsResult& flows) {
  if (flows.count == 0) return {};
  return "<h2>Flow completion</h2>\n" + completion_times(flows) + slowest_table(flows);
}

}  // namespace rocetune::report
