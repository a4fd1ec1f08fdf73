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

std::optional<search::Breach> Watching::take(const std::string& host, std::string_view line,
                                             const RatesBefore& before) {
  const auto json = parse_json(line, "watch");
  const double elapsed_us = json ? number_in(*json, "elapsed_us") : 0;
  const boost::json::array* ports = json ? list_in(*json, "ports") : nullptr;
  if (ports == nullptr || elapsed_us <= 0) {
    ++damaged_;
    return std::nullopt;
  }
  ++frames_;
  std::vector<std::pair<CounterPlace, double>> seen;
  double bytes = 0, paused = 0, cnps = 0;
  bool has_pause = false;
  for (const Json& port : *ports) {
    const std::string name = text_in(port, "port");
    std::size_t counters = 0;
    const auto take_all = [&](const Json& of, int priority) {
      const Json* increments = json_member(of, "increments");
      if (increments == nullptr || !increments->is_object()) return;
      for (const auto& [counter, value] : increments->as_object()) {
        if (!value.is_number()) continue;
        ++counters;
        const double increment = value.to_number<double>();
        seen.emplace_back(CounterPlace{host, name, std::string(counter), priority}, increment);
        if (counter == "rdma_tx_bytes") bytes += increment;
        if (counter == "cnp_sent") cnps += increment;
        if (is_duration(counter)) {
          has_pause = true;
          paused = std::max(paused, increment / elapsed_us);
        }
      }
    };
    take_all(port, -1);
    if (const auto* priorities = list_in(port, "priorities")) {
      for (const Json& priority : *priorities)
        take_all(priority, static_cast<int>(number_in(priority, "priority")));
    }
    std::size_t& most = counters_of_[host + " " + name];
    if (counters == 0 && most > 0) vanished_.push_back(host + " " + name);
    most = std::max(most, counters);
  }
  for (const auto& [place, increment] : seen) note(place, increment, elapsed_us);
  auto& steps = steps_[host];
  const double begin = steps.empty() ? 0 : steps.back().at_us;
  steps.push_back(
      {begin + elapsed_us, bytes * 8 / elapsed_us * 1e-3, paused, cnps / elapsed_us * 1e6, has_pause});

  for (const SoakRule& rule : limits_.rules) {
    for (const auto& [place, increment] : seen) {
      if (place.counter != rule.counter || rule.per_priority != (place.priority >= 0)) continue;
      const double rate = rule.share_of_time ? increment / elapsed_us : increment / elapsed_us * 1e6;
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
    const std::string of = host.empty() ? "" : " of " + host;
    search::Series throughput{"throughput" + of, "Gb/s", {}, {}}, paused{"pause ratio" + of, "", {}, {}},
        cnps{"CNPs sent" + of, "1/s", {}, {}};
    bool has_pause = false;
    for (const Step& step : steps) {
      for (auto* series : {&throughput, &paused, &cnps}) series->at_us.push_back(step.at_us);
      throughput.values.push_back(step.gbps);
      paused.values.push_back(step.paused);
      cnps.values.push_back(step.cnps_per_s);
      has_pause |= step.has_pause;
    }
    out.push_back(std::move(throughput));
    if (has_pause) out.push_back(std::move(paused));
    out.push_back(std::move(cnps));
  }
  return out;
}

}  // namespace rocetune::tune
