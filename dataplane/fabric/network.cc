#include "dataplane/fabric/network.h"

#include <algorithm>

#include "dataplane/base/sha256.h"

namespace rocetune::fabric {

Network::Exchanges Network::exchanges_of(const Job& job) {
  Exchanges out;
  for (std::uint32_t step = 0; step < job.steps.size(); ++step) {
    for (Rank rank = 0; rank < job.hosts.size(); ++rank) {
      for (const JobMessage& message : messages_of(job, step, rank)) {
        Exchange& exchange = out[std::minmax(rank, message.to)];
        (rank < message.to ? exchange.forward : exchange.backward) += message.bytes * job.repeat;
      }
    }
  }
  return out;
}

std::vector<HostNode::Capacity> Network::capacities(std::size_t hosts, std::span<const Flow> flows,
                                                    const std::vector<Exchanges>& exchanges) const {
  std::vector<HostNode::Capacity> out(hosts);
  for (const Flow& flow : flows) {
    for (const NodeId end : {flow.from, flow.to}) {
      ++out[end].queue_pairs;
      ++out[end].regions;
    }
    out[flow.from].send_requests += flow.window;
  }
  for (std::size_t job = 0; job < jobs_.size(); ++job) {
    for (const auto& [pair, exchange] : exchanges[job]) {
      for (const Rank rank : {pair.first, pair.second}) {
        HostNode::Capacity& capacity = out[jobs_[job].hosts[rank]];
        ++capacity.queue_pairs;
        capacity.regions += 2;
        capacity.send_requests += jobs_[job].window;
        capacity.receive_requests += jobs_[job].window;
      }
    }
  }
  return out;
}

Network::Network(const Topology& topology, const NetworkOptions& options, std::span<const Flow> flows,
                 std::span<const Job> jobs)
    : options_(options), jobs_(jobs.begin(), jobs.end()) {
  routes_.push_back(std::make_unique<Routes>(graph_of(topology)));
  shared_.next.assign(topology.hosts + topology.switches, Instant::never());
  std::vector<Exchanges> exchanges;
  for (const Job& job : jobs_) exchanges.push_back(exchanges_of(job));
  build_nodes(topology, capacities(topology.hosts, flows, exchanges));
  add_links(topology);
  for (Node* node : nodes_) node->start();
  plan_faults(topology);
  add_traffic(flows, exchanges);
}

void Network::build_nodes(const Topology& topology, const std::vector<HostNode::Capacity>& capacities) {
  std::vector<BitRate> rate_of_host(topology.hosts);
  for (const LinkSpec& link : topology.links) {
    if (topology.is_host(link.a)) rate_of_host[link.a] = link.rate;
    if (topology.is_host(link.b)) rate_of_host[link.b] = link.rate;
    window_ = std::min(window_, link.delay);
  }
  for (NodeId id = 0; id < topology.hosts; ++id) {
    const auto own = options_.own_host.find(id);
    hosts_.push_back(std::make_unique<HostNode>(id, shared_,
                                                own == options_.own_host.end() ? options_.host : own->second,
                                                rate_of_host[id], options_.seed, capacities[id]));
    nodes_.push_back(hosts_.back().get());
  }
  for (std::uint32_t i = 0; i < topology.switches; ++i) {
    const NodeId id = topology.switch_id(i);
    const auto own = options_.own_switch.find(i);
    switches_.push_back(std::make_unique<SwitchNode>(
        id, shared_, own == options_.own_switch.end() ? options_.switches : own->second,
        routes_.front()->of(id), options_.seed));
    nodes_.push_back(switches_.back().get());
  }
}

void Network::add_links(const Topology& topology) {
  for (const LinkSpec& link : topology.links) {
    pipes_.push_back(std::make_unique<Pipe>(link.delay, link.loss));
    Pipe& there = *pipes_.back();
    pipes_.push_back(std::make_unique<Pipe>(link.delay, link.loss));
    Pipe& back = *pipes_.back();
    nodes_[link.a]->add_port(back, there, link.b, link.rate);
    nodes_[link.b]->add_port(there, back, link.a, link.rate);
  }
}

void Network::plan_faults(const Topology& topology) {
  // By link: which port it is at either end.
  std::vector<std::uint16_t> ports(topology.hosts + topology.switches);
  std::vector<std::pair<std::uint16_t, std::uint16_t>> ends;
  for (const LinkSpec& link : topology.links) ends.emplace_back(ports[link.a]++, ports[link.b]++);
  const auto plan_link = [&](const Fault& fault, LinkChange::Kind kind) {
    const LinkSpec& link = topology.links[fault.link];
    const LinkChange change{.at = fault.at, .kind = kind, .rate = fault.rate, .loss = fault.loss};
    nodes_[link.a]->plan(ends[fault.link].first, change);
    nodes_[link.b]->plan(ends[fault.link].second, change);
    wake(link.a, fault.at);
    wake(link.b, fault.at);
  };
  for (const Fault& fault : options_.faults) {
    switch (fault.kind) {
      case Fault::Kind::link_down:
        plan_link(fault, LinkChange::Kind::down);
        break;
      case Fault::Kind::link_up:
        plan_link(fault, LinkChange::Kind::up);
        break;
      case Fault::Kind::link_rate:
        plan_link(fault, LinkChange::Kind::rate);
        break;
      case Fault::Kind::link_loss:
        plan_link(fault, LinkChange::Kind::loss);
        break;
      case Fault::Kind::receive_rate:
        hosts_[fault.host]->plan_receive_rate(fault.at, fault.rate);
        wake(fault.host, fault.at);
        break;
      case Fault::Kind::switch_classes:
        switches_[fault.switch_index]->plan_change(fault.at, &fault.classes, nullptr);
        wake(topology.switch_id(fault.switch_index), fault.at);
        break;
    }
  }
  for (std::uint32_t i = 0; i < topology.switches; ++i) {
    if (options_.switches.watchdog || options_.own_switch.contains(i)) wake(topology.switch_id(i), Instant());
  }
  if (options_.reroute_after) plan_routes(topology);
}

// Whenever a link between switches has failed or come back, all switches have new routes a while later.
void Network::plan_routes(const Topology& topology) {
  std::vector<const Fault*> changes;
  for (const Fault& fault : options_.faults) {
    if (fault.kind == Fault::Kind::link_down || fault.kind == Fault::Kind::link_up) changes.push_back(&fault);
  }
  std::ranges::stable_sort(changes, {}, [](const Fault* fault) { return fault->at; });
  std::vector<bool> is_down(topology.links.size());
  for (const Fault* fault : changes) {
    const LinkSpec& link = topology.links[fault->link];
    if (topology.is_host(link.a) || topology.is_host(link.b)) continue;
    is_down[fault->link] = fault->kind == Fault::Kind::link_down;
    routes_.push_back(std::make_unique<Routes>(graph_of(topology, is_down)));
    const Instant at = fault->at + *options_.reroute_after;
    for (std::uint32_t i = 0; i < topology.switches; ++i) {
      const NodeId id = topology.switch_id(i);
      switches_[i]->plan_change(at, nullptr, &routes_.back()->of(id));
      wake(id, at);
    }
  }
}

void Network::add_traffic(std::span<const Flow> flows, const std::vector<Exchanges>& exchanges) {
  parties_ = flows.size();
  std::uint32_t number = 0;
  for (const Flow& flow : flows) {
    HostNode::connect(*hosts_[flow.from], *hosts_[flow.to], flow, number++);
    wake(flow.from, flow.start);
    planned_bytes_ += flow.bytes;
  }
  for (std::size_t j = 0; j < jobs_.size(); ++j) {
    const Job& job = jobs_[j];
    parties_ += job.hosts.size();
    std::vector<std::uint32_t>& parts = parts_.emplace_back();
    for (Rank rank = 0; rank < job.hosts.size(); ++rank) {
      parts.push_back(hosts_[job.hosts[rank]]->add_rank(job, rank));
      wake(job.hosts[rank], job.start);
    }
    for (const auto& [pair, exchange] : exchanges[j]) {
      const auto [low, high] = pair;
      HostNode::join({*hosts_[job.hosts[low]], parts[low], exchange.forward},
                     {*hosts_[job.hosts[high]], parts[high], exchange.backward}, number++);
      planned_bytes_ += exchange.forward + exchange.backward;
    }
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

std::uint64_t Network::completed_bytes() const {
  std::uint64_t sum = 0;
  for (const auto& host : hosts_) sum += host->completed_bytes();
  return sum;
}

Network::Totals Network::totals() const {
  Totals out;
  for (const Node* node : nodes_) {
    out.events += node->events();
    out.packet_hops += node->packet_hops();
    out.lost_frames += node->lost_frames();
  }
  for (const auto& host : hosts_) {
    out.failures += host->failures();
    out.right_bytes += host->tally().right;
    out.wrong_bytes += host->tally().wrong + host->tally().unexpected;
    out.receive_drops += host->receive_drops();
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
