#include "dataplane/fabric/series_recorder.h"

#include <algorithm>
#include <numeric>
#include <tuple>

#include "dataplane/fabric/flow_results.h"

namespace rocetune::fabric {
namespace {

constexpr std::size_t kMostValues = 4'000'000;  // of ports, links and flows x samples that are kept
constexpr std::size_t kMostWatched = 1024;      // that are watched
constexpr std::size_t kMostShown = 16;          // of ports, of links, of flows

// The first of them, and how many there were.
std::size_t keep_first(std::vector<std::size_t>& order) {
  const std::size_t all = order.size();
  if (all > kMostShown) order.resize(kMostShown);
  return all;
}

std::vector<std::size_t> numbers_below(std::size_t end) {
  std::vector<std::size_t> out(end);
  std::iota(out.begin(), out.end(), std::size_t{0});
  return out;
}

}  // namespace

SeriesRecorder::SeriesRecorder(Network& network, const FarEnds& far_ends, std::size_t samples)
    : network_(network), far_ends_(far_ends) {
  for (NodeId id = 0; id < network.hosts(); ++id) {
    if (network.host(id).ports() > 0) links_.push_back({id, 0});
  }
  for (std::uint32_t i = 0; i < network.switches(); ++i) {
    const SwitchNode& node = network.switch_at(i);
    for (std::uint16_t port = 0; port < node.ports(); ++port) places_.push_back({node.id(), port});
  }
  links_.insert(links_.end(), places_.begin(), places_.end());
  network.measure_delays();
  choose_flows();
  const std::size_t values = places_.size() + links_.size() + flows_.size();
  wanted_ = std::max<std::size_t>(16, std::min(samples, kMostValues / std::max<std::size_t>(values, 1)));
}

// The largest, and among equals the first.
void SeriesRecorder::choose_flows() {
  for (NodeId id = 0; id < network_.hosts(); ++id) {
    for (const HostNode::Sending& sending : network_.host(id).sendings()) flows_.push_back({id, &sending});
  }
  all_flows_ = flows_.size();
  std::ranges::stable_sort(flows_, std::greater<>(),
                           [](const WatchedFlow& flow) { return flow.sending->flow.bytes; });
  if (flows_.size() > kMostWatched) flows_.resize(kMostWatched);
}

SeriesRecorder::Sample SeriesRecorder::sample(Instant now) {
  Sample out{.delays_ns = network_.take_delays()};
  for (NodeId id = 0; id < network_.hosts(); ++id) {
    const HostNode& host = network_.host(id);
    out.arrived_bytes += host.tally().right;
    out.cnps_handled += host.statistics().cnps_handled;
    out.retransmitted += host.statistics().retransmitted_frames;
    out.drops += host.receive_drops();
  }
  out.ports.reserve(places_.size());
  for (const PortPlace& place : places_) {
    const SwitchNode& node = network_.switch_at(far_ends_.switch_index(place.node));
    const SwitchPortCounters& c = node.counters(place.port);
    out.ce_marked += SwitchPortCounters::sum(c.marked);
    out.pause_frames +=
        SwitchPortCounters::sum(c.pauses_sent) +
        (far_ends_.is_host(far_ends_.of(place).node) ? SwitchPortCounters::sum(c.pauses_received) : 0);
    out.drops += SwitchPortCounters::sum(c.drops) + c.watchdog_drops + c.link_drops;
    Port port{.queued = node.queued_bytes(place.port)};
    for (int p = 0; p < Priority::kCount; ++p)
      port.held = std::max(port.held, node.held_time(now, place.port, Priority(p)));
    out.ports.push_back(port);
  }
  out.link_bytes.reserve(links_.size());
  for (const PortPlace& place : links_) {
    const Node& node = far_ends_.is_host(place.node) ? static_cast<const Node&>(network_.host(place.node))
                                                     : network_.switch_at(far_ends_.switch_index(place.node));
    out.link_bytes.push_back(node.sent_bytes(place.port));
  }
  out.flow_bytes.reserve(flows_.size());
  for (const WatchedFlow& flow : flows_) {
    const HostNode& to = network_.host(flow.sending->flow.to);
    out.flow_bytes.push_back(network_.host(flow.host).arrived_bytes(*flow.sending, to));
  }
  return out;
}

void SeriesRecorder::take(Instant now) {
  samples_.push_back(sample(now));
  if (samples_.size() < 2 * wanted_) return;
  // The second, fourth ... are at the steps of twice the length.
  for (std::size_t i = 0; i < wanted_; ++i) {
    samples_[2 * i + 1].delays_ns.merge(samples_[2 * i].delays_ns);
    samples_[i] = std::move(samples_[2 * i + 1]);
  }
  samples_.resize(wanted_);
  step_ = step_ * 2;
}

std::vector<std::size_t> SeriesRecorder::busiest_ports() const {
  std::vector<std::size_t> order = numbers_below(places_.size());
  std::vector<std::int64_t> longest(places_.size());
  for (const Sample& s : samples_) {
    for (std::size_t i = 0; i < places_.size(); ++i) longest[i] = std::max(longest[i], s.ports[i].queued);
  }
  const auto held = [&](std::size_t i) { return samples_.back().ports[i].held; };
  std::ranges::stable_sort(order, std::greater<>(),
                           [&](std::size_t i) { return std::pair(longest[i], held(i)); });
  std::erase_if(order, [&](std::size_t i) { return longest[i] == 0 && held(i) == Duration(0); });
  return order;
}

std::vector<std::size_t> SeriesRecorder::busiest_links() const {
  std::vector<std::size_t> order = numbers_below(links_.size());
  const auto load = [&](std::size_t i) {
    return static_cast<double>(samples_.back().link_bytes[i]) /
           static_cast<double>(far_ends_.rate(links_[i]).count());
  };
  std::ranges::stable_sort(order, std::greater<>(), load);
  std::erase_if(order, [&](std::size_t i) { return samples_.back().link_bytes[i] == 0; });
  return order;
}

// The largest; among equals those that took longest, or that have had least when the run ended.
std::vector<std::size_t> SeriesRecorder::flows_to_show() const {
  std::vector<std::size_t> order = numbers_below(flows_.size());
  const auto rank = [&](std::size_t i) {
    const HostNode::Sending& sending = *flows_[i].sending;
    const bool is_finished = sending.outcome.finished != Instant::never();
    const Duration took = is_finished ? sending.outcome.finished - sending.flow.start : Duration::max();
    return std::tuple(sending.flow.bytes, took, ~sending.outcome.completed_bytes);
  };
  std::ranges::stable_sort(order, std::greater<>(), rank);
  return order;
}

void SeriesRecorder::add_ports(TimeSeries& out) const {
  std::vector<std::size_t> order = busiest_ports();
  out.ports_left_out = keep_first(order) - order.size();
  for (const std::size_t i : order) {
    PortSeries& port = out.ports.emplace_back();
    port.name = far_ends_.name(places_[i]);
    port.peer = far_ends_.name(far_ends_.of(places_[i]).node);
    Duration held;
    for (const Sample& s : samples_) {
      port.queue_bytes.push_back(s.ports[i].queued);
      port.paused_ratio.push_back((s.ports[i].held - held).seconds() / step_.seconds());
      held = s.ports[i].held;
    }
  }
}

namespace {

// What is counted up to each sample, as Gb/s of its step.
template <class Samples, class Count>
std::vector<double> rates_of(const Samples& samples, Duration step, const Count& count) {
  std::vector<double> out;
  std::uint64_t before = 0;
  for (const auto& sample : samples) {
    const std::uint64_t now = count(sample);
    out.push_back(static_cast<double>(now - before) * 8 / step.seconds() / 1e9);
    before = now;
  }
  return out;
}

}  // namespace

void SeriesRecorder::add_links(TimeSeries& out) const {
  std::vector<std::size_t> order = busiest_links();
  out.links_left_out = keep_first(order) - order.size();
  for (const std::size_t i : order) {
    out.links.push_back(
        {.name = far_ends_.name(links_[i]),
         .peer = far_ends_.name(far_ends_.of(links_[i]).node),
         .rate_gbps = static_cast<double>(far_ends_.rate(links_[i]).count()) / 1e9,
         .throughput_gbps = rates_of(samples_, step_, [&](const Sample& s) { return s.link_bytes[i]; })});
  }
}

void SeriesRecorder::add_flows(TimeSeries& out) const {
  std::vector<std::size_t> order = flows_to_show();
  keep_first(order);
  out.flows_left_out = all_flows_ - order.size();
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return flows_[i].sending->flow.start; });
  for (const std::size_t i : order) {
    out.flows.push_back(
        {.name = name_of(flows_[i].sending->flow),
         .goodput_gbps = rates_of(samples_, step_, [&](const Sample& s) { return s.flow_bytes[i]; })});
  }
}

TimeSeries SeriesRecorder::result() const {
  TimeSeries out{.step_us = step_.seconds() * 1e6};
  if (samples_.empty()) return out;
  const Sample nothing;
  const Sample* before = &nothing;
  out.goodput_gbps = rates_of(samples_, step_, [](const Sample& s) { return s.arrived_bytes; });
  for (const Sample& s : samples_) {
    out.queued_bytes.push_back(std::accumulate(s.ports.begin(), s.ports.end(), std::int64_t{0},
                                               [](std::int64_t n, const Port& p) { return n + p.queued; }));
    auto& delay = out.delay_p99_us.emplace_back();
    if (s.delays_ns.count() > 0)
      delay = static_cast<double>(s.delays_ns.percentile(Ratio::of(99, 100))) / 1e3;
    out.ce_marked.push_back(s.ce_marked - before->ce_marked);
    out.cnps_handled.push_back(s.cnps_handled - before->cnps_handled);
    out.pause_frames.push_back(s.pause_frames - before->pause_frames);
    out.drops.push_back(s.drops - before->drops);
    out.retransmitted_frames.push_back(s.retransmitted - before->retransmitted);
    before = &s;
  }
  add_ports(out);
  add_links(out);
  add_flows(out);
  return out;
}

}  // namespace rocetune::fabric
