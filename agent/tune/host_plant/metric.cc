#include "agent/tune/host_plant/metric.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <regex>

#include "agent/evidence/benchmarks/iperf.h"
#include "agent/evidence/benchmarks/nccl_tests.h"
#include "agent/evidence/benchmarks/perftest.h"
#include "agent/evidence/benchmarks/size_table.h"
#include "agent/evidence/catalogue/catalogue.h"
#include "agent/evidence/dossier.h"
#include "dataplane/base/json_reader.h"
#include "dataplane/base/toml_reader.h"

namespace rocetune::tune {
namespace {

using search::Objective;

// What one of a unit is in Gb/s or in microseconds.
struct UnitName {
  std::string_view name;
  bool is_rate;
  double factor;
};
constexpr std::array kUnits{UnitName{"Gb/s", true, 1},
                            UnitName{"Mb/s", true, 1e-3},
                            UnitName{"GB/s", true, 8},
                            UnitName{"MB/s", true, 8e-3},
                            UnitName{"MiB/s", true, 8.0 * 1024 * 1024 * 1e-9},
                            UnitName{"ns", false, 1e-3},
                            UnitName{"us", false, 1},
                            UnitName{"ms", false, 1e3},
                            UnitName{"s", false, 1e6}};
// What keys of JSON end in.
constexpr std::array kEndings{UnitName{"_bits_per_s", true, 1e-9}, UnitName{"_gbps", true, 1},
                              UnitName{"_mbps", true, 1e-3},       UnitName{"_GBps", true, 8},
                              UnitName{"_ns", false, 1e-3},        UnitName{"_us", false, 1},
                              UnitName{"_ms", false, 1e3},         UnitName{"_s", false, 1e6}};
constexpr std::array<std::string_view, 10> kSources{
    "nccl-tests",   "nccl-tests-avg", "perftest", "osu",  "imb",
    "ucx-perftest", "iperf3",         "bench",    "json", "re"};

bool wants_rate(Objective o) { return o == Objective::goodput || o == Objective::busbw; }
bool wants_time(Objective o) { return o == Objective::latency || o == Objective::p99_fct; }

// Which objectives a table has.
bool has(std::string_view source, Objective o) {
  if (source == "nccl-tests") return o == Objective::busbw || o == Objective::goodput;
  if (source == "nccl-tests-avg") return o == Objective::busbw;
  if (source == "iperf3") return o == Objective::goodput;
  if (source == "perftest") return o == Objective::goodput || wants_time(o);
  if (source == "bench") return wants_rate(o) || wants_time(o);
  if (source == "json" || source == "re") return true;
  return o == Objective::goodput || o == Objective::latency;
}

template <class Content>
std::vector<const Content*> contents(const evidence::TextReading& reading) {
  std::vector<const Content*> out;
  for (const evidence::Document& document : reading.documents) {
    if (const auto* content = document.as<Content>()) out.push_back(content);
  }
  return out;
}

void keep_largest(std::optional<double>& out, std::optional<double> value) {
  if (value && (!out || *value > *out)) out = value;
}

std::optional<double> from_nccl_tests(const evidence::TextReading& reading, Objective o, bool average) {
  std::optional<double> out;
  for (const auto* tests : contents<evidence::NcclTests>(reading)) {
    if (average) {
      if (!tests->footers_gbytes_per_s.empty()) out = tests->footers_gbytes_per_s.back() * 8;
    } else if (!tests->rows.empty()) {
      keep_largest(out, 8 * (o == Objective::busbw ? tests->busbw_max_gbytes_per_s()
                                                   : tests->algbw_max_gbytes_per_s()));
    }
  }
  return out;
}

std::optional<double> from_perftest(const evidence::TextReading& reading, Objective o) {
  std::optional<double> out;
  for (const auto* tests : contents<evidence::Perftest>(reading)) {
    for (const evidence::PerftestRun& run : tests->runs) {
      if (o == Objective::goodput) {
        if (const evidence::PerftestRow* best = run.best()) keep_largest(out, best->average_gbps);
      } else if (!run.latencies.empty()) {
        const evidence::PerftestLatency& row = run.latencies.front();
        out = o == Objective::p99_fct ? row.p99_us : row.typical_us ? row.typical_us : row.average_us;
      }
    }
  }
  return out;
}

std::optional<double> from_size_table(const evidence::TextReading& reading, Objective o) {
  std::optional<double> out;
  for (const auto* table : contents<evidence::SizeTable>(reading)) {
    if (o == Objective::goodput) {
      keep_largest(out, table->best_gbps());
    } else if (table->quantity == evidence::SizeTable::Quantity::latency && !table->rows.empty()) {
      out = table->rows.front().value;
    }
  }
  return out;
}

std::optional<double> from_iperf(const evidence::TextReading& reading) {
  std::optional<double> out;
  for (const auto* run : contents<evidence::Iperf>(reading)) {
    if (const auto rate = run->rate_gbps()) out = rate;
  }
  return out;
}

// The JSON value of an output: all of it, or what stands behind the last line that begins with a brace.
std::optional<Json> json_in(std::string_view output) {
  if (auto whole = parse_json(output, "workload")) return std::move(*whole);
  for (auto at = output.rfind("\n{"); at != std::string_view::npos && at > 0;
       at = output.rfind("\n{", at - 1)) {
    if (auto json = parse_json(output.substr(at + 1), "workload")) return std::move(*json);
  }
  return std::nullopt;
}

std::optional<double> number_at(const Json& json, const std::vector<std::string>& path) {
  const Json* at = &json;
  for (const std::string& step : path) {
    if (const auto* array = at->if_array()) {
      std::size_t index = 0;
      const auto [end, error] = std::from_chars(step.data(), step.data() + step.size(), index);
      if (error != std::errc() || end != step.data() + step.size() || index >= array->size())
        return std::nullopt;
      at = &(*array)[index];
    } else {
      at = json_member(*at, step);
      if (at == nullptr) return std::nullopt;
    }
  }
  if (!at->is_number()) return std::nullopt;
  return at->to_number<double>();
}

// `rocetune bench --json` (dataplane/transport/pattern/result.h: rows; perftest/session.h: one result).
// Rates: the best of all rows; times: of the first row that has them, the smallest message. Nothing where
// contents were not what had been sent.
std::optional<double> from_bench(const Json& json, Objective o) {
  std::vector<const Json*> results;
  if (const Json* rows = json_member(json, "rows"); rows != nullptr && rows->is_array()) {
    for (const Json& row : rows->as_array()) results.push_back(&row);
  } else if (json_member(json, "test") != nullptr) {
    results.push_back(&json);
  }
  std::optional<double> out;
  for (const Json* result : results) {
    if (const Json* right = json_member(*result, "content_is_right"); right != nullptr && *right == false)
      return std::nullopt;
    if (wants_rate(o)) {
      const char* key = o == Objective::busbw ? "busbw_bits_per_s" : "goodput_bits_per_s";
      if (const auto rate = number_at(*result, {key})) keep_largest(out, *rate * 1e-9);
    } else if (!out) {
      out = number_at(*result, {"latency", o == Objective::p99_fct ? "p99_ns" : "p50_ns"});
      if (out) *out *= 1e-3;
    }
  }
  return out;
}

double factor_of_key(std::string_view key) {
  for (const UnitName& unit : kEndings) {
    if (key.ends_with(unit.name)) return unit.factor;
  }
  return 1;
}

tl::unexpected<Error> refuse(std::string found, std::string allowed,
                             const std::optional<std::string>& nearest = {}) {
  return tl::unexpected(bad_input({{.place = {},
                                    .key = "--metric",
                                    .found = std::move(found),
                                    .allowed = std::move(allowed),
                                    .nearest = nearest.value_or("")}}));
}

}  // namespace

struct Metric::Pattern {
  std::regex regex;
  double factor = 1;
};

Expected<Metric> Metric::parse(std::string_view text) {
  const auto equals = text.find('=');
  if (equals == std::string_view::npos)
    return refuse(std::string(text), "OBJECTIVE=SOURCE, like busbw=nccl-tests");
  Metric out;
  out.text_ = text;
  const std::string_view name = text.substr(0, equals);
  std::string_view source = text.substr(equals + 1);
  const search::ObjectiveKind* const objective = search::find_objective(name);
  if (objective == nullptr) {
    const std::vector<std::string> names = search::objective_names();
    return refuse(std::string(name), fmt::format("{}", fmt::join(names, ", ")),
                  nearest_name(std::string(name), names));
  }
  out.objective_ = objective->objective;

  const std::string_view kind = source.substr(0, source.find(':'));
  out.source_ = kind;
  if (std::find(kSources.begin(), kSources.end(), kind) == kSources.end()) {
    return refuse(std::string(source),
                  fmt::format("{} (json:PATH, re:UNIT:REGEX)", fmt::join(kSources, ", ")),
                  nearest_name(std::string(kind), {kSources.begin(), kSources.end()}));
  }
  if (!has(kind, out.objective_)) {
    return refuse(std::string(text),
                  fmt::format("an objective that {} prints; {} is none of them", kind, name));
  }
  source.remove_prefix(std::min(kind.size() + 1, source.size()));
  if (kind == "json") {
    for (;;) {
      const auto dot = source.find('.');
      out.path_.emplace_back(source.substr(0, dot));
      if (dot == std::string_view::npos) break;
      source.remove_prefix(dot + 1);
    }
    if (out.path_.back().empty())
      return refuse(std::string(text), "json:PATH, like json:rows.0.goodput_bits_per_s");
  } else if (kind == "re") {
    const auto colon = source.find(':');
    const std::string_view unit = source.substr(0, colon);
    const auto* known =
        std::find_if(kUnits.begin(), kUnits.end(), [&](const UnitName& u) { return u.name == unit; });
    const bool fits = known != kUnits.end()
                          ? (known->is_rate ? wants_rate(out.objective_) : wants_time(out.objective_))
                          : unit == "ratio" && !wants_rate(out.objective_) && !wants_time(out.objective_);
    if (colon == std::string_view::npos || !fits) {
      return refuse(std::string(text), wants_rate(out.objective_)
                                           ? "re:UNIT:REGEX with Gb/s, Mb/s, GB/s, MB/s or MiB/s"
                                       : wants_time(out.objective_) ? "re:UNIT:REGEX with ns, us, ms or s"
                                                                    : "re:ratio:REGEX");
    }
    auto pattern = std::make_shared<Pattern>();
    pattern->factor = known != kUnits.end() ? known->factor : 1;
    try {
      pattern->regex = std::regex(std::string(source.substr(colon + 1)), std::regex::ECMAScript);
    } catch (const std::regex_error& error) {
      return refuse(std::string(text), fmt::format("a regular expression ({})", error.what()));
    }
    if (pattern->regex.mark_count() == 0)
      return refuse(std::string(text), "an expression with a group: (…) is the number");
    out.pattern_ = std::move(pattern);
  } else if (!source.empty()) {
    return refuse(std::string(text), fmt::format("{} without anything behind it", kind));
  }
  return out;
}

std::optional<double> Metric::read(std::string_view output) const {
  if (source_ == "json" || source_ == "bench") {
    const auto json = json_in(output);
    if (!json) return std::nullopt;
    if (source_ == "bench") return from_bench(*json, objective_);
    const auto number = number_at(*json, path_);
    if (!number) return std::nullopt;
    return *number * factor_of_key(path_.back());
  }
  if (pattern_ != nullptr) {
    std::optional<double> last;
    using Iterator = std::regex_iterator<std::string_view::const_iterator>;
    // Line by line: a match never spans lines, and the recursion of std::regex stays as deep as a line.
    for (std::string_view rest = output; !rest.empty();) {
      const auto end = std::min(rest.find('\n'), rest.size());
      const std::string_view line = rest.substr(0, std::min<std::size_t>(end, 4096));
      rest.remove_prefix(std::min(end + 1, rest.size()));
      for (auto it = Iterator(line.begin(), line.end(), pattern_->regex); it != Iterator(); ++it) {
        const std::string text = (*it)[1].str();
        double value = 0;
        if (std::from_chars(text.data(), text.data() + text.size(), value).ec == std::errc()) last = value;
      }
    }
    if (!last) return std::nullopt;
    return *last * pattern_->factor;
  }
  const evidence::TextReading reading = evidence::read_text(output, "workload", evidence::all_formats());
  if (source_ == "nccl-tests") return from_nccl_tests(reading, objective_, false);
  if (source_ == "nccl-tests-avg") return from_nccl_tests(reading, objective_, true);
  if (source_ == "perftest") return from_perftest(reading, objective_);
  if (source_ == "iperf3") return from_iperf(reading);
  return from_size_table(reading, objective_);
}

}  // namespace rocetune::tune
