#include <algorithm>

#include "dataplane/html/lanes.h"
#include "dataplane/html/markup.h"
#include "dataplane/html/page.h"
#include "dataplane/html/quantity.h"
#include "dataplane/html/table.h"
#include "dataplane/tap/report.h"

namespace rocetune::tap {
namespace {

constexpr std::size_t kMostPageRows = 500;

using html::escaped;
using html::Fold;
using html::Hue;

std::vector<double> as_doubles(const std::vector<std::int64_t>& values, double factor = 1) {
  std::vector<double> out;
  for (const std::int64_t v : values) out.push_back(factor * static_cast<double>(v));
  return out;
}

std::string curves(const TimelineFacts& t, const html::TimeAxis& axis) {
  struct Lane {
    const char* title;
    const char* note;
    html::Unit unit;
    Fold fold;
    Hue hue;
    std::vector<double> values;
  };
  std::string out;
  for (const Lane& l :
       {Lane{"RoCE", "on the wire", html::kBitRate, Fold::largest, Hue::blue,
             as_doubles(t.bytes, t.bin_s > 0 ? 8 / t.bin_s : 0)},
        Lane{"sent again", "packets", html::kCount, Fold::sum, Hue::vermilion,
             as_doubles(t.retransmitted_packets)},
        Lane{"NAK", "packets", html::kCount, Fold::sum, Hue::pink, as_doubles(t.nak_packets)},
        Lane{"CE", "packets", html::kCount, Fold::sum, Hue::orange, as_doubles(t.ce_packets)},
        Lane{"CNP", "packets", html::kCount, Fold::sum, Hue::green, as_doubles(t.cnp_packets)}}) {
    if (std::ranges::none_of(l.values, [](double v) { return v > 0; })) continue;
    out += html::curve_lane(axis, {.title = l.title,
                                   .note = l.note,
                                   .unit = l.unit,
                                   .fold = l.fold,
                                   .curves = {{.hue = l.hue, .values = l.values}}});
  }
  return out;
}

std::string pause_lane(const PauseFacts& pause, const html::TimeAxis& axis) {
  std::vector<html::Span> spans;
  for (const PauseInterval& interval : pause.intervals)
    spans.push_back({interval.start_s, interval.end_s, Hue::orange});
  for (const PauseInterval& storm : pause.storms) {
    spans.push_back({storm.start_s, storm.end_s, Hue::vermilion,
                     fmt::format("storm, {:.6g} s to {:.6g} s", storm.start_s, storm.end_s)});
  }
  return html::span_lane(
      axis, pause.priority ? fmt::format("paused {}", pause.priority->value()) : "paused all", spans);
}

std::string timeline(const TapFacts& f) {
  const TimelineFacts& t = f.timeline;
  const html::TimeAxis axis{
      .end_s = std::max({f.duration_s, t.bin_s * static_cast<double>(t.bytes.size()), 1e-9}),
      .step_s = t.bin_s};
  std::string out = curves(t, axis);
  for (const PauseFacts& pause : f.pauses) out += pause_lane(pause, axis);
  return out.empty() ? out : html::lanes(axis, out);
}

std::string queue_pairs(const TapFacts& f) {
  if (f.queue_pairs.empty()) return "";
  html::Table table({{.title = "row"},
                     {.title = "from", .align = Align::left},
                     {.title = "to", .align = Align::left},
                     {.title = "QP"},
                     {.title = "type", .align = Align::left},
                     {.title = "packets"},
                     {.title = "payload", .unit = "B"},
                     {.title = "messages"},
                     {.title = "MTU", .unit = "B"},
                     {.title = "sent again", .unit = "B"},
                     {.title = "CE"},
                     {.title = "CNP"},
                     {.title = "RTT median", .unit = "µs"},
                     {.title = "RTT 99 %", .unit = "µs"},
                     {.title = "answers in row"}});
  const auto number = [](const auto& n) { return fmt::format("{}", n); };
  for (std::size_t i = 0; i < std::min(f.queue_pairs.size(), kMostPageRows); ++i) {
    const QueuePairFacts& q = f.queue_pairs[i];
    table.add_row({number(i), q.source, q.destination, fmt::format("0x{:06x}", q.destination_qp), q.service,
                   number(q.packets), number(q.payload_bytes), number(q.messages.count),
                   q.path_mtu_bytes ? number(*q.path_mtu_bytes) : "–", number(q.retransmitted_bytes),
                   number(q.ce_packets), number(q.cnps), q.rtt ? html::number_text(q.rtt->median_us) : "–",
                   q.rtt ? html::number_text(q.rtt->p99_us) : "–", q.peer ? number(*q.peer) : "unpaired"});
  }
  std::string out = "<h2>Queue pairs</h2>\n" + table.text();
  if (f.queue_pairs.size() > kMostPageRows) {
    out += fmt::format("<p class='faint'>And {} more; --json has all.</p>\n",
                       f.queue_pairs.size() - kMostPageRows);
  }
  return out;
}

std::string neighbours(const TapFacts& f) {
  if (f.neighbours.empty()) return "";
  html::Table table({{.title = "from", .align = Align::left},
                     {.title = "system", .align = Align::left},
                     {.title = "port", .align = Align::left},
                     {.title = "frames"},
                     {.title = "DCBX", .align = Align::left},
                     {.title = "changes"},
                     {.title = "PFC on", .align = Align::left}});
  for (const NeighbourFacts& n : f.neighbours) {
    table.add_row({n.source, n.system_name.empty() ? n.chassis_id : n.system_name, n.port_id,
                   fmt::format("{}", n.frames), n.dcbx, fmt::format("{}", n.dcbx_changes),
                   n.pfc_enabled ? to_text(*n.pfc_enabled) : "–"});
  }
  return "<h2>Neighbours (LLDP)</h2>\n" + table.text();
}

}  // namespace

std::string html_report(const TapFacts& f, const std::string& name) {
  std::string body = fmt::format(
      "<p>{} frames in {:.6g} s, {} RoCE; ICRC {} good, {} bad, {} not checkable; {} sent again, {} CNP, {} "
      "CE; "
      "PFC {} Xoff and {} Xon.</p>\n",
      f.frames, f.duration_s, f.roce_packets, f.icrc_ok, f.icrc_bad, f.icrc_unknown, f.retransmitted_packets,
      f.cnp_packets, f.ce_packets, f.pfc_xoff_frames, f.pfc_xon_frames);
  body += timeline(f) + queue_pairs(f) + neighbours(f);
  if (!f.notes.empty()) {
    body += "<h2>Notes</h2><ul>\n";
    for (const std::string& note : f.notes) body += "<li>" + escaped(note) + "</li>\n";
    body += "</ul>\n";
  }
  return html::page_text({.title = name + ": RoCE tap", .body = body});
}

}  // namespace rocetune::tap
