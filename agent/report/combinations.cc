#include "agent/report/combinations.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <cmath>

namespace rocetune::report {
namespace {

constexpr std::string_view kAbsent = "–";
constexpr double kWrittenAlike = 50;  // times the smallest: it still has a digit or two

std::string value_of(const fabric::Variation& variation, std::string_view key) {
  const auto found = std::ranges::find(variation.settings, key, &TomlSetting::key);
  return found == variation.settings.end() ? std::string(kAbsent) : found->value;
}

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

std::optional<Winner> best_by(const Sweep& sweep, std::size_t index) {
  const Metric& metric = sweep.metrics[index];
  std::vector<std::pair<double, std::size_t>> candidates;  // mean, which
  for (std::size_t i = 0; i < sweep.combinations.size(); ++i) {
    const Combination& c = sweep.combinations[i];
    const auto spread = spread_of(c, index);
    if (!spread || !is_sound(c) || (metric.is_of_finished && !is_finished(c))) continue;
    candidates.emplace_back(spread->mean, i);
  }
  if (candidates.empty()) return std::nullopt;
  constexpr auto kMean = &std::pair<double, std::size_t>::first;
  const auto [least, most] = std::ranges::minmax(candidates, {}, kMean);
  if (least.first == most.first) return std::nullopt;
  const double best = metric.aim == Metric::Aim::most ? most.first : least.first;
  Winner out{.metric = index, .combination = std::ranges::find(candidates, best, kMean)->second};
  for (const auto& [mean, i] : candidates)
    out.as_good += i != out.combination && std::abs(mean - best) <= kAsGood * std::abs(best) ? 1 : 0;
  return out;
}

void add_title(std::string& titles, const Metric& metric) {
  titles += (titles.empty() ? "" : ", ") + metric.title;
}

}  // namespace

Sweep sweep_of(std::span<const fabric::Variation> variations, std::vector<Metric> metrics) {
  std::vector<std::string> keys;
  for (const fabric::Variation& v : variations) {
    for (const TomlSetting& setting : v.settings) {
      if (std::ranges::find(keys, setting.key) == keys.end()) keys.push_back(setting.key);
    }
  }
  Sweep out{.metrics = std::move(metrics), .runs = variations.size()};
  for (const std::string& key : keys) {
    const std::string first = value_of(variations.front(), key);
    const bool is_fixed = std::ranges::all_of(
        variations, [&](const fabric::Variation& v) { return value_of(v, key) == first; });
    if (is_fixed) out.fixed.push_back({key, first});
    if (!is_fixed) out.keys.push_back(key);
  }
  for (const fabric::Variation& v : variations) {
    std::vector<std::string> values;
    for (const std::string& key : out.keys) values.push_back(value_of(v, key));
    auto found = std::ranges::find(out.combinations, values, &Combination::values);
    if (found == out.combinations.end())
      found = out.combinations.insert(found, Combination{std::move(values), {}});
    found->runs.push_back({&v, measured(v.result, out.metrics)});
  }
  return out;
}

std::optional<Spread> spread_of(const Combination& combination, std::size_t metric) {
  Spread out;
  for (const Combination::Run& run : combination.runs) {
    const std::optional<double>& value = run.measured[metric];
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

std::optional<double> highest(const Sweep& sweep, std::size_t metric) {
  std::optional<double> out;
  for (const Combination& c : sweep.combinations) {
    if (const auto spread = spread_of(c, metric)) out = std::max(out.value_or(spread->high), spread->high);
  }
  return out;
}

Writing writing_of(const Sweep& sweep, std::size_t metric) {
  double most = 0, least = INFINITY;
  for (const Combination& c : sweep.combinations) {
    for (const Combination::Run& run : c.runs) {
      const double size = std::abs(run.measured[metric].value_or(0));
      most = std::max(most, size);
      if (size > 0) least = std::min(least, size);
    }
  }
  Writing out{.unit = sweep.metrics[metric].unit};
  if (out.unit.is_whole || most <= least * kWrittenAlike) out.common = html::written_for(most, out.unit);
  return out;
}

Shown shown_of(const Sweep& sweep) {
  Shown out;
  for (std::size_t i = 0; i < sweep.metrics.size(); ++i) {
    const Metric& metric = sweep.metrics[i];
    const auto most = highest(sweep, i);
    if (metric.is_asked_for || most.value_or(0) > 0) {
      out.metrics.push_back(i);
    } else {
      add_title(most ? out.never : out.unknown, metric);
    }
  }
  return out;
}

bool is_right(const Combination& combination) {
  return std::ranges::all_of(combination.runs,
                             [](const Combination::Run& run) { return run.variation->result.is_right(); });
}

bool has_deadlock(const Combination& combination) {
  return std::ranges::any_of(combination.runs, [](const Combination::Run& run) {
    return run.variation->result.deadlock.has_value();
  });
}

bool is_sound(const Combination& combination) { return is_right(combination) && !has_deadlock(combination); }

std::vector<SweepLesson> lessons_of(const Sweep& sweep) {
  std::vector<SweepLesson> out;
  if (sweep.combinations.empty()) return out;
  const auto& points = sweep.combinations.front().runs.front().variation->result.lesson;
  for (std::size_t i = 0; i < points.size(); ++i) {
    SweepLesson& lesson = out.emplace_back(SweepLesson{.says = points[i].says, .seen_in = {}});
    for (const Combination& c : sweep.combinations) {
      lesson.seen_in.push_back(
          static_cast<std::size_t>(std::ranges::count_if(c.runs, [&](const Combination::Run& run) {
            const auto& own = run.variation->result.lesson;
            return i < own.size() && own[i].is_seen;
          })));
    }
  }
  return out;
}

bool is_finished(const fabric::RunResult& result) {
  return result.flows.finished == result.flows.count &&
         std::ranges::all_of(result.jobs, [](const auto& job) { return job.finished == job.ranks; });
}

bool is_finished(const Combination& combination) {
  return std::ranges::all_of(combination.runs,
                             [](const Combination::Run& run) { return is_finished(run.variation->result); });
}

std::string as_good_text(const Winner& winner) {
  if (winner.as_good == 0) return {};
  return fmt::format("; {} within {:g} %",
                     winner.as_good == 1 ? "another is" : fmt::format("{} others are", winner.as_good),
                     100 * kAsGood);
}

std::vector<Winner> winners_of(const Sweep& sweep) {
  std::vector<Winner> out;
  for (std::size_t i = 0; i < sweep.metrics.size() && out.size() < kMostWinners; ++i) {
    if (sweep.metrics[i].aim == Metric::Aim::none) continue;
    if (const auto best = best_by(sweep, i)) out.push_back(*best);
  }
  return out;
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
