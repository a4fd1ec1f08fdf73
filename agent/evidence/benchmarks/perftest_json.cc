#include "agent/evidence/benchmarks/perftest_json.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>

#include <cmath>
#include <string>
#include <utility>

#include "agent/evidence/benchmarks/perftest.h"
#include "agent/evidence/words.h"

namespace rocetune::evidence {

void add_perftest_facts(Document& document, const Perftest& perftest) {
  const PerftestRow* best = nullptr;
  const PerftestLatency* latency = nullptr;
  for (const PerftestRun& run : perftest.runs) {
    const PerftestRow* row = run.best();
    if (row != nullptr && (best == nullptr || row->average_gbps > best->average_gbps)) best = row;
    if (latency == nullptr && !run.latencies.empty()) latency = &run.latencies.front();
  }
  if (best != nullptr) {
    document.add_fact("perftest.bw_avg_Gbps", best->average_gbps);
    document.add_fact("perftest.bw_avg_MiBps", best->average_gbps * 1e9 / kPerftestBitsPerMib);
    document.add_fact("perftest.msgrate_Mpps", best->message_rate_mpps);
  }
  if (latency != nullptr && latency->typical_us)
    document.add_fact("perftest.lat_typical_us", *latency->typical_us);
  if (latency != nullptr && latency->p99_us) document.add_fact("perftest.lat_p99_us", *latency->p99_us);
  const PerftestRun& first = perftest.runs.front();
  if (first.mtu_bytes) document.add_fact("perftest.mtu_B", *first.mtu_bytes);
  if (first.qps) document.add_fact("perftest.qps", *first.qps);
  if (!perftest.signs.completions.empty()) {
    const FailedCompletion& failed = perftest.signs.completions.first.front();
    document.add_fact("wc.status", failed.status);
    if (failed.vendor) document.add_fact("wc.vendor_err", *failed.vendor);
  }
}

namespace {

// Keys differ in case, blanks and underscores from version to version: "BW_average", "BW average".
std::string plain_key(std::string_view key) {
  std::string out;
  for (const char c : lower_case(key)) {
    if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9')) out += c;
  }
  return out;
}

const boost::json::value* find_key(const boost::json::object& object, std::string_view wanted) {
  for (const auto& member : object) {
    if (plain_key(member.key()) == wanted) return &member.value();
  }
  return nullptr;
}

std::optional<double> number_of(const boost::json::value* value) {
  if (value == nullptr) return std::nullopt;
  if (value->is_number()) return value->to_number<double>();
  if (value->is_string()) return leading_decimal(std::string_view(value->get_string()));
  return std::nullopt;
}

std::optional<int> small_number_of(const boost::json::value* value) {
  const auto number = number_of(value);
  if (!number || *number < 0 || *number > 1 << 24) return std::nullopt;
  return static_cast<int>(*number);
}

std::string text_of(const boost::json::value* value) {
  return value != nullptr && value->is_string() ? std::string(value->get_string()) : std::string();
}

// The unit is not said everywhere; message rate times size tells it.
double factor_of(const boost::json::object& result, double average, double rate_mpps, std::uint64_t bytes) {
  const std::string unit =
      plain_key(text_of(find_key(result, "bwunits")) + text_of(find_key(result, "units")));
  if (unit.find("gb") != std::string::npos) return 1;
  if (unit.find("mb") != std::string::npos || unit.find("mib") != std::string::npos)
    return kPerftestBitsPerMib / 1e9;
  const double by_rate = rate_mpps * 1e6 * static_cast<double>(bytes) * 8 / 1e9;
  if (by_rate <= 0 || average <= 0) return 1;
  const double as_gigabits = std::abs(std::log(average / by_rate));
  const double as_mebibytes = std::abs(std::log(average * kPerftestBitsPerMib / 1e9 / by_rate));
  return as_gigabits <= as_mebibytes ? 1 : kPerftestBitsPerMib / 1e9;
}

void take_result(const boost::json::object& result, PerftestRun& run) {
  const auto bytes = number_of(find_key(result, "msgsize"));
  if (!bytes || *bytes < 0 || *bytes > 1e15) return;
  if (const auto average = number_of(find_key(result, "bwaverage"))) {
    PerftestRow row;
    row.bytes = static_cast<std::uint64_t>(*bytes);
    if (const auto count = number_of(find_key(result, "niterations"));
        count && *count >= 0 && *count < 1e18) {
      row.iterations = static_cast<std::uint64_t>(*count);
    }
    row.message_rate_mpps = number_of(find_key(result, "msgrate")).value_or(0);
    row.average_gbps = *average * factor_of(result, *average, row.message_rate_mpps, row.bytes);
    if (run.rows.size() < PerftestRun::kMostRows) run.rows.push_back(row);
  }
  PerftestLatency latency;
  latency.bytes = static_cast<std::uint64_t>(*bytes);
  latency.typical_us = number_of(find_key(result, "ttypical"));
  latency.average_us = number_of(find_key(result, "tavg"));
  for (const std::string_view key :
       {"t99percentile", "99percentile", "99percent", "percentile99", "t99percentileusec"}) {
    if (const auto p99 = number_of(find_key(result, key))) latency.p99_us = p99;
  }
  if ((latency.typical_us || latency.average_us) && run.latencies.size() < PerftestRun::kMostRows) {
    run.latencies.push_back(latency);
  }
}

}  // namespace

std::optional<Document> perftest_from_json(const boost::json::value& json, const Context& context) {
  const auto* root = json.if_object();
  if (root == nullptr) return std::nullopt;
  const auto* info = find_key(*root, "testinfo");
  const auto* results = find_key(*root, "results");
  if (info == nullptr || !info->is_object() || results == nullptr) return std::nullopt;
  Perftest perftest;
  PerftestRun& run = perftest.runs.emplace_back();
  const boost::json::object& banner = info->get_object();
  run.test = text_of(find_key(banner, "test"));
  run.device = text_of(find_key(banner, "device"));
  run.link_type = text_of(find_key(banner, "linktype"));
  run.connection = text_of(find_key(banner, "connectiontype"));
  run.qps = small_number_of(find_key(banner, "numberofqps"));
  run.mtu_bytes = small_number_of(find_key(banner, "mtu"));
  run.tx_depth = small_number_of(find_key(banner, "txdepth"));
  run.gid_index = small_number_of(find_key(banner, "gidindex"));
  run.command = context.command;
  if (const auto* result = results->if_object()) {
    take_result(*result, run);
  } else if (const auto* list = results->if_array()) {
    for (const boost::json::value& value : *list) {
      if (const auto* entry = value.if_object()) take_result(*entry, run);
    }
  }
  if (run.rows.empty() && run.latencies.empty()) return std::nullopt;
  Document document;
  add_perftest_facts(document, perftest);
  document.content = std::move(perftest);
  return document;
}

}  // namespace rocetune::evidence
