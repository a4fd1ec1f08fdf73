#include "agent/tune/host_plant/watching.h"

#include <fmt/core.h>

#include <algorithm>

#include "dataplane/base/json_reader.h"

namespace rocetune::tune {
namespace {

bool is_duration(std::string_view counter) { return counter.ends_with("_duration_us"); }

double number_in(const Json& json, std::string_view name) {
  const Json* member = json_member(json, name);
  return member != nullptr && member->is_number() ? member->to_number<double>() : 0;
}

std::string text_in(const Json& json, std::string_view name) {
  const Json* member = json_member(json, name);
  return member != nullptr && member->is_string() ? std::string(member->as_string()) : std::string();
}

const boost::json::array* list_in(const Json& json, std::string_view name) {
  const Json* member = json_member(json, name);
  return member == nullptr ? nullptr : member->if_array();
}

// What is drawn over time: counters of a host added up, of durations the longest as a share of the time.
enum class Sum { rate, share, count };
struct DrawnCurve {
  std::string_view title, unit;
  Sum sum;
  std::array<std::string_view, 4> counters;
};
constexpr DrawnCurve kDrawn[] = {
    {"throughput", "Gb/s", Sum::rate, {"rdma_tx_bytes"}},
    {"pause ratio", "", Sum::share, {}},  // all durations
    {"CE marks received", "packets", Sum::count, {"rx_ce_packets"}},
    {"CNPs sent", "packets", Sum::count, {"cnp_sent"}},
    {"CNPs received", "packets", Sum::count, {"cnp_handled"}},
    {"pause frames",
     "frames",
     Sum::count,
     {"rx_pause_frames", "tx_pause_frames", "rx_global_pause_frames", "tx_global_pause_frames"}},
    {"discards", "packets", Sum::count, {"rx_discards_phy", "tx_discards_phy"}},
};

void add_to_curve(const DrawnCurve& curve, std::string_view counter, double increment, double elapsed_us,
                  std::optional<double>& value) {
  const bool is_its_own = curve.sum == Sum::share
                              ? is_duration(counter)
                              : std::ranges::find(curve.counters, counter) != curve.counters.end();
  if (!is_its_own) return;
  const double before = value.value_or(0);
  if (curve.sum == Sum::share) value = std::max(before, std::min(increment / elapsed_us, 1.0));
  if (curve.sum == Sum::rate) value = before + increment * 8 / elapsed_us * 1e-3;
  if (curve.sum == Sum::count) value = before + increment;
}

std::string where(const CounterPlace& place) {
  return fmt::format("{}{}{}", place.host.empty() ? "" : place.host + " ", place.port,
                     place.priority < 0 ? "" : fmt::format(" priority {}", place.priority));
}

}  // namespace

void Watching::note(const CounterPlace& place, double increment, double elapsed_us) {
  sums_[place.counter] += static_cast<std::int64_t>(increment);
  const double rate = is_duration(place.counter) ? increment / elapsed_us : increment / elapsed_us * 1e6;
  double& worst = worst_[place];
  worst = std::max(worst, rate);
  if (place.counter == "rx_pause_duration_us" || place.counter == "tx_pause_duration_us" ||
      place.counter == "rx_global_pause_duration_us" || place.counter == "tx_global_pause_duration_us") {
    Paused& paused = paused_[place];
    paused.us += increment;
    paused.of_us += elapsed_us;
  }
}

std::optional<Watching::Frame> Watching::frame_of(const std::string& host, std::string_view line) {
  const auto json = parse_json(line, "watch");
  const boost::json::array* ports = json ? list_in(*json, "ports") : nullptr;
  if (ports == nullptr) return std::nullopt;
  Frame out{.elapsed_us = number_in(*json, "elapsed_us"), .ports = {}, .seen = {}};
  for (const Json& port : *ports) {
    const std::string& name = out.ports.emplace_back(text_in(port, "port"));
    const auto take_all = [&](const Json& of, int priority) {
      const Json* increments = json_member(of, "increments");
      if (increments == nullptr || !increments->is_object()) return;
      for (const auto& [counter, value] : increments->as_object()) {
        if (!value.is_number()) continue;
        out.seen.emplace_back(CounterPlace{host, name, std::string(counter), priority},
                              value.to_number<double>());
      }
    };
    take_all(port, -1);
    if (const auto* priorities = list_in(port, "priorities")) {
      for (const Json& priority : *priorities)
        take_all(priority, static_cast<int>(number_in(priority, "priority")));
    }
  }
  return out;
}

std::optional<Watching::Frame> Watching::frame_of(const std::string& host,
                                                  const counters::Interval& interval) {
  Frame out{.elapsed_us = interval.elapsed.microseconds(), .ports = {}, .seen = {}};
  for (const counters::PortDelta& port : interval.ports) {
    out.ports.push_back(port.port);
    for (const auto& [id, increment] : port.increments) {
      if (!increment) continue;
      out.seen.emplace_back(CounterPlace{host, port.port, id.name, id.priority ? id.priority->value() : -1},
                            static_cast<double>(*increment));
    }
  }
  return out;
}

std::optional<search::Breach> Watching::take(const std::string& host, std::string_view line,
                                             const RatesBefore& before) {
  return take_frame(host, frame_of(host, line), before);
}

std::optional<search::Breach> Watching::take(const std::string& host, const counters::Interval& interval,
                                             const RatesBefore& before) {
  return take_frame(host, frame_of(host, interval), before);
}

std::optional<search::Breach> Watching::take_frame(const std::string& host, const std::optional<Frame>& frame,
                                                   const RatesBefore& before) {
  if (!frame || frame->elapsed_us <= 0) {
    ++damaged_;
    return std::nullopt;
  }
  ++frames_;
  look_for_vanished(host, *frame);
  for (const auto& [place, increment] : frame->seen) note(place, increment, frame->elapsed_us);
  add_step(host, *frame);
  return judge(*frame, before);
}

void Watching::look_for_vanished(const std::string& host, const Frame& frame) {
  for (const std::string& port : frame.ports) {
    const auto counters = static_cast<std::size_t>(
        std::ranges::count_if(frame.seen, [&](const auto& seen) { return seen.first.port == port; }));
    std::size_t& most = counters_of_[host + " " + port];
    if (counters == 0 && most > 0) vanished_.push_back(host + " " + port);
    most = std::max(most, counters);
  }
}

void Watching::add_step(const std::string& host, const Frame& frame) {
  auto& steps = steps_[host];
  const double begin = steps.empty() ? 0 : steps.back().at_us;
  Step& step = steps.emplace_back();
  step.at_us = begin + frame.elapsed_us;
  static_assert(std::size(kDrawn) == kCurves);
  for (const auto& [place, increment] : frame.seen) {
    for (std::size_t i = 0; i < kCurves; ++i)
      add_to_curve(kDrawn[i], place.counter, increment, frame.elapsed_us, step.values[i]);
  }
}

std::optional<search::Breach> Watching::judge(const Frame& frame, const RatesBefore& before) const {
  for (const SoakRule& rule : limits_.rules) {
    for (const auto& [place, increment] : frame.seen) {
      if (place.counter != rule.counter || rule.per_priority != (place.priority >= 0)) continue;
      const double rate =
          rule.share_of_time ? increment / frame.elapsed_us : increment / frame.elapsed_us * 1e6;
      const auto known = before.find(place);
      const double was = known == before.end() ? 0 : known->second;
      const double limit = rule.share_of_time ? rule.share_of_time->value() : *rule.per_second;
      const bool was_so = rule.share_of_time ? was >= limit : rate <= was * rule.times_before;
      if ((rule.share_of_time ? rate < limit : rate <= limit) || was_so) continue;
      return search::Breach{rule.name, rule.share_of_time
                                           ? fmt::format("{}: {}, {} {:.1f} % of the time", where(place),
                                                         rule.meaning, rule.counter, rate * 100)
                                           : fmt::format("{}: {}, {} {:.0f} a second", where(place),
                                                         rule.meaning, rule.counter, rate)};
    }
  }
  return std::nullopt;
}

std::optional<double> Watching::pause_ratio() const {
  std::optional<double> out;
  for (const auto& [place, paused] : paused_) {
    if (paused.of_us > 0) out = std::max(out.value_or(0), std::min(1.0, paused.us / paused.of_us));
  }
  return out;
}

std::vector<search::Series> Watching::series() const {
  std::vector<search::Series> out;
  for (const auto& [host, steps] : steps_) {
    for (std::size_t i = 0; i < kCurves; ++i) {
      search::Series series{.name = std::string(kDrawn[i].title) + (host.empty() ? "" : " of " + host),
                            .unit = std::string(kDrawn[i].unit)};
      for (const Step& step : steps) {
        if (!step.values[i]) continue;
        series.at_us.push_back(step.at_us);
        series.values.push_back(*step.values[i]);
      }
      if (series.values.empty()) continue;
      if (series.values.size() < steps.size())
        series.step_us = steps.back().at_us / static_cast<double>(steps.size());
      out.push_back(std::move(series));
    }
  }
  return out;
}

}  // namespace rocetune::tune
