#include <algorithm>

#include "dataplane/tap/report.h"

namespace rocetune::tap {
namespace {

// Names come out of packets: nothing of them may become markup.
std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        out += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
    }
  }
  return out;
}

constexpr std::string_view kStyle = R"(<style>
:root{color-scheme:light dark;--ink:#1a1f27;--faint:#6b7480;--line:#d5dae0;--paper:#fff;--fill:#2f6fb3;--warn:#c77700;--bad:#b3261e}
@media(prefers-color-scheme:dark){:root{--ink:#e4e8ee;--faint:#97a1ad;--line:#39414b;--paper:#14181d;--fill:#6aa7e8;--warn:#f0a840;--bad:#f2726a}}
body{font:14px/1.5 system-ui,sans-serif;color:var(--ink);background:var(--paper);margin:2rem auto;max-width:1100px;padding:0 1rem}
h1{font-size:1.3rem}h2{font-size:1.05rem;margin-top:2rem}
svg{width:100%;height:auto}text{fill:var(--ink);font-size:11px}.faint{fill:var(--faint);color:var(--faint)}
.axis{stroke:var(--line)}.fill{fill:var(--fill)}.warn{fill:var(--warn)}.bad{fill:var(--bad)}
.wide{overflow-x:auto}table{border-collapse:collapse;font-variant-numeric:tabular-nums}
th,td{padding:.2rem .6rem;border-bottom:1px solid var(--line);text-align:right;white-space:nowrap}
th:first-child,td:first-child,td.l,th.l{text-align:left}
</style>)";

constexpr double kLeft = 110, kWidth = 960, kLane = 46, kPause = 20;

// A lane of bars: one value per bin, scaled to the largest.
std::string lane(double top, std::string_view title, std::string_view scale,
                 const std::vector<std::int64_t>& values, double bin_s, double end_s,
                 std::string_view colour) {
  const std::int64_t most = values.empty() ? 0 : *std::ranges::max_element(values);
  std::string out = fmt::format(
      "<text x='0' y='{0}'>{1}</text><text class='faint' x='0' y='{2}'>{3}</text>"
      "<line class='axis' x1='{4}' x2='{5}' y1='{6}' y2='{6}'/>\n",
      top + 18, title, top + 32, scale, kLeft, kLeft + kWidth, top + kLane - 6);
  if (most == 0) return out;
  const double x_scale = kWidth / end_s;
  out += fmt::format("<path class='{}' d='", colour);
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (values[i] == 0) continue;
    const double x = kLeft + static_cast<double>(i) * bin_s * x_scale;
    const double width = std::max(bin_s * x_scale, 0.8);
    const double height =
        std::max((kLane - 10) * static_cast<double>(values[i]) / static_cast<double>(most), 1.0);
    out += fmt::format("M{:.2f} {:.1f}h{:.2f}v-{:.2f}h-{:.2f}z", x, top + kLane - 6, width, height, width);
  }
  return out + "'/>\n";
}

std::string pause_lane(double top, const PauseFacts& pause, double end_s) {
  const std::string title = pause.priority ? fmt::format("paused {}", pause.priority->value()) : "paused all";
  std::string out = fmt::format(
      "<text x='0' y='{}'>{}</text><line class='axis' x1='{}' x2='{}' y1='{}' y2='{}'/>\n<path class='warn' "
      "d='",
      top + 13, title, kLeft, kLeft + kWidth, top + kPause - 4, top + kPause - 4);
  const auto box = [&](const PauseInterval& interval) {
    const double x = kLeft + interval.start_s / end_s * kWidth;
    const double width = std::max((interval.end_s - interval.start_s) / end_s * kWidth, 0.4);
    return fmt::format("M{:.2f} {:.1f}h{:.2f}v-12h-{:.2f}z", x, top + kPause - 4, width, width);
  };
  for (const PauseInterval& interval : pause.intervals) out += box(interval);
  out += "'/>\n";
  for (const PauseInterval& storm : pause.storms) {
    out += fmt::format("<path class='bad' d='{}'><title>storm, {:.6g} s to {:.6g} s</title></path>\n",
                       box(storm), storm.start_s, storm.end_s);
  }
  return out;
}

std::string timeline(const TapFacts& f) {
  const TimelineFacts& t = f.timeline;
  const double end = std::max({f.duration_s, t.bin_s * static_cast<double>(t.bytes.size()), 1e-9});
  const std::int64_t most = t.bytes.empty() ? 0 : *std::ranges::max_element(t.bytes);
  const std::string peak =
      t.bin_s > 0 ? fmt::format("peak {:.3g} Gb/s", static_cast<double>(most) * 8 / t.bin_s / 1e9) : "";
  struct Lane {
    std::string_view title;
    const std::vector<std::int64_t>* values;
    std::string_view colour;
  };
  double top = 0;
  std::string body = lane(top, "RoCE", peak, t.bytes, t.bin_s, end, "fill");
  top += kLane;
  for (const Lane& l :
       {Lane{"sent again", &t.retransmitted_packets, "bad"}, Lane{"NAK", &t.nak_packets, "bad"},
        Lane{"CE", &t.ce_packets, "warn"}, Lane{"CNP", &t.cnp_packets, "warn"}}) {
    const std::int64_t largest = l.values->empty() ? 0 : *std::ranges::max_element(*l.values);
    if (largest == 0) continue;
    body += lane(top, l.title, fmt::format("up to {} a bin", largest), *l.values, t.bin_s, end, l.colour);
    top += kLane;
  }
  for (const PauseFacts& pause : f.pauses) {
    body += pause_lane(top, pause, end);
    top += kPause;
  }
  for (int i = 0; i <= 5; ++i) {
    body += fmt::format("<text class='faint' text-anchor='{}' x='{:.1f}' y='{:.1f}'>{:.4g} s</text>",
                        i == 0   ? "start"
                        : i == 5 ? "end"
                                 : "middle",
                        kLeft + kWidth * i / 5, top + 14, end * i / 5);
  }
  return fmt::format("<svg viewBox='0 0 {} {}' role='img' aria-label='timeline'>\n{}</svg>\n",
                     kLeft + kWidth + 4, top + 22, body);
}

std::string queue_pairs(const TapFacts& f) {
  if (f.queue_pairs.empty()) return "";
  std::string out =
      "<h2>Queue pairs</h2><div class='wide'><table><tr><th>row</th><th class='l'>from</th><th "
      "class='l'>to</th>"
      "<th>QP</th><th class='l'>type</th><th>packets</th><th>payload, B</th><th>messages</th><th>MTU, B</th>"
      "<th>sent again, B</th><th>CE</th><th>CNP</th><th>RTT median, us</th><th>RTT 99 %, us</th><th>answers "
      "in row</th>"
      "</tr>\n";
  for (std::size_t i = 0; i < std::min<std::size_t>(f.queue_pairs.size(), 500); ++i) {
    const QueuePairFacts& q = f.queue_pairs[i];
    out += fmt::format(
        "<tr><td>{}</td><td class='l'>{}</td><td class='l'>{}</td><td>0x{:06x}</td><td "
        "class='l'>{}</td><td>{}</td>"
        "<td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</"
        "td></tr>\n",
        i, escaped(q.source), escaped(q.destination), q.destination_qp, escaped(q.service), q.packets,
        q.payload_bytes, q.messages.count, q.path_mtu_bytes ? fmt::format("{}", *q.path_mtu_bytes) : "–",
        q.retransmitted_bytes, q.ce_packets, q.cnps, q.rtt ? fmt::format("{:.3g}", q.rtt->median_us) : "–",
        q.rtt ? fmt::format("{:.3g}", q.rtt->p99_us) : "–", q.peer ? fmt::format("{}", *q.peer) : "unpaired");
  }
  return out + "</table></div>\n";
}

std::string neighbours(const TapFacts& f) {
  if (f.neighbours.empty()) return "";
  std::string out =
      "<h2>Neighbours (LLDP)</h2><table><tr><th>from</th><th class='l'>system</th><th "
      "class='l'>port</th><th>frames</th>"
      "<th class='l'>DCBX</th><th>changes</th><th class='l'>PFC on</th></tr>\n";
  for (const NeighbourFacts& n : f.neighbours) {
    out += fmt::format(
        "<tr><td>{}</td><td class='l'>{}</td><td class='l'>{}</td><td>{}</td><td class='l'>{}</td><td>{}</td>"
        "<td class='l'>{}</td></tr>\n",
        escaped(n.source), escaped(n.system_name.empty() ? n.chassis_id : n.system_name), escaped(n.port_id),
        n.frames, n.dcbx, n.dcbx_changes, n.pfc_enabled ? to_text(*n.pfc_enabled) : "–");
  }
  return out + "</table>\n";
}

}  // namespace

std::string html_report(const TapFacts& f, const std::string& name) {
  std::string out = fmt::format(
      "<!DOCTYPE html>\n<html lang='en'><head><meta charset='utf-8'>\n"
      "<meta name='viewport' content='width=device-width'>\n<title>{0}: RoCE "
      "tap</title>\n{1}\n</head><body>\n"
      "<h1>{0}</h1>\n<p>{2} frames in {3:.6g} s, {4} RoCE; ICRC {5} good, {6} bad, {7} not checkable; {8} "
      "sent again, "
      "{9} CNP, {10} CE; PFC {11} Xoff and {12} Xon.</p>\n",
      escaped(name), kStyle, f.frames, f.duration_s, f.roce_packets, f.icrc_ok, f.icrc_bad, f.icrc_unknown,
      f.retransmitted_packets, f.cnp_packets, f.ce_packets, f.pfc_xoff_frames, f.pfc_xon_frames);
  out += timeline(f) + queue_pairs(f) + neighbours(f);
  if (!f.notes.empty()) {
    out += "<h2>Notes</h2><ul>\n";
    for (const std::string& note : f.notes) out += "<li>" + escaped(note) + "</li>\n";
    out += "</ul>\n";
  }
  return out + "</body></html>\n";
}

}  // namespace rocetune::tap
