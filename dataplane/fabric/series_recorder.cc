#include "dataplane/fabric/series_recorder.h"

#include <algorithm>
#include <numeric>

namespace rocetune::fabric {
namespace {

constexpr std::size_t kMostValues = 2'000'000;  // of ports x samples that are kept
constexpr std::size_t kPortsShown = 16;

}  // namespace

SeriesRecorder::SeriesRecorder(const Network& network, const FarEnds& far_ends, std::size_t samples)
    : network_(network), far_ends_(far_ends) {
  for (std::uint32_t i = 0; i < network.switches(); ++i) {
    const SwitchNode& node = network.switch_at(i);
    for (std::uint16_t port = 0; port < node.ports(); ++port) places_.push_back({node.id(), port});
  }
  wanted_ = std::clamp<std::size_t>(kMostValues / std::max<std::size_t>(places_.size(), 1), 16, samples);
}

SeriesRecorder::Sample SeriesRecorder::sample(Instant now) const {
  Sample out;
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
  return out;
}

void SeriesRecorder::take(Instant now) {
  samples_.push_back(sample(now));
  if (samples_.size() < 2 * wanted_) return;
  // The second, fourth ... are at the steps of twice the length.
  for (std::size_t i = 0; i < wanted_; ++i) samples_[i] = std::move(samples_[2 * i + 1]);
  samples_.resize(wanted_);
  step_ = step_ * 2;
}

std::vector<std::size_t> SeriesRecorder::busiest() const {
  std::vector<std::size_t> order(places_.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::vector<std::int64_t> longest(places_.size());
  for (const Sample& s : samples_) {
    for (std::size_t i = 0; i < places_.size(); ++i) longest[i] = std::max(longest[i], s.ports[i].queued);
  }
  std::ranges::stable_sort(order, std::greater<>(), [&](std::size_t i) {
    return std::pair(longest[i], samples_.empty() ? Duration(0) : samples_.back().ports[i].held);
  });
  std::erase_if(order, [&](std::size_t i) {
    return longest[i] == 0 && (samples_.empty() || samples_.back().ports[i].held == Duration(0));
  });
  if (order.size() > kPortsShown) order.resize(kPortsShown);
  return order;
}

TimeSeries SeriesRecorder::result() const {
  TimeSeries out{.step_us = step_.seconds() * 1e6};
  const Sample nothing;
  const Sample* before = &nothing;
  const double bits = 8 / step_.seconds() / 1e9;
  for (const Sample& s : samples_) {
    out.goodput_gbps.push_back(static_cast<double>(s.arrived_bytes - before->arrived_bytes) * bits);
    out.queued_bytes.push_back(std::accumulate(s.ports.begin(), s.ports.end(), std::int64_t{0},
                                               [](std::int64_t n, const Port& p) { return n + p.queued; }));
    out.ce_marked.push_back(s.ce_marked - before->ce_marked);
    out.cnps_handled.push_back(s.cnps_handled - before->cnps_handled);
    out.pause_frames.push_back(s.pause_frames - before->pause_frames);
    out.drops.push_back(s.drops - before->drops);
    out.retransmitted_frames.push_back(s.retransmitted - before->retransmitted);
    before = &s;
  }
  for (const std::size_t i : busiest()) {
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
  return out;
}

}  // namespace rocetune::fabric
