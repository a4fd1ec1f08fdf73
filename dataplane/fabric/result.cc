#include "dataplane/fabric/result.h"

#include <fmt/core.h>

#include <algorithm>
#include <deque>
#include <numeric>

#include "dataplane/fabric/deadlock_finder.h"
#include "dataplane/fabric/flow_results.h"
#include "dataplane/fabric/job_result.h"
#include "dataplane/fabric/pause_tree.h"
#include "dataplane/fabric/series_recorder.h"

namespace rocetune::fabric {
namespace {

constexpr int kSchemaVersion = 1;

// The most paused priority's share of the time up to `end`.
template <class PausedTime>
double paused_ratio(Instant end, const PausedTime& paused_time) {
  Duration most;
  for (int p = 0; p < Priority::kCount; ++p) most = std::max(most, paused_time(Priority(p)));
  return end > Instant() ? most.seconds() / (end - Instant()).seconds() : 0;
}

// Watches every port of every switch.
class Watches {
 public:
  Watches(Network& network, const FarEnds& far_ends) : network_(network), far_ends_(far_ends) {
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
    out.reserve(watches_.size());
    auto watch = watches_.begin();
    for (std::uint32_t i = 0; i < network_.switches(); ++i) {
      for (std::uint16_t port = 0; port < network_.switch_at(i).ports(); ++port, ++watch)
        out.push_back(result(i, port, *watch, end));
    }
    return out;
  }

 private:
  PortResult result(std::uint32_t index, std::uint16_t port, QueueWatch& watch, Instant end) {
    const SwitchNode& node = network_.switch_at(index);
    const SwitchPortCounters& c = node.counters(port);
    const PortPlace place{node.id(), port};
    const PortPlace far = far_ends_.of(place);
    PortResult out{.name = far_ends_.name(place), .peer = far_ends_.name(far.node)};
    out.queue_bytes = {.mean = watch.mean_bytes(end),
                       .p50 = watch.percentile(end, 0.5),
                       .p95 = watch.percentile(end, 0.95),
                       .p99 = watch.percentile(end, 0.99),
                       .max = watch.most_bytes()};
    out.ce_marked = SwitchPortCounters::sum(c.marked);
    out.drops = SwitchPortCounters::sum(c.drops);
    out.pauses_sent = SwitchPortCounters::sum(c.pauses_sent);
    out.pauses_received = SwitchPortCounters::sum(c.pauses_received);
    out.paused_ratio = paused_ratio(end, [&](Priority p) { return node.held_time(end, port, p); });
    out.peer_paused_ratio = paused_ratio(end, [&](Priority p) {
      return far_ends_.is_host(far.node)
                 ? network_.host(far.node).held_time(end, p)
                 : network_.switch_at(far_ends_.switch_index(far.node)).held_time(end, far.port, p);
    });
    return out;
  }

  Network& network_;
  const FarEnds& far_ends_;
  std::deque<QueueWatch> watches_;
};

bool agrees(const HostParameters& host, const SwitchParameters& switches) {
  return host.receiver.buffer.lossless == switches.ingress.lossless &&
         host.priority_of == switches.priority_of;
}

// A class that loses its PFC while it holds a peer does not say so: its pauses run out.
bool changes_classes(const Scenario& scenario) {
  return std::ranges::any_of(scenario.options.faults,
                             [](const Fault& f) { return f.kind == Fault::Kind::switch_classes; });
}

// Whether all agree about classes: else one does not hear the pauses of another, as in life.
bool have_one_map(const Scenario& scenario) {
  return scenario.options.own_switch.empty() &&
         std::ranges::all_of(
             scenario.options.own_host,
             [&](const auto& own) { return agrees(own.second, scenario.options.switches); }) &&
         !changes_classes(scenario);
}

// Whether something in the scenario takes frames away that nobody had to.
bool may_lose(const Scenario& scenario) {
  return !scenario.options.faults.empty() ||
         std::ranges::any_of(scenario.topology.links, [](const LinkSpec& link) { return link.is_lossy(); });
}

// Whether a guard against storms did: whoever is hit often enough runs out of retries.
bool has_dropped_in_storms(const RunResult& out) { return out.storms > 0 || out.receive_drops > 0; }

// Whether switches have sent where they were told not to: there may be no room for it.
bool has_overruled_pauses(const RunResult& out, const Scenario& scenario) {
  const auto& watchdog = scenario.options.switches.watchdog;
  return out.storms > 0 && watchdog && watchdog->action == WatchdogParameters::Action::forward;
}

void check(RunResult& out, const Network::Totals& totals, const Scenario& scenario, bool is_finished) {
  const auto add = [&](const char* name, bool holds, std::string found) {
    out.checkers.push_back({name, holds, holds ? std::string() : std::move(found)});
  };
  if (have_one_map(scenario) && !has_overruled_pauses(out, scenario)) {
    add("no drop in a lossless class", totals.lossless_drops == 0,
        fmt::format("{} drops: headroom or buffer are too small", totals.lossless_drops));
  }
  if (!changes_classes(scenario)) {
    add("no empty buffer holds its peer", totals.forgotten_pauses == 0,
        fmt::format("{} classes of ports", totals.forgotten_pauses));
  }
  add("every byte where it belongs", totals.wrong_bytes == 0,
      fmt::format("{} wrong bytes", totals.wrong_bytes));
  if (!may_lose(scenario)) {
    if (!has_dropped_in_storms(out)) {
      add("every request ends well", totals.failures == 0,
          fmt::format("{} failed requests", totals.failures));
    }
    add("every packet has a way", totals.unroutable == 0,
        fmt::format("{} packets without a route", totals.unroutable));
  }
  if (is_finished) {
    add("what was acknowledged has arrived", totals.right_bytes >= out.flows.bytes,
        fmt::format("{} bytes arrived, {} were acknowledged", totals.right_bytes, out.flows.bytes));
  }
}

// Looks for deadlocks this often; a pause of ordinary congestion is over sooner.
Duration look_interval(const Scenario& scenario) {
  return std::clamp(scenario.limit / 200, microseconds(50), milliseconds(1));
}

NetworkOptions with_threads(NetworkOptions options, std::size_t threads) {
  options.threads = threads;
  return options;
}

// Drives the network from one moment to look at it to the next.
class Run {
 public:
  Run(const Scenario& scenario, const RunOptions& options)
      : scenario_(scenario),
        options_(options),
        network_(scenario.topology, with_threads(scenario.options, options.threads), scenario.flows,
                 scenario.jobs),
        far_ends_(scenario.topology),
        watches_(network_, far_ends_),
        deadlocks_(network_, far_ends_),
        limit_(scenario.limit),
        warm_up_(scenario.warm_up > Duration(0) ? Instant(scenario.warm_up) : Instant::never()),
        look_(look_interval(scenario)) {
    if (options.samples > 0) series_.emplace(network_, far_ends_, options.samples);
  }

  RunResult run() {
    if (options_.on_begin) options_.on_begin(network_);
    while (!network_.is_finished() && end_ < limit_ && !(deadlock_ && !has_watchdog()) &&
           !options_.stop.stop_requested())
      step();
    if (options_.on_end) options_.on_end(network_, end_);
    return result();
  }

 private:
  void step() {
    const Instant sample = series_ ? series_->next() : Instant::never();
    const Instant until = std::min({limit_, warm_up_, look_, sample});
    end_ = network_.run(until, options_.stop);
    if (options_.stop.stop_requested()) return;
    if (network_.is_finished() && end_ < until) return;
    if (end_ == warm_up_) {
      watches_.restart(end_);
      warm_up_ = Instant::never();
    }
    if (end_ == sample) series_->take(end_);
    if (end_ == look_) {
      look_ = end_ + look_interval(scenario_);
      if (!deadlock_) deadlock_ = deadlocks_.look(end_);
      tell_progress();
    }
  }
  void tell_progress() const {
    if (!options_.on_progress) return;
    const double traffic = static_cast<double>(network_.completed_bytes()) /
                           std::max(static_cast<double>(network_.planned_bytes()), 1.0);
    const double time = (end_ - Instant()).seconds() / scenario_.limit.seconds();
    options_.on_progress(std::min(std::max(traffic, time), 1.0));
  }
  bool has_watchdog() const { return scenario_.options.switches.watchdog.has_value(); }

  RunResult result() {
    const Network::Totals totals = network_.totals();
    RunResult out{.scenario = scenario_.name,
                  .description = scenario_.description,
                  .seed = scenario_.options.seed,
                  .lesson = scenario_.lesson};
    out.virtual_s = (end_ - Instant()).seconds();
    out.reached_limit = end_ >= limit_ && !network_.is_finished();
    out.hosts = scenario_.topology.end_hosts();
    out.switches = network_.switches();
    out.packet_hops = totals.packet_hops;
    out.events = totals.events;
    out.event_log_sha256 = network_.event_log_sha256();
    out.flows = flow_results(network_, end_);
    out.jobs = job_results(network_);
    if (out.virtual_s > 0)
      out.goodput_gbps = static_cast<double>(network_.completed_bytes()) * 8 / out.virtual_s / 1e9;
    out.failed_requests = totals.failures;
    out.lossless_drops = totals.lossless_drops;
    out.lost_frames = totals.lost_frames;
    out.receive_drops = totals.receive_drops;
    out.ports = watches_.results(end_);
    add_sums(out);
    out.pause_tree = pause_tree(network_, far_ends_, end_);
    out.deadlock = deadlock_;
    out.theory = theory_of(scenario_);
    if (series_) out.series = series_->result();
    check(out, totals, scenario_, network_.is_finished());
    look_for(out.lesson, out);
    return out;
  }
  void add_sums(RunResult& out) const {
    for (const PortResult& port : out.ports) {
      out.pause_frames += port.pauses_sent;
      out.ce_marked += port.ce_marked;
      out.drops += port.drops;
    }
    for (std::uint32_t i = 0; i < network_.switches(); ++i) {
      const SwitchNode& node = network_.switch_at(i);
      for (std::uint16_t port = 0; port < node.ports(); ++port) {
        const SwitchPortCounters& c = node.counters(port);
        out.watchdog_drops += c.watchdog_drops;
        out.link_drops += c.link_drops;
        out.storms += node.storms(port);
        if (far_ends_.is_host(far_ends_.of({node.id(), port}).node))
          out.pause_frames += SwitchPortCounters::sum(c.pauses_received);
      }
    }
    for (NodeId id = 0; id < network_.hosts(); ++id) {
      const HostNode& host = network_.host(id);
      out.cnps_sent += host.statistics().cnps_sent;
      out.cnps_handled += host.statistics().cnps_handled;
      out.storms_prevented += host.storms_prevented();
    }
  }

  const Scenario& scenario_;
  const RunOptions& options_;
  Network network_;
  FarEnds far_ends_;
  Watches watches_;
  DeadlockFinder deadlocks_;
  std::optional<SeriesRecorder> series_;
  Instant end_;
  Instant limit_;
  Instant warm_up_;
  Instant look_;
  std::optional<Deadlock> deadlock_;
};

}  // namespace

RunResult run(const Scenario& scenario, const RunOptions& options) { return Run(scenario, options).run(); }

std::string json_of(const RunResult& r, const Resources& resources) {
  JsonWriter out;
  out.begin_object().member("schema_version", kSchemaVersion).member("scenario", r.scenario);
  out.member("description", r.description);
  out.key("lesson");
  to_json(out, r.lesson);
  out.key("run").begin_object();
  out.member("seed", r.seed).member("virtual_s", r.virtual_s).member("reached_limit", r.reached_limit);
  out.member("hosts", r.hosts).member("switches", r.switches);
  out.member("packet_hops", r.packet_hops).member("events", r.events);
  out.member("cpu_seconds", resources.cpu_seconds).member("peak_rss_bytes", resources.peak_rss_bytes);
  out.member("event_log_sha256", r.event_log_sha256).end_object();
  out.key("flows");
  to_json(out, r.flows);
  out.key("jobs");
  to_json(out, r.jobs);
  out.member("goodput_gbps", r.goodput_gbps);
  out.key("pause").begin_object().member("frames", r.pause_frames);
  out.member("storms", r.storms).member("storms_prevented", r.storms_prevented);
  out.key("tree");
  to_json(out, r.pause_tree);
  out.key("deadlock");
  to_json(out, r.deadlock);
  out.end_object();
  out.key("ecn").begin_object();
  out.member("ce_marked", r.ce_marked)
      .member("cnps_sent", r.cnps_sent)
      .member("cnps_handled", r.cnps_handled);
  out.end_object();
  out.key("loss").begin_object();
  out.member("packets", r.lost_packets())
      .member("switch_drops", r.drops)
      .member("watchdog_drops", r.watchdog_drops);
  out.member("link_drops", r.link_drops).member("lost_frames", r.lost_frames);
  out.member("receive_drops", r.receive_drops).member("failed_requests", r.failed_requests).end_object();
  out.key("ports");
  to_json(out, r.ports);
  out.key("checkers");
  to_json(out, r.checkers);
  if (r.theory) {
    out.key("theory");
    to_json(out, *r.theory);
  }
  if (r.series) {
    out.key("series");
    to_json(out, *r.series);
  }
  out.end_object();
  return out.take();
}

}  // namespace rocetune::fabric
