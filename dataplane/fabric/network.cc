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
      if (are_neighbours(jobs_[job], pair)) continue;
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
    : options_(options),
      reducer_(options.host),
      end_hosts_(topology.end_hosts()),
      rate_of_host_(host_rates_of(topology)),
      jobs_(jobs.begin(), jobs.end()) {
  reducer_.receiver = {};
  for (const std::uint32_t index : topology.reducers) {
    const NodeId at = topology.switch_id(index);
    BitRate& fastest = uplink_of_.emplace_back();
    for (const LinkSpec& link : topology.links) {
      if ((link.a == at || link.b == at) && !topology.is_host(std::min(link.a, link.b)))
        fastest = std::max(fastest, link.rate);
    }
  }
  routes_.push_back(std::make_unique<Routes>(graph_of(topology)));
  share_out(topology);
  std::vector<Exchanges> exchanges;
  for (const Job& job : jobs_) exchanges.push_back(exchanges_of(job));
  build_nodes(topology, capacities(topology.hosts, flows, exchanges));
  add_links(topology);
  if (!jobs_.empty() && options_.server.hosts > 1) add_servers(end_hosts_);
  for (Node* node : nodes_) node->start();
  plan_faults(topology);
  add_traffic(flows, exchanges);
  for (const Node* node : nodes_) {
    next_.push_back(node->next());
    Lane& lane = lanes_[lane_of_[node->id()]];
    lane.next = std::min(lane.next, node->next());
  }
}

// A switch and its hosts stay together, and each lane has about as many ends of links as the others.
void Network::share_out(const Topology& topology) {
  const std::size_t lanes = std::clamp<std::size_t>(options_.threads, 1, std::max(1U, topology.switches));
  for (std::size_t i = 0; i < lanes; ++i) lanes_.emplace_back(pages_, lanes);
  nodes_of_.resize(lanes);
  std::vector<std::size_t> weight(topology.switches);
  for (const LinkSpec& link : topology.links) {
    for (const auto& [end, other] : {std::pair(link.a, link.b), std::pair(link.b, link.a)}) {
      if (!topology.is_host(end)) weight[end - topology.hosts] += topology.is_host(other) ? 2 : 1;
    }
  }
  std::size_t all = 0;
  for (const std::size_t w : weight) all += w;
  lane_of_.assign(topology.hosts + topology.switches, 0);
  std::size_t sum = 0;
  for (std::uint32_t i = 0; i < topology.switches; ++i) {
    lane_of_[topology.switch_id(i)] = std::min(sum * lanes / std::max<std::size_t>(all, 1), lanes - 1);
    sum += weight[i];
  }
  for (const LinkSpec& link : topology.links) {
    if (topology.is_host(link.a)) lane_of_[link.a] = lane_of_[link.b];
    if (topology.is_host(link.b)) lane_of_[link.b] = lane_of_[link.a];
  }
  if (lanes > 1) crew_ = std::make_unique<Crew>(lanes - 1);
}

void Network::build_nodes(const Topology& topology, const std::vector<HostNode::Capacity>& capacities) {
  for (const LinkSpec& link : topology.links) window_ = std::min(window_, link.delay);
  for (NodeId id = 0; id < topology.hosts; ++id) {
    const auto own = options_.own_host.find(id);
    const HostParameters& usual = topology.is_reducer(id) ? reducer_ : options_.host;
    hosts_.push_back(std::make_unique<HostNode>(id, lanes_[lane_of_[id]],
                                                own == options_.own_host.end() ? usual : own->second,
                                                rate_of_host_[id], options_.seed, capacities[id]));
    nodes_.push_back(hosts_.back().get());
  }
  for (std::uint32_t i = 0; i < topology.switches; ++i) {
    const NodeId id = topology.switch_id(i);
    const auto own = options_.own_switch.find(i);
    switches_.push_back(std::make_unique<SwitchNode>(
        id, lanes_[lane_of_[id]], own == options_.own_switch.end() ? options_.switches : own->second,
        routes_.front()->of(id), options_.seed));
    nodes_.push_back(switches_.back().get());
  }
  for (Node* node : nodes_) nodes_of_[lane_of_[node->id()]].push_back(node);
}

Pipe& Network::add_pipe(Duration delay, Ratio loss, const Node& from, const Node& to) {
  const bool is_shared = lane_of_[from.id()] == lane_of_[to.id()];
  const auto port = static_cast<std::uint16_t>(to.ports());
  return *pipes_.emplace_back(std::make_unique<Pipe>(delay, loss, to.id(), port, is_shared));
}

void Network::add_links(const Topology& topology) {
  std::vector<std::size_t> ports(nodes_.size());
  for (const LinkSpec& link : topology.links) {
    ++ports[link.a];
    ++ports[link.b];
  }
  for (Node* node : nodes_) node->reserve_ports(ports[node->id()]);
  for (const LinkSpec& link : topology.links) {
    Node& a = *nodes_[link.a];
    Node& b = *nodes_[link.b];
    Pipe& there = add_pipe(link.delay, link.loss, a, b);
    Pipe& back = add_pipe(link.delay, link.loss, b, a);
    if (topology.is_reducer(link.a)) switches_[link.b - topology.hosts]->expect_reducer();
    a.add_port(back, there, lane_of_[b.id()], link.rate);
    b.add_port(there, back, lane_of_[a.id()], link.rate);
    for (const auto& [from, to] : {std::pair(&a, link.b), std::pair(&b, link.a)}) {
      if (!topology.is_host(to) && options_.switches.forwarding == Forwarding::cut_through)
        from->announce_heads(static_cast<std::uint16_t>(from->ports() - 1));
    }
    if (link.bit_errors.is_zero()) continue;
    for (Node* end : {&a, &b})
      end->set_bit_errors(static_cast<std::uint16_t>(end->ports() - 1), link.bit_errors);
  }
}

// NVLink: every host of a server has a port to each other one, in order. All of them share what it sends and
// takes (neighbour_link.h).
void Network::add_servers(std::uint32_t hosts) {
  const ServerParameters& server = options_.server;
  window_ = std::min(window_, server.latency);
  for (NodeId first = 0; first < hosts; first += server.hosts) {
    const NodeId end = std::min(first + server.hosts, hosts);
    for (NodeId i = first; i < end; ++i) {
      for (NodeId j = i + 1; j < end; ++j) {
        Pipe& there = add_pipe(server.latency, Ratio(), *hosts_[i], *hosts_[j]);
        Pipe& back = add_pipe(server.latency, Ratio(), *hosts_[j], *hosts_[i]);
        hosts_[i]->add_port(back, there, lane_of_[j], server.nvlink_rate);
        hosts_[j]->add_port(there, back, lane_of_[i], server.nvlink_rate);
      }
    }
  }
}

const ControllerChoice* Network::pace_of(NodeId from, NodeId to) {
  if (from < end_hosts_) return nullptr;
  const BitRate rate = to < end_hosts_ ? rate_of_host_[to]
                                       : std::min(uplink_of_[from - end_hosts_], uplink_of_[to - end_hosts_]);
  ControllerChoice choice{.kind = ControllerChoice::Kind::fixed, .fixed_rate = rate};
  return &paces_.try_emplace(rate, choice).first->second;
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
        break;
      case Fault::Kind::switch_classes:
        switches_[fault.switch_index]->plan_change(fault.at, &fault.classes, nullptr);
        break;
    }
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
    }
  }
}

void Network::add_traffic(std::span<const Flow> flows, const std::vector<Exchanges>& exchanges) {
  parties_ = flows.size();
  std::uint32_t number = 0;
  for (const Flow& flow : flows) {
    HostNode::connect(*hosts_[flow.from], *hosts_[flow.to], flow, number++);
    planned_bytes_ += flow.bytes;
  }
  for (std::size_t j = 0; j < jobs_.size(); ++j) {
    const Job& job = jobs_[j];
    parties_ += job.hosts.size();
    std::vector<std::uint32_t>& parts = parts_.emplace_back();
    for (Rank rank = 0; rank < job.hosts.size(); ++rank) {
      parts.push_back(hosts_[job.hosts[rank]]->add_rank(job, rank));
    }
    for (const auto& [pair, exchange] : exchanges[j])
      join_ranks(j, pair.first, pair.second, exchange, number++);
  }
}

void Network::join_ranks(std::size_t job, Rank low, Rank high, const Exchange& exchange,
                         std::uint32_t number) {
  const NodeId a = jobs_[job].hosts[low];
  const NodeId b = jobs_[job].hosts[high];
  const HostNode::Member here{*hosts_[a], parts_[job][low], exchange.forward, pace_of(a, b)};
  const HostNode::Member there{*hosts_[b], parts_[job][high], exchange.backward, pace_of(b, a)};
  if (are_neighbours(jobs_[job], {low, high})) {
    // Ports count the others of the server from 1 (add_servers).
    const auto port = [&](NodeId from, NodeId to) {
      const NodeId place = to % options_.server.hosts;
      return static_cast<std::uint16_t>(place < from % options_.server.hosts ? place + 1 : place);
    };
    return HostNode::join_neighbours(here, there, port(a, b), port(b, a));
  }
  HostNode::join(here, there, number);
  planned_bytes_ += exchange.forward + exchange.backward;
}

bool Network::is_finished() const {
  std::size_t sum = 0;
  for (const Lane& lane : lanes_) sum += lane.finished;
  return sum == parties_;
}

void Network::run_window(std::size_t lane, Instant end) {
  Lane& own = lanes_[lane];
  const unsigned before = own.turn;
  own.turn ^= 1;
  own.next = own.first_arrival = Instant::never();
  for (Lane& other : lanes_) {
    for (Pipe* pipe : other.sent[before][lane]) {
      pipe->open(before);
      Node& receiver = *nodes_[pipe->receiver()];
      receiver.on_opened(pipe->port());
      next_[receiver.id()] = std::min(next_[receiver.id()], pipe->next());
    }
    other.sent[before][lane].clear();
  }
  for (Node* node : nodes_of_[lane]) {
    Instant& next = next_[node->id()];
    if (next < end) {
      node->run(end);
      next = node->next();
    }
    own.next = std::min(own.next, next);
  }
}

Instant Network::run(Instant until, const std::stop_token& stop) {
  Instant now;
  while (!is_finished() && !stop.stop_requested()) {
    Instant first = Instant::never();
    for (const Lane& lane : lanes_) first = std::min({first, lane.next, lane.first_arrival});
    if (first >= until) return until;
    now = first;
    const Instant end = std::min(first + window_, until);
    if (crew_ == nullptr) {
      run_window(0, end);
    } else {
      crew_->run([&](std::size_t lane) { run_window(lane, end); });
    }
  }
  return now;
}

namespace {
constexpr int kDelayBits = 6;  // percentiles right to 1.6 %, in at most 15 KiB
}

void Network::measure_delays() {
  for (Lane& lane : lanes_) lane.delays.emplace(kDelayBits);
}

Histogram Network::take_delays() {
  Histogram out(kDelayBits);
  for (Lane& lane : lanes_) {
    ROCETUNE_ASSERT(lane.delays.has_value());
    out.merge(*lane.delays);
    lane.delays.emplace(kDelayBits);
  }
  return out;
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
    for (int p = 0; p < Priority::kCount; ++p)
      out.forgotten_pauses += host->is_forgotten(Priority(p)) ? 1 : 0;
  }
  for (const auto& node : switches_) {
    out.lossless_drops += node->lossless_drops();
    out.unroutable += node->unroutable();
    for (std::uint16_t port = 0; port < node->ports(); ++port) {
      for (int p = 0; p < Priority::kCount; ++p)
        out.forgotten_pauses += node->is_forgotten(port, Priority(p)) ? 1 : 0;
    }
  }
  return out;
}

std::string Network::event_log_sha256() const {
  Sha256 sha;
  for (const Node* node : nodes_) sha.add(node->digest().value());
  return to_text(sha.finish());
}

}  // namespace rocetune::fabric
