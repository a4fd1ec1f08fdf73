#include "dataplane/fabric/network.h"

#include <algorithm>

#include "dataplane/base/sha256.h"

namespace rocetune::fabric {
namespace {

// What a host has to be prepared for.
struct Load {
  std::uint32_t sends = 0;
  std::uint32_t receives = 0;
  std::uint32_t largest_window = 1;
};

std::vector<Load> loads_of(std::uint32_t hosts, std::span<const Flow> flows) {
  std::vector<Load> loads(hosts);
  for (const Flow& flow : flows) {
    ++loads[flow.from].sends;
    ++loads[flow.to].receives;
    loads[flow.from].largest_window = std::max(loads[flow.from].largest_window, flow.window);
  }
  return loads;
}

}  // namespace

Network::Network(const Topology& topology, const NetworkOptions& options, std::span<const Flow> flows)
    : options_(options), flows_(flows.size()) {
  routes_ = std::make_unique<Routes>(graph_of(topology));
  shared_.next.assign(topology.hosts + topology.switches, Instant::never());
  std::vector<BitRate> rate_of_host(topology.hosts);
  for (const LinkSpec& link : topology.links) {
    if (topology.is_host(link.a)) rate_of_host[link.a] = link.rate;
    if (topology.is_host(link.b)) rate_of_host[link.b] = link.rate;
    window_ = std::min(window_, link.delay);
  }
  const std::vector<Load> loads = loads_of(topology.hosts, flows);
  for (NodeId id = 0; id < topology.hosts; ++id) {
    hosts_.push_back(std::make_unique<HostNode>(id, shared_, options_.host, rate_of_host[id], loads[id].sends,
                                                loads[id].receives, loads[id].largest_window));
    nodes_.push_back(hosts_.back().get());
  }
  for (std::uint32_t i = 0; i < topology.switches; ++i) {
    const NodeId id = topology.switch_id(i);
    switches_.push_back(
        std::make_unique<SwitchNode>(id, shared_, options_.switches, routes_->of(id), options_.seed));
    nodes_.push_back(switches_.back().get());
  }
  for (const LinkSpec& link : topology.links) {
    pipes_.push_back(std::make_unique<Pipe>(link.delay));
    Pipe& there = *pipes_.back();
    pipes_.push_back(std::make_unique<Pipe>(link.delay));
    Pipe& back = *pipes_.back();
    nodes_[link.a]->add_port(back, there, link.b, link.rate);
    nodes_[link.b]->add_port(there, back, link.a, link.rate);
  }
  for (Node* node : nodes_) node->start();
  for (std::uint32_t i = 0; i < flows.size(); ++i) {
    HostNode::connect(*hosts_[flows[i].from], *hosts_[flows[i].to], flows[i], i);
    Instant& next = shared_.next[flows[i].from];
    next = std::min(next, flows[i].start);
  }
}

Instant Network::run(Instant until) {
  Instant now;
  while (!is_finished()) {
    const Instant first = *std::ranges::min_element(shared_.next);
    if (first >= until) return until;
    now = first;
    const Instant end = std::min(first + window_, until);
    for (Node* node : nodes_) {
      if (shared_.next[node->id()] < end) node->run(end);
    }
  }
  return now;
}

Network::Totals Network::totals() const {
  Totals out;
  for (const Node* node : nodes_) {
    out.events += node->events();
    out.packet_hops += node->packet_hops();
  }
  for (const auto& host : hosts_) {
    out.failures += host->failures();
    out.right_bytes += host->tally().right;
    out.wrong_bytes += host->tally().wrong + host->tally().unexpected;
  }
  for (const auto& node : switches_) {
    out.lossless_drops += node->lossless_drops();
    out.unroutable += node->unroutable();
  }
  return out;
}

std::string Network::event_log_sha256() const {
  Sha256 sha;
  for (const Node* node : nodes_) sha.add(node->digest().value());
  return to_text(sha.finish());
}

}  // namespace rocetune::fabric
