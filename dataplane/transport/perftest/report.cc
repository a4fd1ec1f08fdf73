#include "dataplane/base/reflect_json.h"
#include "dataplane/transport/perftest/session.h"

namespace rocetune::perftest {
namespace {

std::string in_microseconds(double ns) { return fmt::format("{:.2f}", ns / 1e3); }

std::string own_table(const Result& r, const TextTable::Look& look) {
  std::vector<TextTable::Column> columns{{.title = "size"}, {.title = "messages", .align = Align::right}};
  std::vector<TextTable::Cell> cells{to_text(r.size), std::to_string(r.messages)};
  const auto add = [&](const char* title, const char* unit, std::string cell) {
    columns.push_back({.title = title, .unit = unit, .align = Align::right});
    cells.push_back(std::move(cell));
  };
  if (r.latency) {
    const pattern::LatencyResult& l = *r.latency;
    add("min", "us", in_microseconds(static_cast<double>(l.min_ns)));
    add("50%", "us", in_microseconds(static_cast<double>(l.p50_ns)));
    add("mean", "us", in_microseconds(l.mean_ns));
    add("99%", "us", in_microseconds(static_cast<double>(l.p99_ns)));
    add("99.9%", "us", in_microseconds(static_cast<double>(l.p999_ns)));
    add("max", "us", in_microseconds(static_cast<double>(l.max_ns)));
  } else {
    add("goodput", "Gb/s", fmt::format("{:.3g}", r.goodput_bits_per_s / 1e9));
    add("goodput", "MiB/s", fmt::format("{:.2f}", r.goodput_bits_per_s / 8 / (1 << 20)));
    add("messages", "million/s", fmt::format("{:.6f}", r.messages_per_s / 1e6));
  }
  add("sent again", "", std::to_string(r.counts.retransmitted_frames));
  TextTable table(columns);
  table.add_row(cells);
  return table.text(look);
}

}  // namespace

std::string json_report(const Result& result) {
  JsonWriter out;
  to_json(out, result);
  return out.take();
}

std::string text_report(const Result& r, const TextTable::Look& look) {
  std::string out = fmt::format("{} by {}, with perftest {} at {}, MTU {}\n\n", enum_name(r.test), r.port,
                                r.peer_version, r.peer_address, r.mtu);
  if (r.messages > 0) out += own_table(r, look);
  if (r.peer_report) {
    const PeerReport& report = *r.peer_report;
    out += fmt::format("the client says: {} messages of {} bytes, {:.2f} MB/s (or Gb/s), {:.6f} million/s\n",
                       report.iterations, report.size, report.average, report.messages);
  }
  for (const auto& [what, counts] : {std::pair{"endpoint", r.counts.drops}, {"port", r.counts.port_drops}}) {
    for (const auto& [name, count] : counts)
      out += fmt::format("dropped by the {}: {} {}\n", what, name, count);
  }
  return out;
}

}  // namespace rocetune::perftest
