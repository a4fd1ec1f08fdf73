#include "agent/tune/fabric_plant/measure.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <span>

#include "agent/tune/fabric_plant/limits.h"
#include "agent/tune/search/score.h"
#include "dataplane/base/statistics.h"

namespace rocetune::fabric_plant {
namespace {

using fabric::RunResult;
using fabric::Scenario;
using search::Objective;
using search::Observation;

constexpr double kMicrosecondsPerSecond = 1e6;

// What finished took, where `missing` did not by `limit_us`.
struct Times {
  std::uint64_t finished = 0;
  std::uint64_t missing = 0;
  double p50 = 0, p99 = 0, most = 0;

  void take(const std::optional<fabric::FctSummary>& summary) {
    if (!summary) return;
    p50 = summary->p50;
    p99 = summary->p99;
    most = summary->max;
  }
  // With the missing ones behind all others; what is not known lies between what is.
  bool is_missing(double share) const {
    return static_cast<double>(missing) > (1 - share) * static_cast<double>(finished + missing);
  }
  double median(double limit_us) const { return is_missing(0.5) ? limit_us : p50; }
  double tail(double limit_us) const {
    if (missing == 0) return p99;
    return is_missing(0.99) ? limit_us : most;
  }
};

Times times_of_flows(const RunResult& result) {
  Times out{.finished = result.flows.finished, .missing = result.flows.count - result.flows.finished};
  out.take(result.flows.fct_us);
  return out;
}

// Iterations of the job that takes longest.
Times times_of_jobs(const RunResult& result) {
  Times out;
  for (const fabric::JobResult& job : result.jobs) {
    if (job.finished < job.ranks) ++out.missing;
    if (!job.iteration_us) continue;
    ++out.finished;
    if (job.iteration_us->p50 > out.p50) out.take(job.iteration_us);
  }
  return out;
}

std::optional<double> busbw_of(const RunResult& result) {
  double sum = 0;
  int count = 0;
  for (const fabric::JobResult& job : result.jobs) {
    if (job.finished < job.ranks) return std::nullopt;
    for (const fabric::StepResult& step : job.steps) {
      if (!step.busbw_gbps || *step.busbw_gbps <= 0) continue;
      sum += std::log(*step.busbw_gbps);
      ++count;
    }
  }
  if (count == 0) return std::nullopt;
  return std::exp(sum / count);
}

double most_paused(const RunResult& result) {
  double most = 0;
  for (const fabric::PortResult& port : result.ports)
    most = std::max({most, port.paused_ratio, port.peer_paused_ratio});
  return most;
}

// By the name of a port.
std::map<std::string, BitRate> port_rates(const Scenario& scenario) {
  std::map<std::string, BitRate> rate_of;
  std::vector<std::uint32_t> ports(scenario.topology.hosts + scenario.topology.switches);
  for (const fabric::LinkSpec& link : scenario.topology.links) {
    for (const fabric::NodeId end : {link.a, link.b})
      rate_of[fmt::format("{} port {}", scenario.topology.name_of(end), ports[end]++)] = link.rate;
  }
  return rate_of;
}

double time_to_leave_us(double bytes, BitRate rate) { return bytes * 8 / gbps_of(rate) / 1e3; }

// How long the median of a queue takes to leave, of the port where that is longest.
double queue_delay_us(const RunResult& result, const Scenario& scenario) {
  const std::map<std::string, BitRate> rate_of = port_rates(scenario);
  double longest = 0;
  for (const fabric::PortResult& port : result.ports) {
    const auto rate = rate_of.find(port.name);
    if (rate == rate_of.end()) continue;
    longest = std::max(longest, time_to_leave_us(static_cast<double>(port.queue_bytes.p50), rate->second));
  }
  return longest;
}

void add_breaches(Observation& out, const RunResult& result) {
  if (result.deadlock) {
    std::string cycle;
    for (const std::string& port : result.deadlock->cycle) cycle += (cycle.empty() ? "" : ", ") + port;
    out.breaches.push_back(
        {"deadlock", fmt::format("closed by {:.0f} us, priority {}: {}", result.deadlock->found_us,
                                 result.deadlock->priority, cycle)});
  }
  if (result.lossless_drops > 0 && result.storms == 0) {
    out.breaches.push_back(
        {"lossless-drop", fmt::format("{} packets of lossless classes dropped", result.lossless_drops)});
  }
  if (result.failed_requests > 0) {
    out.breaches.push_back(
        {"failed-requests", fmt::format("{} requests ended with an error", result.failed_requests)});
  }
}

void add_counters(Observation& out, const RunResult& result) {
  const auto count = [&](const char* name, std::uint64_t value) {
    out.counter_deltas[name] = static_cast<std::int64_t>(value);
  };
  count("cnp_sent", result.cnps_sent);
  count("cnp_handled", result.cnps_handled);
  count("tx_pause_frames", result.pause_frames);
  count("switch_ce_marked", result.ce_marked);
  count("switch_drops", result.drops);
  count("switch_lossless_drops", result.lossless_drops);
  count("switch_watchdog_drops", result.watchdog_drops);
  count("link_lost_frames", result.lost_frames);
  count("nic_discards", result.receive_drops);
  count("retransmitted_frames", result.flows.retransmitted_frames);
  count("failed_requests", result.failed_requests);
}

template <class Number>
void add_series(Observation& out, const fabric::TimeSeries& series, std::string name, std::string unit,
                const std::vector<Number>& values) {
  search::Series added{.name = std::move(name), .unit = std::move(unit)};
  for (std::size_t i = 0; i < values.size(); ++i) {
    added.at_us.push_back(series.step_us * static_cast<double>(i + 1));
    added.values.push_back(static_cast<double>(values[i]));
  }
  out.series.push_back(std::move(added));
}

// With a gap for each step in which nothing was measured.
void add_series(Observation& out, const fabric::TimeSeries& series, std::string name, std::string unit,
                const std::vector<std::optional<double>>& values) {
  search::Series added{.name = std::move(name), .unit = std::move(unit)};
  added.step_us = series.step_us;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (!values[i]) continue;
    added.at_us.push_back(series.step_us * static_cast<double>(i + 1));
    added.values.push_back(*values[i]);
  }
  out.series.push_back(std::move(added));
}

// How long what comes last to the longest of the queues kept waits for its turn, in each step.
std::vector<double> waits_us(const fabric::TimeSeries& series, const Scenario& scenario) {
  const std::map<std::string, BitRate> rate_of = port_rates(scenario);
  std::vector<double> out;
  for (const fabric::PortSeries& port : series.ports) {
    const auto rate = rate_of.find(port.name);
    if (rate == rate_of.end()) continue;
    out.resize(std::max(out.size(), port.queue_bytes.size()));
    for (std::size_t i = 0; i < port.queue_bytes.size(); ++i)
      out[i] = std::max(out[i], time_to_leave_us(static_cast<double>(port.queue_bytes[i]), rate->second));
  }
  return out;
}

// Payload since the start: what is done sooner is there sooner.
std::vector<double> delivered_bytes(const fabric::TimeSeries& series) {
  std::vector<double> out;
  double sum = 0;
  for (const double gbps : series.goodput_gbps) {
    sum += gbps * 1e3 / 8 * series.step_us;
    out.push_back(sum);
  }
  return out;
}

void add_all_series(Observation& out, const fabric::TimeSeries& series, const Scenario& scenario) {
  add_series(out, series, "throughput", "Gb/s", series.goodput_gbps);
  add_series(out, series, "delivered so far", "bytes", delivered_bytes(series));
  add_series(out, series, "p99 of packets", "us", series.packet_p99_us);
  add_series(out, series, "p99 of messages", "us", series.message_p99_us);
  if (!series.ports.empty())
    add_series(out, series, "wait in the longest queue", "us", waits_us(series, scenario));
  add_series(out, series, "queued in all switches", "bytes", series.queued_bytes);
  add_series(out, series, "CE marks", "packets", series.ce_marked);
  add_series(out, series, "CNPs", "packets", series.cnps_handled);
  add_series(out, series, "pause frames", "frames", series.pause_frames);
  add_series(out, series, "drops", "packets", series.drops);
  add_series(out, series, "sent again", "frames", series.retransmitted_frames);
  if (series.ports.empty()) return;
  const fabric::PortSeries& busiest = series.ports.front();
  add_series(out, series, "queue of the busiest port", "bytes", busiest.queue_bytes);
  std::vector<double> paused(busiest.paused_ratio.size());
  for (const fabric::PortSeries& port : series.ports) {
    for (std::size_t i = 0; i < paused.size() && i < port.paused_ratio.size(); ++i)
      paused[i] = std::max(paused[i], port.paused_ratio[i]);
  }
  add_series(out, series, "pause ratio of the most paused port", "", paused);
}

// Some flows have more to send than their hosts' links take until the scenario's limit: they are not meant to
// end, and it is queues that tell latency. Random arrivals are meant to, however long a flow they draw.
bool is_endless(const Scenario& scenario) {
  const std::vector<BitRate> rates = fabric::host_rates_of(scenario.topology);
  std::vector<double> sent(rates.size()), received(rates.size());
  const std::span flows(scenario.flows);
  for (const fabric::Traffic& traffic : scenario.traffic) {
    if (traffic.pattern == fabric::Pattern::poisson) continue;
    for (const fabric::Flow& flow : flows.subspan(traffic.first, traffic.count)) {
      sent[flow.from] += static_cast<double>(flow.bytes);
      received[flow.to] += static_cast<double>(flow.bytes);
    }
  }
  const double seconds = scenario.limit.seconds();
  for (std::size_t i = 0; i < rates.size(); ++i) {
    const double most = gbps_of(rates[i]) * 1e9 / 8 * seconds;
    if (sent[i] > most || received[i] > most) return true;
  }
  return false;
}

void add_objectives(Observation& out, const RunResult& result, const Scenario& scenario) {
  // Random arrivals may have none until the limit.
  if (result.flows.count == 0 && result.jobs.empty()) return;
  const double limit_s = scenario.limit.seconds();
  out.objectives[Objective::goodput] =
      result.deadlock ? result.goodput_gbps * result.virtual_s / limit_s : result.goodput_gbps;
  out.objectives[Objective::busbw] = busbw_of(result);
  if (is_endless(scenario)) {
    out.objectives[Objective::latency] = idle_round_trip_us(scenario) + queue_delay_us(result, scenario);
  } else {
    const Times times = result.flows.count > 0 ? times_of_flows(result) : times_of_jobs(result);
    const double limit_us = limit_s * kMicrosecondsPerSecond;
    out.objectives[Objective::latency] = times.median(limit_us);
    out.objectives[Objective::p99_fct] = times.tail(limit_us);
  }
  out.objectives[Objective::pause_ratio] = std::min(most_paused(result), 1.0);
  if (result.flows.count > 1) out.objectives[Objective::fairness] = result.flows.fairness;
}

}  // namespace

double idle_round_trip_us(const Scenario& scenario) {
  const fabric::Topology& topology = scenario.topology;
  constexpr double kUnreached = -1;
  std::vector<std::vector<std::pair<fabric::NodeId, double>>> links(topology.hosts + topology.switches);
  const Bytes frame = headroom_model(scenario).frame;
  for (const fabric::LinkSpec& link : topology.links) {
    const double us =
        (link.delay * 2 + transmission_time(frame, link.rate)).seconds() * kMicrosecondsPerSecond;
    links[link.a].emplace_back(link.b, us);
    links[link.b].emplace_back(link.a, us);
  }
  // The way with the fewest links, as routing has it: by rounds.
  std::vector<double> taken(links.size(), kUnreached);
  std::vector<fabric::NodeId> reached{0};
  taken[0] = 0;
  double longest = 0;
  for (std::size_t i = 0; i < reached.size(); ++i) {
    for (const auto& [next, us] : links[reached[i]]) {
      if (taken[next] != kUnreached) continue;
      taken[next] = taken[reached[i]] + us;
      if (topology.is_host(next)) longest = std::max(longest, taken[next]);
      reached.push_back(next);
    }
  }
  return longest;
}

Observation observation_of(const RunResult& result, const Scenario& scenario) {
  Observation out;
  add_objectives(out, result, scenario);
  add_breaches(out, result);
  add_counters(out, result);
  if (result.series) add_all_series(out, *result.series, scenario);
  return out;
}

Observation together(const std::vector<Observation>& runs) {
  if (runs.size() == 1) return runs.front();
  Observation out;
  out.series = runs.front().series;
  std::vector<search::Objectives> objectives;
  for (const Observation& run : runs) {
    // One without traffic (random arrivals may have none) shows nothing.
    if (run.objectives != search::Objectives()) objectives.push_back(run.objectives);
    out.took_ns += run.took_ns;
    for (const auto& [name, delta] : run.counter_deltas) out.counter_deltas[name] += delta;
    for (const search::Breach& breach : run.breaches) {
      if (std::ranges::find(out.breaches, breach.guardrail, &search::Breach::guardrail) != out.breaches.end())
        continue;
      const auto times = std::ranges::count_if(runs, [&](const Observation& other) {
        return std::ranges::count(other.breaches, breach.guardrail, &search::Breach::guardrail) > 0;
      });
      out.breaches.push_back(
          {breach.guardrail, fmt::format("{} ({} of {} runs)", breach.what, times, runs.size())});
    }
  }
  if (objectives.empty()) return out;
  // Random arrivals may be a single flow, which has nothing to be fair to.
  Moments fairness;
  for (const search::Objectives& run : objectives) {
    if (const auto& value = run[Objective::fairness]) fairness.add(*value);
  }
  out.objectives = search::mean_of(objectives);
  if (fairness.count() > 0) out.objectives[Objective::fairness] = fairness.mean();
  return out;
}

}  // namespace rocetune::fabric_plant
