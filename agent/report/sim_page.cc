#include "agent/report/sim_page.h"

#include <fmt/core.h>

#include <algorithm>

#include "agent/report/busiest_ports.h"
#include "agent/report/deadlock_ring.h"
#include "agent/report/over_time.h"
#include "agent/report/pause_tree.h"
#include "dataplane/html/lanes.h"
#include "dataplane/html/markup.h"
#include "dataplane/html/page.h"
#include "dataplane/html/quantity.h"
#include "dataplane/html/table.h"

namespace rocetune::report {
namespace {

using html::count_text;
using html::escaped;
using html::quantity_text;
using html::Table;
using html::Verdict;

std::string counted(std::uint64_t count, std::string_view one, std::string_view many) {
  return fmt::format("{} {}", count_text(count), count == 1 ? one : many);
}

std::string microseconds_text(double us) { return quantity_text(us / 1e6, html::kSeconds); }

std::string opening(const SimPage& page) {
  const fabric::RunResult& r = page.result;
  std::string out;
  if (!page.description.empty()) out += "<p>" + escaped(page.description) + "</p>\n";
  return out + fmt::format("<p class='faint'>{}, {}; seed {}; {} of virtual time</p>\n",
                           counted(r.hosts, "host", "hosts"), counted(r.switches, "switch", "switches"),
                           r.seed, quantity_text(r.virtual_s, html::kSeconds));
}

std::string checks_verdict(const fabric::RunResult& r) {
  if (r.checkers.empty()) return html::verdict_line(Verdict::warn, "This result holds no checks.");
  if (r.is_right())
    return html::verdict_line(Verdict::good, fmt::format("<b>All {} checks hold.</b>", r.checkers.size()));
  std::string violated;
  for (const fabric::CheckerResult& c : r.checkers) {
    if (!c.holds) {
      violated +=
          fmt::format("<div><b>Violated: {}.</b> Found: {}.</div>", escaped(c.name), escaped(c.found));
    }
  }
  return html::verdict_line(Verdict::bad, violated);
}

// What did not arrive, and where it ended; nothing if all did.
std::string losses(const fabric::RunResult& r) {
  const std::pair<std::uint64_t, std::string_view> kinds[] = {
      {r.drops, "dropped in switches for lack of room"},
      {r.watchdog_drops, "dropped by watchdogs in storms"},
      {r.link_drops, "dropped before a link that was down"},
      {r.lost_frames, "lost on links"},
      {r.receive_drops, "dropped in NICs whose hosts are slow"},
      {r.failed_requests, "requests that failed"}};
  std::string out;
  for (const auto& [count, what] : kinds) {
    if (count > 0) out += fmt::format("{}{} {}", out.empty() ? "" : ", ", count_text(count), what);
  }
  return out;
}

// What one must know before any number: is it right, did it end, what held it up.
std::string verdicts(const fabric::RunResult& r) {
  std::string out = checks_verdict(r);
  if (r.deadlock) {
    out += html::verdict_line(
        Verdict::bad, fmt::format("<b>Deadlock</b> at {}: {} wait for each other in a circle, and nothing in "
                                  "it can ever move again.",
                                  microseconds_text(r.deadlock->found_us),
                                  counted(r.deadlock->cycle.size(), "port", "ports")));
  }
  if (r.reached_limit) {
    out += html::verdict_line(
        Verdict::warn, fmt::format("<b>Ended at its limit</b> of virtual time: {} of {} flows are finished.",
                                   count_text(r.flows.finished), count_text(r.flows.count)));
  }
  if (const std::string lost = losses(r); !lost.empty())
    out += html::verdict_line(Verdict::warn, "<b>Lost:</b> " + lost + ".");
  const auto root = std::ranges::find(r.pause_tree, 0, &fabric::PauseCause::depth);
  if (root != r.pause_tree.end()) {
    out += html::verdict_line(Verdict::warn,
                              fmt::format("<b>Pauses begin at {}</b> ({}): it held {} for {} of the time.",
                                          escaped(root->pauser), escaped(root->because), escaped(root->held),
                                          quantity_text(root->held_ratio, html::kPercent)));
  }
  return out;
}

std::string headline(const fabric::RunResult& r) {
  const fabric::FlowsResult& f = r.flows;
  html::Tiles tiles;
  const double goodput = r.jobs.empty() ? f.goodput_gbps : r.goodput_gbps;
  tiles.add({.title = "goodput",
             .value = quantity_text(goodput * 1e9, html::kBitRate),
             .note = r.jobs.empty()
                         ? quantity_text(static_cast<double>(f.bytes), html::kBytes) + " acknowledged"
                         : "flows and jobs"});
  if (f.fct_us) {
    tiles.add({.title = "completion p50", .value = microseconds_text(f.fct_us->p50)});
    tiles.add({.title = "completion p99", .value = microseconds_text(f.fct_us->p99)});
    tiles.add({.title = "completion max", .value = microseconds_text(f.fct_us->max)});
  }
  for (const fabric::JobResult& job : r.jobs) {
    if (job.iteration_us)
      tiles.add(
          {.title = job.name, .value = microseconds_text(job.iteration_us->mean), .note = "all steps once"});
  }
  if (f.count > 0) {
    tiles.add({.title = "flows finished",
               .value = fmt::format("{} / {}", count_text(f.finished), count_text(f.count)),
               .is_notable = f.finished < f.count});
    tiles.add({.title = "fairness", .value = fmt::format("{:.3f}", f.fairness), .note = "Jain's index"});
  }
  if (r.theory && r.theory->queue_bytes) {
    tiles.add({.title = "theory's queue",
               .value = quantity_text(static_cast<double>(*r.theory->queue_bytes), html::kBytes),
               .note = "fluid model: " + r.theory->says});
  }
  tiles.add({.title = "CE marked", .value = count_text(r.ce_marked), .note = "packets"});
  tiles.add({.title = "CNPs handled",
             .value = count_text(r.cnps_handled),
             .note = "of " + count_text(r.cnps_sent) + " sent"});
  tiles.add({.title = "pause frames", .value = count_text(r.pause_frames)});
  if (!r.ports.empty()) {
    const std::uint64_t drops = r.drops + r.watchdog_drops + r.link_drops + r.receive_drops;
    tiles.add({.title = "drops", .value = count_text(drops), .note = "packets", .is_notable = drops > 0});
  }
  tiles.add({.title = "sent again",
             .value = count_text(f.retransmitted_frames),
             .note = "packets",
             .is_notable = f.retransmitted_frames > 0});
  tiles.add({.title = "virtual time", .value = quantity_text(r.virtual_s, html::kSeconds)});
  return tiles.text();
}

std::string flows_section(const fabric::FlowsResult& f) {
  std::string out = "<h2>Flow completion</h2>\n";
  if (!f.fct_us) return out + "<p>No flow is finished: there is no completion time.</p>\n";
  const fabric::FctSummary& t = *f.fct_us;
  Table table({{.title = "min"},
               {.title = "p50"},
               {.title = "mean"},
               {.title = "p99"},
               {.title = "p99.9"},
               {.title = "max"}});
  // A digit more than elsewhere: these often lie close together.
  const auto text = [](double us) { return quantity_text(us / 1e6, html::kSeconds, 4); };
  table.add_row({text(t.min), text(t.p50), text(t.mean), text(t.p99), text(t.p999), text(t.max)});
  out += fmt::format("<p class='faint'>Of the {} finished, from the start to the last acknowledgement.</p>\n",
                     counted(f.finished, "flow", "flows")) +
         table.text();
  const html::TimeAxis axis{.end_s = t.max / 1e6};
  const auto span = [](double from_us, double to_us, html::Hue hue, std::string words) {
    return html::Span{from_us / 1e6, to_us / 1e6, hue, std::move(words)};
  };
  return out +
         html::lanes(axis, html::span_lane(axis, "completion times",
                                           {span(t.min, t.max, html::Hue::sky, "min to max"),
                                            span(t.p50, t.p99, html::Hue::blue, "p50 to p99")})) +
         "<p class='faint'>Light: from the shortest to the longest. Strong: from the median to p99.</p>\n";
}

std::string jobs_section(const std::vector<fabric::JobResult>& jobs) {
  std::string out;
  for (const fabric::JobResult& job : jobs) {
    out += fmt::format(
        "<h2>{}</h2>\n<p class='faint'>{} of {} ranks finished. A step's time runs from the first "
        "rank of a group that was ready to the last that was done.</p>\n",
        escaped(job.name), count_text(job.finished), count_text(job.ranks));
    Table table({{.title = "step", .align = Align::left},
                 {.title = "what", .align = Align::left},
                 {.title = "ranks"},
                 {.title = "size"},
                 {.title = "times"},
                 {.title = "mean"},
                 {.title = "p99"},
                 {.title = "max"},
                 {.title = "busbw"}});
    for (const fabric::StepResult& step : job.steps) {
      const auto time = [&](double fabric::FctSummary::*member) {
        return step.time_us ? microseconds_text(*step.time_us.*member) : std::string("–");
      };
      table.add_row({step.name, step.what, count_text(step.ranks),
                     step.bytes > 0 ? quantity_text(static_cast<double>(step.bytes), html::kBytes) : "–",
                     count_text(step.count), time(&fabric::FctSummary::mean), time(&fabric::FctSummary::p99),
                     time(&fabric::FctSummary::max),
                     step.busbw_gbps ? quantity_text(*step.busbw_gbps * 1e9, html::kBitRate) : "–"});
    }
    out += table.text();
  }
  return out;
}

std::string checks_section(const fabric::RunResult& r) {
  if (r.checkers.empty()) return {};
  std::vector<Table::Column> columns{{.title = "what must hold", .align = Align::left},
                                     {.title = "", .align = Align::left}};
  if (!r.is_right()) columns.push_back({.title = "found", .align = Align::left});
  Table table(std::move(columns));
  for (const fabric::CheckerResult& c : r.checkers) {
    std::vector<Table::Cell> cells{
        c.name, Table::Cell(c.holds ? "✓ holds" : "✗ violated").in_class(c.holds ? "" : "bad")};
    if (!r.is_right()) cells.push_back(Table::Cell(c.found).in_class("wrap"));
    table.add_row(std::move(cells));
  }
  return "<h2>Checks</h2>\n" + table.text();
}

std::string repeat_section(const SimPage& page) {
  const fabric::RunResult& r = page.result;
  std::string out = "<h2>The same again</h2>\n";
  if (!page.command.empty()) out += "<pre>" + escaped(page.command) + "</pre>\n";
  if (!r.event_log_sha256.empty()) {
    out += fmt::format(
        "<p>The same program, scenario and seed give the same events, everywhere. Their SHA-256: "
        "<code>{}</code></p>\n",
        escaped(r.event_log_sha256));
  }
  return out +
         fmt::format("<p class='faint'>{} packet hops, {} events; {} of processor time, {} of memory.</p>\n",
                     count_text(r.packet_hops), count_text(r.events),
                     quantity_text(page.resources.cpu_seconds, html::kSeconds),
                     quantity_text(static_cast<double>(page.resources.peak_rss_bytes), html::kBytes));
}

std::string without_series(const SimPage& page) {
  std::string out =
      "<h2>Over time</h2>\n<p>This run kept no values over time, so there are no charts of it.</p>\n";
  if (!page.command_with_series.empty())
    out += "<p>With them:</p>\n<pre>" + escaped(page.command_with_series) + "</pre>\n";
  return out;
}

}  // namespace

std::string sim_page(const SimPage& page) {
  const fabric::RunResult& r = page.result;
  std::string body = opening(page) + verdicts(r) + headline(r);
  if (r.deadlock) body += deadlock_section(*r.deadlock);
  body += r.series ? over_time_section(*r.series) : without_series(page);
  body += pause_tree_section(r.pause_tree, r.pause_frames) + jobs_section(r.jobs);
  if (r.flows.count > 0) body += flows_section(r.flows);
  body += port_section(r.ports) + checks_section(r) + repeat_section(page);
  return html::page_text({.title = r.scenario, .body = body, .reads_out = r.series.has_value()});
}

}  // namespace rocetune::report
