#include <cmath>

#include "dataplane/base/reflect_json.h"
#include "dataplane/base/statistics.h"
#include "dataplane/transport/pattern/result.h"

namespace rocetune::pattern {
namespace {

// Three digits: "12.4 M".
std::string amount(double value) {
  constexpr std::array<const char*, 4> kUnits{"", " k", " M", " G"};
  std::size_t unit = 0;
  while (value >= 999.5 && unit + 1 < kUnits.size()) {
    value /= 1000;
    ++unit;
  }
  const int decimals = value >= 99.5 || value == std::floor(value) ? 0 : value >= 9.95 ? 1 : 2;
  return fmt::format("{:.{}f}{}", value, decimals, kUnits[unit]);
}
std::string gigabits(double bits_per_s) { return fmt::format("{:.3g}", bits_per_s / 1e9); }
std::string microseconds_of(std::uint64_t ns) { return fmt::format("{:.3g}", static_cast<double>(ns) / 1e3); }

std::string list(const std::map<std::string, std::uint64_t>& counts) {
  std::string out;
  for (const auto& [name, count] : counts)
    out += fmt::format("{}{} {}", out.empty() ? "" : ", ", name, count);
  return out;
}

std::uint64_t total(const std::map<std::string, std::uint64_t>& counts) {
  std::uint64_t sum = 0;
  for (const auto& [name, count] : counts) sum += count;
  return sum;
}

std::string header(const Result& r) {
  std::string out = fmt::format("{} {} by {}, MTU {}, window {}, {} queue pair{}", enum_name(r.plan.pattern),
                                enum_name(r.plan.operation), r.port, r.plan.mtu, r.plan.window,
                                r.plan.queue_pairs, r.plan.queue_pairs == 1 ? "" : "s");
  if (r.plan.shards > 1) out += fmt::format(" on each of {} cores", r.plan.shards);
  out += fmt::format(", congestion control {}", r.congestion_control);
  if (!r.faults.empty()) out += ", faults " + r.faults;
  return out + "\n\n";
}

std::string row_table(const Result& r, const TextTable::Look& look) {
  std::vector<TextTable::Column> columns{{.title = "size"},
                                         {.title = "messages", .align = Align::right},
                                         {.title = "messages/s", .align = Align::right},
                                         {.title = "median", .align = Align::right},
                                         {.title = "best", .align = Align::right},
                                         {.title = "goodput", .unit = "Gb/s", .align = Align::right},
                                         {.title = "busbw", .unit = "Gb/s", .align = Align::right}};
  const bool is_timed = r.plan.pattern == Pattern::latency;
  if (is_timed) {
    for (const char* title : {"min", "50%", "99%", "99.9%", "max"}) {
      columns.push_back({.title = title, .unit = "us", .align = Align::right});
    }
  }
  for (const char* title : {"sent again", "CNP", "drops", "content"}) {
    columns.push_back({.title = title, .align = Align::right});
  }
  TextTable table(columns);
  for (const Row& row : r.rows) {
    std::vector<TextTable::Cell> cells{to_text(row.size),
                                       amount(static_cast<double>(row.messages)),
                                       amount(row.messages_per_s),
                                       amount(row.median_messages_per_s),
                                       amount(row.best_messages_per_s),
                                       gigabits(row.goodput_bits_per_s),
                                       gigabits(row.busbw_bits_per_s)};
    if (is_timed) {
      const LatencyResult l = row.latency.value_or(LatencyResult());
      for (const std::uint64_t ns : {l.min_ns, l.p50_ns, l.p99_ns, l.p999_ns, l.max_ns}) {
        cells.push_back(l.samples == 0 ? "-" : microseconds_of(ns));
      }
    }
    const std::uint64_t drops = total(row.client.drops) + total(row.server.drops) +
                                total(row.client.port_drops) + total(row.server.port_drops);
    cells.push_back(
        amount(static_cast<double>(row.client.retransmitted_frames + row.server.retransmitted_frames)));
    cells.push_back(amount(static_cast<double>(row.client.cnps_handled + row.server.cnps_handled)));
    cells.push_back(amount(static_cast<double>(drops)));
    cells.emplace_back(row.content_is_right ? "right" : "WRONG",
                       row.content_is_right ? Paint::plain : Paint::severe);
    table.add_row(cells);
  }
  return table.text(look);
}

// What a table has no room for: drops by reason, faults, lost cores.
std::string remarks(const Result& r) {
  std::string out;
  const auto remark = [&](Bytes size, std::string_view side, std::string_view what, const std::string& text) {
    if (!text.empty()) out += fmt::format("{} {}: {}: {}\n", to_text(size), side, what, text);
  };
  for (const Row& row : r.rows) {
    for (const auto& [side, counts] : {std::pair{"client", row.client}, std::pair{"server", row.server}}) {
      remark(row.size, side, "dropped by the endpoint", list(counts.drops));
      remark(row.size, side, "dropped by the port", list(counts.port_drops));
      remark(row.size, side, "faults", list(counts.faults));
      if (counts.pauses == 0) continue;
      remark(row.size, side, "lost its core",
             fmt::format("{} times, {:.1f} ms together", counts.pauses, counts.paused_s * 1e3));
    }
  }
  return out.empty() ? "" : "\n" + out;
}

std::string share_table(const Result& r, const TextTable::Look& look) {
  TextTable table({{.title = "size"},
                   {.title = "client", .align = Align::right},
                   {.title = "from"},
                   {.title = "goodput", .unit = "Gb/s", .align = Align::right}});
  for (const ClientShare& share : r.shares) {
    table.add_row(
        {to_text(share.size), std::to_string(share.client), share.peer, gigabits(share.goodput_bits_per_s)});
  }
  std::string out = table.text(look);
  for (const Bytes size : r.plan.sizes) {
    std::vector<double> rates;
    for (const ClientShare& share : r.shares) {
      if (share.size == size) rates.push_back(share.goodput_bits_per_s);
    }
    if (rates.size() < 2) continue;
    double sum = 0;
    for (const double rate : rates) sum += rate;
    out += fmt::format("\n{}: together {} Gb/s, Jain's fairness {:.3f}\n", to_text(size), gigabits(sum),
                       jain_fairness(rates));
  }
  return out;
}

}  // namespace

LatencyResult latency_result(const Histogram& ns, std::uint64_t not_timed) {
  LatencyResult out{.samples = ns.count(), .not_timed = not_timed};
  if (ns.count() == 0) return out;
  out.min_ns = ns.min();
  out.p50_ns = ns.percentile(Ratio::from_percent(50));
  out.p90_ns = ns.percentile(Ratio::from_percent(90));
  out.p99_ns = ns.percentile(Ratio::from_percent(99));
  out.p999_ns = ns.percentile(Ratio::of(999, 1000));
  out.max_ns = ns.max();
  out.mean_ns = ns.mean();
  return out;
}

std::string json_report(const Result& result) {
  JsonWriter out;
  to_json(out, result);
  return out.take();
}

std::string text_report(const Result& result, const TextTable::Look& look) {
  if (result.role == "server") return header(result) + share_table(result, look);
  return header(result) + row_table(result, look) + remarks(result);
}

}  // namespace rocetune::pattern
