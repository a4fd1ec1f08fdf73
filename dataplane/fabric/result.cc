#include "dataplane/fabric/result.h"

#include <fmt/core.h>

#include <algorithm>
#include <deque>
#include <numeric>

#include "dataplane/base/statistics.h"

namespace rocetune::fabric {
namespace {

constexpr int kSchemaVersion = 1;

std::optional<FctSummary> summary_of(std::vector<double> fct_us) {
  if (fct_us.empty()) return std::nullopt;
  std::ranges::sort(fct_us);
  return FctSummary{
      .min = fct_us.front(),
      .mean = std::accumulate(fct_us.begin(), fct_us.end(), 0.0) / static_cast<double>(fct_us.size()),
      .p50 = interpolated(fct_us, Ratio::from_percent(50)),
      .p99 = interpolated(fct_us, Ratio::from_percent(99)),
      .max = fct_us.back()};
}

FlowsResult flows_of(const Network& network, Instant end) {
  FlowsResult out;
  std::vector<double> fct_us;
  std::vector<double> rates;
  for (NodeId id = 0; id < network.hosts(); ++id) {
    out.retransmitted_frames += network.host(id).statistics().retransmitted_frames;
    for (const HostNode::Sending& sending : network.host(id).sendings()) {
      ++out.count;
      out.bytes += sending.outcome.completed_bytes;
      const bool is_finished = sending.outcome.finished != Instant::never();
      const Instant until = is_finished ? sending.outcome.finished : end;
      const double span = (until - sending.flow.start).seconds();
      if (span > 0) rates.push_back(static_cast<double>(sending.outcome.completed_bytes) / span);
      if (!is_finished) continue;
      ++out.finished;
      fct_us.push_back(span * 1e6);
    }
  }
  const double span = (end - Instant()).seconds();
  if (span > 0) out.goodput_gbps = static_cast<double>(out.bytes) * 8 / span / 1e9;
  if (!rates.empty()) out.fairness = jain_fairness(rates);
  out.fct_us = summary_of(std::move(fct_us));
  return out;
}

std::string name_of(const Topology& topology, NodeId node) {
  return topology.is_host(node) ? fmt::format("host {}", node)
                                : fmt::format("switch {}", node - topology.hosts);
}

std::uint64_t sum(const std::array<std::uint64_t, Priority::kCount>& counts) {
  return std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
}

// The most paused priority's share of the time up to `end`.
template <class PausedTime>
double paused_ratio(Instant end, const PausedTime& paused_time) {
  Duration most;
  for (int p = 0; p < Priority::kCount; ++p) most = std::max(most, paused_time(Priority(p)));
  return end > Instant() ? most.seconds() / (end - Instant()).seconds() : 0;
}

// The other end of each port of each node. Ports are numbered as links come.
struct FarEnd {
  NodeId node;
  std::uint16_t port;
};
std::vector<std::vector<FarEnd>> far_ends_of(const Topology& topology) {
  std::vector<std::vector<FarEnd>> out(topology.hosts + topology.switches);
  for (const LinkSpec& link : topology.links) {
    const auto a = static_cast<std::uint16_t>(out[link.a].size());
    const auto b = static_cast<std::uint16_t>(out[link.b].size());
    out[link.a].push_back({link.b, b});
    out[link.b].push_back({link.a, a});
  }
  return out;
}

// Watches every port of every switch.
class Watches {
 public:
  Watches(Network& network, const Topology& topology)
      : network_(network), topology_(topology), far_ends_(far_ends_of(topology)) {
    for (std::uint32_t i = 0; i < network.switches(); ++i) {
      for (std::uint16_t port = 0; port < network.switch_at(i).ports(); ++port) {
        watches_.emplace_back();
        network.switch_at(i).watch(port, watches_.back());
      }
    }
  }
  void restart(Instant now) {
    for (QueueWatch& watch : watches_) watch.restart(now);
  }
  std::vector<PortResult> results(Instant end) {
    std::vector<PortResult> out;
    auto watch = watches_.begin();
    for (std::uint32_t i = 0; i < network_.switches(); ++i) {
      for (std::uint16_t port = 0; port < network_.switch_at(i).ports(); ++port, ++watch)
        out.push_back(result(i, port, *watch, end));
    }
    return out;
  }

 private:
  PortResult result(std::uint32_t index, std::uint16_t port, QueueWatch& watch, Instant end) {
    SwitchNode& node = network_.switch_at(index);
    const SwitchPortCounters& c = node.counters(port);
    const FarEnd far = far_ends_[node.id()][port];
    PortResult out{.name = fmt::format("switch {} port {}", index, port),
                   .peer = name_of(topology_, far.node)};
    out.queue_bytes = {watch.mean_bytes(end), watch.percentile(end, 0.5), watch.percentile(end, 0.99),
                       watch.most_bytes()};
    out.ce_marked = sum(c.marked);
    out.drops = sum(c.drops);
    out.pauses_sent = sum(c.pauses_sent);
    out.pauses_received = sum(c.pauses_received);
    out.paused_ratio = paused_ratio(end, [&](Priority p) { return node.paused_time(end, port, p); });
    out.peer_paused_ratio = paused_ratio(end, [&](Priority p) {
      return topology_.is_host(far.node)
                 ? network_.host(far.node).paused_time(end, p)
                 : network_.switch_at(far.node - topology_.hosts).paused_time(end, far.port, p);
    });
    return out;
  }

  Network& network_;
  const Topology& topology_;
  std::vector<std::vector<FarEnd>> far_ends_;
  std::deque<QueueWatch> watches_;
};

void check(RunResult& out, const Network::Totals& totals, bool is_finished) {
  const auto add = [&](const char* name, bool holds, std::string found) {
    out.checkers.push_back({name, holds, holds ? std::string() : std::move(found)});
  };
  add("no drop in a lossless class", totals.lossless_drops == 0,
      fmt::format("{} drops", totals.lossless_drops));
  add("every byte where it belongs", totals.wrong_bytes == 0,
      fmt::format("{} wrong bytes", totals.wrong_bytes));
  add("every request ends well", totals.failures == 0, fmt::format("{} failed requests", totals.failures));
  add("every packet has a way", totals.unroutable == 0,
      fmt::format("{} packets without a route", totals.unroutable));
  if (is_finished) {
    add("what was acknowledged has arrived", totals.right_bytes >= out.flows.bytes,
        fmt::format("{} bytes arrived, {} were acknowledged", totals.right_bytes, out.flows.bytes));
  }
}

}  // namespace

RunResult run(const Scenario& scenario) {
  Network network(scenario.topology, scenario.options, scenario.flows);
  Watches watches(network, scenario.topology);
  const Instant limit(scenario.limit);
  if (scenario.warm_up > Duration(0)) {
    network.run(Instant(scenario.warm_up));
    watches.restart(Instant(scenario.warm_up));
  }
  const Instant end = network.run(limit);
  const Network::Totals totals = network.totals();
  RunResult out{.scenario = scenario.name, .seed = scenario.options.seed};
  out.virtual_s = (end - Instant()).seconds();
  out.reached_limit = !network.is_finished();
  out.hosts = network.hosts();
  out.switches = network.switches();
  out.packet_hops = totals.packet_hops;
  out.events = totals.events;
  out.event_log_sha256 = network.event_log_sha256();
  out.flows = flows_of(network, end);
  out.ports = watches.results(end);
  for (const PortResult& port : out.ports) {
    out.pause_frames += port.pauses_sent;
    out.ce_marked += port.ce_marked;
  }
  for (NodeId id = 0; id < network.hosts(); ++id) {
    out.cnps_sent += network.host(id).statistics().cnps_sent;
    out.cnps_handled += network.host(id).statistics().cnps_handled;
  }
  check(out, totals, network.is_finished());
  return out;
}

std::string json_of(const RunResult& r, const Resources& resources) {
  JsonWriter out;
  out.begin_object().member("schema_version", kSchemaVersion).member("scenario", r.scenario);
  out.key("run").begin_object();
  out.member("seed", r.seed).member("virtual_s", r.virtual_s).member("reached_limit", r.reached_limit);
  out.member("hosts", r.hosts).member("switches", r.switches);
  out.member("packet_hops", r.packet_hops).member("events", r.events);
  out.member("cpu_seconds", resources.cpu_seconds).member("peak_rss_bytes", resources.peak_rss_bytes);
  out.member("event_log_sha256", r.event_log_sha256).end_object();
  out.key("flows");
  to_json(out, r.flows);
  out.key("pause").begin_object().member("frames", r.pause_frames).end_object();
  out.key("ecn").begin_object();
  out.member("ce_marked", r.ce_marked)
      .member("cnps_sent", r.cnps_sent)
      .member("cnps_handled", r.cnps_handled);
  out.end_object();
  out.key("ports");
  to_json(out, r.ports);
  out.key("checkers");
  to_json(out, r.checkers);
  out.end_object();
  return out.take();
}

}  // namespace rocetune::fabric
