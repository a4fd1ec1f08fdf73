#include "agent/report/combinations.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

namespace rocetune::report {
namespace {

constexpr std::string_view kAbsent = "–";

std::string value_of(const Variation& variation, std::string_view key) {
  const auto found = std::ranges::find(variation.settings, key, &Settings::value_type::first);
  return found == variation.settings.end() ? std::string(kAbsent) : found->second;
}

std::optional<double> completion(const fabric::RunResult& r, double fabric::FctSummary::*which) {
  if (!r.flows.fct_us) return std::nullopt;
  return (*r.flows.fct_us).*which / 1e6;
}

template <class Value>
std::optional<double> over_ports(const fabric::RunResult& r, const Value& value) {
  if (r.ports.empty()) return std::nullopt;
  return value(r.ports);
}

using Ports = std::vector<fabric::PortResult>;
constexpr std::array kMetrics{
    Metric{"goodput", html::kBitRate,
           [](const fabric::RunResult& r) { return std::optional(r.flows.goodput_gbps * 1e9); }},
    Metric{"completion p50", html::kSeconds,
           [](const fabric::RunResult& r) { return completion(r, &fabric::FctSummary::p50); }},
    Metric{"completion p99", html::kSeconds,
           [](const fabric::RunResult& r) { return completion(r, &fabric::FctSummary::p99); }},
    Metric{"completion max", html::kSeconds,
           [](const fabric::RunResult& r) { return completion(r, &fabric::FctSummary::max); }},
    Metric{"longest queue", html::kBytes,
           [](const fabric::RunResult& r) {
             return over_ports(r, [](const Ports& ports) {
               double most = 0;
               for (const auto& p : ports) most = std::max(most, static_cast<double>(p.queue_bytes.max));
               return most;
             });
           }},
    Metric{"pause frames", html::kCount,
           [](const fabric::RunResult& r) { return std::optional(static_cast<double>(r.pause_frames)); }},
    Metric{"CE marked", html::kCount,
           [](const fabric::RunResult& r) { return std::optional(static_cast<double>(r.ce_marked)); }},
    Metric{"drops", html::kCount,
           [](const fabric::RunResult& r) {
             return over_ports(r, [](const Ports& ports) {
               double sum = 0;
               for (const auto& p : ports) sum += static_cast<double>(p.drops);
               return sum;
             });
           }},
    Metric{"sent again", html::kCount,
           [](const fabric::RunResult& r) {
             return std::optional(static_cast<double>(r.flows.retransmitted_frames));
           }},
};
constexpr std::size_t kGoodput = 0, kP99 = 2;

// The amounts of which kind of unit they are; nothing if any is not.
template <class Parse>
std::optional<std::vector<double>> amounts(std::span<const std::string> values, const Parse& parse) {
  std::vector<double> out;
  for (const std::string& value : values) {
    const std::optional<double> amount = parse(value);
    if (!amount) return std::nullopt;
    out.push_back(*amount);
  }
  return out;
}

template <class Parsed>
std::optional<double> count_of(const Parsed& parsed) {
  return parsed ? std::optional(static_cast<double>(parsed->count())) : std::nullopt;
}

std::optional<double> plain_number(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || !std::isfinite(value)) return std::nullopt;
  const std::string_view rest(end, text.data() + text.size());
  return rest.empty() || rest == "%" ? std::optional(value) : std::nullopt;
}

std::optional<std::vector<double>> amounts_of(std::span<const std::string> values) {
  if (auto out = amounts(values, plain_number)) return out;
  if (auto out = amounts(values, [](const std::string& v) { return count_of(parse_bytes(v)); })) return out;
  if (auto out = amounts(values, [](const std::string& v) { return count_of(parse_duration(v)); }))
    return out;
  return amounts(values, [](const std::string& v) { return count_of(parse_bit_rate(v)); });
}

template <class IsLess>
std::optional<std::size_t> best_by(const Sweep& sweep, const Metric& metric, bool must_finish,
                                   const IsLess& is_worse) {
  std::optional<std::size_t> best;
  bool differs = false;
  double best_mean = 0;
  for (std::size_t i = 0; i < sweep.combinations.size(); ++i) {
    const Combination& c = sweep.combinations[i];
    const auto spread = spread_of(c, metric);
    if (!spread || !is_sound(c) || (must_finish && !is_finished(c))) continue;
    if (best) differs = differs || spread->mean != best_mean;
    if (best && !is_worse(best_mean, spread->mean)) continue;
    best = i;
    best_mean = spread->mean;
  }
  return differs ? best : std::nullopt;
}

}  // namespace

Sweep sweep_of(std::span<const Variation> variations) {
  std::vector<std::string> keys;
  for (const Variation& v : variations) {
    for (const auto& [key, value] : v.settings) {
      if (std::ranges::find(keys, key) == keys.end()) keys.push_back(key);
    }
  }
  Sweep out;
  for (const std::string& key : keys) {
    const std::string first = value_of(variations.front(), key);
    const bool is_fixed =
        std::ranges::all_of(variations, [&](const Variation& v) { return value_of(v, key) == first; });
    if (is_fixed) out.fixed.emplace_back(key, first);
    if (!is_fixed) out.keys.push_back(key);
  }
  for (const Variation& v : variations) {
    std::vector<std::string> values;
    for (const std::string& key : out.keys) values.push_back(value_of(v, key));
    auto found = std::ranges::find(out.combinations, values, &Combination::values);
    if (found == out.combinations.end())
      found = out.combinations.insert(found, Combination{std::move(values), {}});
    found->runs.push_back(&v);
  }
  return out;
}

std::span<const Metric> metrics() { return kMetrics; }
const Metric& goodput_metric() { return kMetrics[kGoodput]; }
const Metric& p99_metric() { return kMetrics[kP99]; }

std::optional<Spread> spread_of(const Combination& combination, const Metric& metric) {
  Spread out;
  for (const Variation* run : combination.runs) {
    const std::optional<double> value = metric.of(run->result);
    if (!value || !std::isfinite(*value)) continue;
    out.low = out.runs == 0 ? *value : std::min(out.low, *value);
    out.high = out.runs == 0 ? *value : std::max(out.high, *value);
    out.mean += *value;
    ++out.runs;
  }
  if (out.runs == 0) return std::nullopt;
  // Between the two also after rounding.
  out.mean = std::clamp(out.mean / static_cast<double>(out.runs), out.low, out.high);
  return out;
}

bool is_sound(const Combination& combination) {
  return std::ranges::all_of(
      combination.runs, [](const Variation* run) { return run->result.is_right() && !run->result.deadlock; });
}

bool is_finished(const Combination& combination) {
  return std::ranges::all_of(combination.runs, [](const Variation* run) {
    return run->result.flows.finished == run->result.flows.count;
  });
}

Best best_of(const Sweep& sweep) {
  return {.goodput = best_by(sweep, goodput_metric(), false, std::less<>()),
          .p99 = best_by(sweep, p99_metric(), true, std::greater<>())};
}

Placement placement_of(std::span<const std::string> values) {
  Placement out;
  const auto measured = amounts_of(values);
  std::vector<double> at = measured.value_or(std::vector<double>());
  if (measured && !at.empty()) {
    const auto [low, high] = std::ranges::minmax(at);
    out.is_measured = low < high;
    out.is_logarithmic = low > 0 && high >= 10 * low;
  }
  if (!out.is_measured) {
    for (std::size_t i = 0; i < values.size(); ++i)
      out.shares.push_back((static_cast<double>(i) + 0.5) / static_cast<double>(values.size()));
    return out;
  }
  if (out.is_logarithmic) std::ranges::transform(at, at.begin(), [](double v) { return std::log(v); });
  const auto [low, high] = std::ranges::minmax(at);
  for (const double v : at) out.shares.push_back((v - low) / (high - low));
  return out;
}

}  // namespace rocetune::report
