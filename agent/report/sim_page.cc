#include "agent/report/sim_page.h"

#include <fmt/core.h>

#include "agent/report/busiest_ports.h"
#include "agent/report/deadlock_ring.h"
#include "agent/report/flow_section.h"
#include "agent/report/job_section.h"
#include "agent/report/over_time.h"
#include "agent/report/pause_tree.h"
#include "agent/report/verdicts.h"
#include "dataplane/html/markup.h"
#include "dataplane/html/page.h"
#include "dataplane/html/quantity.h"
#include "dataplane/html/table.h"

namespace rocetune::report {
namespace {

using html::count_text;
using html::counted;
using html::escaped;
using html::quantity_text;
using html::Table;

std::string opening(const fabric::RunResult& r) {
  std::string out;
  if (!r.description.empty()) out += "<p>" + escaped(r.description) + "</p>\n";
  return out + fmt::format("<p class='faint'>{}, {}; seed {}; {} of virtual time</p>\n",
                           counted(r.hosts, "host", "hosts"), counted(r.switches, "switch", "switches"),
                           r.seed, quantity_text(r.virtual_s, html::kSeconds));
}

std::string verdicts(const fabric::RunResult& r) {
  std::string out;
  for (const Statement& s : verdicts_of(r))
    out += html::verdict_line(s.verdict, "<b>" + escaped(s.head) + "</b>" + escaped(s.rest));
  return out;
}

// What the scenario is there to show, and whether this run does.
std::string lesson_section(const std::vector<fabric::LessonPoint>& lesson) {
  if (lesson.empty()) return {};
  std::string out = "<h2>What this scenario shows</h2>\n<ul class='lesson'>\n";
  for (const fabric::LessonPoint& point : lesson) {
    out += fmt::format("<li class='{}'><b class='sign'>{}</b> {}<small>{}{}</small></li>\n",
                       point.is_seen ? "good" : "faint", point.is_seen ? "✓" : "–", escaped(point.says),
                       point.is_seen ? "" : "not so in this run; ", escaped(evidence_of(point)));
  }
  return out + "</ul>\n";
}

std::string headline(const fabric::RunResult& r) {
  const fabric::FlowsResult& f = r.flows;
  html::Tiles tiles;
  tiles.add({.title = "goodput",
             .value = quantity_text(r.goodput_gbps, html::kGigabitRate),
             .note = r.jobs.empty() ? quantity_text(static_cast<double>(f.bytes), html::kBytes) + " in all"
                                    : "flows and jobs, all hosts"});
  if (f.fct_us) {
    tiles.add({.title = "completion p50", .value = quantity_text(f.fct_us->p50, html::kMicroseconds)});
    tiles.add({.title = "completion p99", .value = quantity_text(f.fct_us->p99, html::kMicroseconds)});
    tiles.add({.title = "completion max", .value = quantity_text(f.fct_us->max, html::kMicroseconds)});
  }
  if (f.count > 0) {
    tiles.add({.title = "flows finished",
               .value = fmt::format("{} / {}", count_text(f.finished), count_text(f.count)),
               .is_notable = f.finished < f.count});
    tiles.add({.title = "fairness",
               .value = fmt::format("{:.3f}", f.fairness),
               .note = "Jain's index of the flows' rates; 1: all alike"});
  }
  add_job_tiles(tiles, r.jobs);
  if (r.theory && r.theory->queue_bytes) {
    tiles.add({.title = "theory's queue",
               .value = quantity_text(static_cast<double>(*r.theory->queue_bytes), html::kBytes),
               .note = "fluid model: " + r.theory->says});
  }
  tiles.add({.title = "CE marked", .value = count_text(r.ce_marked), .note = "packets"});
  tiles.add({.title = "CNPs received",
             .value = count_text(r.cnps_handled),
             .note = "of " + count_text(r.cnps_sent) + " sent"});
  tiles.add(
      {.title = "pause frames", .value = count_text(r.pause_frames), .note = "Xoff, refreshes included"});
  tiles.add({.title = "lost",
             .value = count_text(r.lost_packets()),
             .note = "packets",
             .is_notable = r.lost_packets() > 0});
  tiles.add({.title = "sent again",
             .value = count_text(f.retransmitted_frames),
             .note = "packets",
             .is_notable = f.retransmitted_frames > 0});
  return tiles.text();
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

}  // namespace

std::string sim_page(const SimPage& page) {
  const fabric::RunResult& r = page.result;
  std::string body = opening(r) + verdicts(r) + lesson_section(r.lesson) + headline(r);
  if (r.deadlock) body += deadlock_section(*r.deadlock);
  body += pause_tree_section(r.pause_tree, r.pause_frames, r.deadlock.has_value()) + over_time_section(r) +
          jobs_section(r.jobs) + flows_section(r.flows) + port_section(r.ports) + checks_section(r) +
          repeat_section(page);
  return html::page_text({.title = r.scenario, .body = body, .reads_out = r.series.has_value()});
}

}  // namespace rocetune::report
