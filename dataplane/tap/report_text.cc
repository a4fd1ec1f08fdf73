#include <algorithm>
#include <numeric>

#include "dataplane/tap/report.h"

namespace rocetune::tap {
namespace {

std::string percent(std::int64_t part, std::int64_t whole) {
  if (part == 0 || whole == 0) return "0";
  const double value = 100.0 * static_cast<double>(part) / static_cast<double>(whole);
  return value < 0.01 ? "<0.01" : fmt::format("{:.2f}", value);
}

// Bytes for people, three digits.
std::string bytes_text(std::int64_t n) {
  constexpr std::array kByteUnits{"B", "kB", "MB", "GB", "TB"};
  double value = static_cast<double>(n);
  std::size_t unit = 0;
  while (value >= 1000 && unit + 1 < kByteUnits.size()) {
    value /= 1000;
    ++unit;
  }
  return unit == 0 ? fmt::format("{} B", n) : fmt::format("{:.3g} {}", value, kByteUnits[unit]);
}

std::string summary_text(const TapFacts& f, const std::string& name) {
  std::string out =
      fmt::format("{}: {} frames in {:.6g} s, {} RoCE", name, f.frames, f.duration_s, f.roce_packets);
  if (f.rocev1_packets > 0) out += fmt::format(" ({} of version 1)", f.rocev1_packets);
  out += '\n';
  if (f.roce_packets > 0) {
    out += fmt::format("  ICRC {} good, {} bad, {} not checkable", f.icrc_ok, f.icrc_bad, f.icrc_unknown);
    out += fmt::format("; ACK {}, CNP {}, CE {}, sent again {}\n", f.ack_packets, f.cnp_packets, f.ce_packets,
                       f.retransmitted_packets);
    for (const auto& [kind, count] : f.nak_packets) out += fmt::format("  NAK {}: {}\n", kind, count);
    for (const auto& [why, count] : f.malformed) out += fmt::format("  malformed, {}: {}\n", why, count);
    if (f.unknown_opcodes > 0) out += fmt::format("  unknown opcodes: {}\n", f.unknown_opcodes);
  }
  for (const auto& [kind, count] : f.wrapped) out += fmt::format("  inside {}: {} frames\n", kind, count);
  return out;
}

std::string dscp_table(const TapFacts& f, const TextTable::Look& look) {
  TextTable table({{.title = "DSCP", .align = Align::right},
                   {.title = "packets", .align = Align::right},
                   {.title = "CE", .unit = "%", .align = Align::right},
                   {.title = "not ECT", .unit = "%", .align = Align::right}});
  for (const DscpFacts& row : f.dscps) {
    table.add_row({to_text(row.dscp), fmt::format("{}", row.packets), percent(row.ce_packets, row.packets),
                   percent(row.not_ect_packets, row.packets)});
  }
  return table.is_empty() ? "" : "\n" + table.text(look);
}

std::string three_digits(double value) {
  return value >= 100 ? fmt::format("{:.0f}", value) : fmt::format("{:.3g}", value);
}
std::string rtt_text(const std::optional<LatencySummary>& s) {
  return s ? three_digits(s->median_us) + " / " + three_digits(s->p99_us) : "-";
}

std::string queue_pair_table(const TapFacts& f, const TextTable::Look& look) {
  std::vector<std::size_t> order(f.queue_pairs.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, std::ranges::greater(),
                           [&](std::size_t i) { return f.queue_pairs[i].bytes; });
  TextTable table({{.title = "row", .align = Align::right},
                   {.title = "from"},
                   {.title = "to"},
                   {.title = "QP", .align = Align::right},
                   {.title = "type"},
                   {.title = "packets", .align = Align::right},
                   {.title = "payload", .align = Align::right},
                   {.title = "messages", .align = Align::right},
                   {.title = "MTU", .unit = "B", .align = Align::right},
                   {.title = "again", .unit = "%", .align = Align::right},
                   {.title = "NAK", .align = Align::right},
                   {.title = "CE", .unit = "%", .align = Align::right},
                   {.title = "CNP", .align = Align::right},
                   {.title = "RTT 50/99", .unit = "us", .align = Align::right},
                   {.title = "answers in row"}});
  for (std::size_t n = 0; n < std::min(order.size(), kMaxRows); ++n) {
    const QueuePairFacts& q = f.queue_pairs[order[n]];
    std::int64_t naks = 0;
    for (const auto& [kind, count] : q.naks) naks += count;
    const auto alarming = [](std::int64_t count) { return count > 0 ? Paint::warning : Paint::plain; };
    table.add_row({fmt::format("{}", order[n]),
                   q.source,
                   q.destination,
                   fmt::format("0x{:06x}", q.destination_qp),
                   q.service,
                   fmt::format("{}", q.packets),
                   bytes_text(q.payload_bytes),
                   fmt::format("{}", q.messages.count),
                   q.path_mtu_bytes ? fmt::format("{}", *q.path_mtu_bytes) : "-",
                   {percent(q.retransmitted_bytes, q.payload_bytes), alarming(q.retransmitted_packets)},
                   {fmt::format("{}", naks), alarming(naks)},
                   percent(q.ce_packets, q.packets - q.cnps),
                   fmt::format("{}", q.cnps),
                   rtt_text(q.rtt),
                   q.peer ? fmt::format("{}", *q.peer) : "unpaired"});
  }
  if (table.is_empty()) return "";
  std::string out = "\n" + table.text(look);
  if (order.size() > kMaxRows) out += fmt::format("  and {} more; --json has all\n", order.size() - kMaxRows);
  return out;
}

std::string pause_table(const TapFacts& f, const TextTable::Look& look) {
  TextTable table({{.title = "paused"},
                   {.title = "share", .unit = "%", .align = Align::right},
                   {.title = "times", .align = Align::right},
                   {.title = "longest", .unit = "us", .align = Align::right},
                   {.title = "storms", .align = Align::right},
                   {.title = "asked by"}});
  for (const PauseFacts& pause : f.pauses) {
    std::string sources;
    for (const std::string& mac : pause.sources) sources += (sources.empty() ? "" : ", ") + mac;
    table.add_row(
        {pause.priority ? fmt::format("priority {}", pause.priority->value()) : "all (802.3x)",
         fmt::format("{:.3g}", pause.ratio * 100),
         fmt::format("{}", pause.interval_count),
         three_digits(pause.longest_us),
         {fmt::format("{}", pause.storms.size()), pause.storms.empty() ? Paint::plain : Paint::severe},
         sources});
  }
  if (f.pfc_frames + f.global_pause_frames == 0) return "";
  std::string out = fmt::format("\nPFC frames: {} Xoff, {} Xon; global pause frames: {}\n", f.pfc_xoff_frames,
                                f.pfc_xon_frames, f.global_pause_frames);
  if (!table.is_empty()) out += table.text(look);
  return out;
}

std::string neighbour_table(const TapFacts& f, const TextTable::Look& look) {
  TextTable table({{.title = "LLDP from"},
                   {.title = "system"},
                   {.title = "port"},
                   {.title = "frames", .align = Align::right},
                   {.title = "DCBX"},
                   {.title = "changes", .align = Align::right},
                   {.title = "PFC on"},
                   {.title = "willing"}});
  for (const NeighbourFacts& n : f.neighbours) {
    table.add_row({n.source, n.system_name.empty() ? n.chassis_id : n.system_name, n.port_id,
                   fmt::format("{}", n.frames), n.dcbx, fmt::format("{}", n.dcbx_changes),
                   n.pfc_enabled ? to_text(*n.pfc_enabled) : "-",
                   n.pfc_willing ? (*n.pfc_willing ? "yes" : "no") : "-"});
  }
  return table.is_empty() ? "" : "\n" + table.text(look);
}

}  // namespace

std::string text_report(const TapFacts& facts, const std::string& name, const TextTable::Look& look) {
  std::string out = summary_text(facts, name) + dscp_table(facts, look) + queue_pair_table(facts, look) +
                    pause_table(facts, look) + neighbour_table(facts, look);
  if (!facts.notes.empty()) out += '\n';
  for (const std::string& note : facts.notes) out += "note: " + note + '\n';
  return out;
}

}  // namespace rocetune::tap
