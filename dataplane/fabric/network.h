// The whole: nodes, links and traffic, run in virtual time.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <stop_token>

#include "dataplane/fabric/crew.h"
#include "dataplane/fabric/host_node.h"
#include "dataplane/fabric/switch_node.h"
#include "dataplane/fabric/topology.h"

namespace rocetune::fabric {

// Something that happens at a moment, to a link, a host or a switch.
struct Fault {
  enum class Kind : std::uint8_t { link_down, link_up, link_rate, link_loss, receive_rate, switch_classes };
  Instant at;
  Kind kind = Kind::link_down;
  std::size_t link = 0;            // of the topology
  BitRate rate;                    // link_rate; receive_rate, where 0 is as fast as frames come
  Ratio loss;                      // link_loss
  NodeId host = 0;                 // receive_rate
  std::uint32_t switch_index = 0;  // switch_classes: its maps, marking and PFC, not its buffers
  SwitchParameters classes;
};

struct NetworkOptions {
  HostParameters host;
  SwitchParameters switches;
  // Those that are not like the others, by number among hosts or switches.
  std::map<NodeId, HostParameters> own_host;
  std::map<std::uint32_t, SwitchParameters> own_switch;
  ServerParameters server;
  std::vector<Fault> faults;
  // How long after a link failed or came back all switches have routes that know. None: never; only the
  // switches at its ends avoid it.
  std::optional<Duration> reroute_after;
  std::uint64_t seed = 1;
  // Nodes are shared out among so many threads; what happens is the same.
  std::size_t threads = 1;
};

class Network {
 public:
  // `topology` must have passed check(), and flows and jobs name its hosts. Everything is set up; time stands
  // at zero.
  Network(const Topology& topology, const NetworkOptions& options, std::span<const Flow> flows,
          std::span<const Job> jobs = {});

  // Runs until all traffic is finished, `until`, or a request to stop. Returns the time reached.
  Instant run(Instant until, const std::stop_token& stop = {});
  bool is_finished() const;

  const HostNode& host(NodeId id) const { return *hosts_[id]; }
  HostNode& host(NodeId id) { return *hosts_[id]; }
  SwitchNode& switch_at(std::uint32_t index) { return *switches_[index]; }
  const SwitchNode& switch_at(std::uint32_t index) const { return *switches_[index]; }
  std::size_t hosts() const { return hosts_.size(); }
  std::size_t switches() const { return switches_.size(); }
  const std::deque<Job>& jobs() const { return jobs_; }
  const JobRank& rank_of(std::size_t job, Rank rank) const {
    return hosts_[jobs_[job].hosts[rank]]->rank(parts_[job][rank]);
  }

  struct Totals {
    std::uint64_t events = 0;
    std::uint64_t packet_hops = 0;
    std::uint64_t lossless_drops = 0;
    std::uint64_t forgotten_pauses = 0;  // of classes of which nothing is there any more
    std::uint64_t unroutable = 0;
    std::uint64_t failures = 0;
    std::uint64_t wrong_bytes = 0;
    std::uint64_t right_bytes = 0;
    std::uint64_t lost_frames = 0;    // on links
    std::uint64_t receive_drops = 0;  // in NICs whose host is slow
  };
  Totals totals() const;
  // Before time begins: from now on the delays of data packets are counted, from when a NIC takes one from
  // its engine to when the receiver's engine has it: waiting in NICs, links, queues, and for a slow host. One
  // that is sent again begins anew.
  void measure_delays();
  // Of the packets that have arrived since the last call, in ns.
  Histogram take_delays();
  // Payload that was acknowledged, and all there is.
  std::uint64_t completed_bytes() const;
  std::uint64_t planned_bytes() const { return planned_bytes_; }
  // SHA-256, in hexadecimal, over the digests of all nodes in order: equal if and, but for chance, only if
  // the same happened.
  std::string event_log_sha256() const;

 private:
  // What two ranks send each other in all: forward from the lower one.
  struct Exchange {
    std::uint64_t forward = 0;
    std::uint64_t backward = 0;
  };
  using Exchanges = std::map<std::pair<Rank, Rank>, Exchange>;
  static Exchanges exchanges_of(const Job& job);
  std::vector<HostNode::Capacity> capacities(std::size_t hosts, std::span<const Flow> flows,
                                             const std::vector<Exchanges>& exchanges) const;
  void share_out(const Topology& topology);
  void build_nodes(const Topology& topology, const std::vector<HostNode::Capacity>& capacities);
  void add_links(const Topology& topology);
  // To the next port of `to`.
  Pipe& add_pipe(Duration delay, Ratio loss, const Node& from, const Node& to);
  void add_servers(std::uint32_t hosts);
  void join_ranks(std::size_t job, Rank low, Rank high, const Exchange& exchange, std::uint32_t number);
  // The ranks' hosts reach each other without the fabric.
  bool are_neighbours(const Job& job, const std::pair<Rank, Rank>& ranks) const {
    const NodeId a = job.hosts[ranks.first];
    const NodeId b = job.hosts[ranks.second];
    return std::max(a, b) < end_hosts_ && options_.server.joins(a, b);
  }
  // For a reduction engine towards this other node: as fast as the link there.
  const ControllerChoice* pace_of(NodeId from, NodeId to);
  void plan_faults(const Topology& topology);
  void plan_routes(const Topology& topology);
  void add_traffic(std::span<const Flow> flows, const std::vector<Exchanges>& exchanges);
  // What one thread does of a window.
  void run_window(std::size_t lane, Instant end);

  const NetworkOptions options_;
  HostParameters reducer_;  // of reduction engines
  NodeId end_hosts_;        // whoever is below is a host of the user's, up to the switches an engine
  std::vector<BitRate> rate_of_host_;
  std::vector<BitRate> uplink_of_;  // by engine: the fastest link of its switch to another one
  std::map<BitRate, ControllerChoice> paces_;
  PacketPages pages_;
  std::deque<Lane> lanes_;
  std::vector<std::size_t> lane_of_;          // by node
  std::vector<std::vector<Node*>> nodes_of_;  // by lane
  std::size_t parties_ = 0;                   // flows and ranks
  std::uint64_t planned_bytes_ = 0;
  Duration window_ = Duration::max();
  std::deque<Job> jobs_;
  std::vector<std::unique_ptr<Routes>> routes_;  // at the beginning, then after each change
  std::vector<std::unique_ptr<Pipe>> pipes_;
  std::vector<std::unique_ptr<HostNode>> hosts_;
  std::vector<std::unique_ptr<SwitchNode>> switches_;
  std::vector<Node*> nodes_;
  std::vector<Instant> next_;                      // by node: when it has something to do next
  std::vector<std::vector<std::uint32_t>> parts_;  // by job, by rank
  std::unique_ptr<Crew> crew_;                     // of the other threads, if there are any
};

}  // namespace rocetune::fabric
