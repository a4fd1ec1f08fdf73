// A host: the unmodified engine behind a NIC with one port. Its traffic is WRITEs: flows on queue pairs of
// their own, and its parts in jobs.
#pragma once

#include <deque>
#include <numeric>
#include <unordered_map>

#include "congestion/ets.h"
#include "dataplane/engine/endpoint.h"
#include "dataplane/engine/synthetic_memory.h"
#include "dataplane/fabric/host_port_counters.h"
#include "dataplane/fabric/hpcc_hash.h"
#include "dataplane/fabric/ingress_buffer.h"
#include "dataplane/fabric/job.h"
#include "dataplane/fabric/neighbour_link.h"
#include "dataplane/fabric/node.h"
#include "dataplane/wire/path_headers.h"

namespace rocetune::fabric {

// `bytes` from one host to another, in messages of `message` bytes (the last one shorter), at most `window`
// of them posted at once.
struct Flow {
  NodeId from = 0;
  NodeId to = 0;
  std::uint64_t bytes = 0;
  Instant start;
  std::uint32_t message = 1 << 20;
  std::uint32_t window = 16;
};

// How frames are measured on a link.
enum class Framing : std::uint8_t {
  ethernet,    // everything: preamble, header, payload, ICRC, frame check sequence, gap
  infiniband,  // local route header, BTH and what follows, ICRC and VCRC; no global route header
  hpcc,        // payload + 48 bytes, acknowledgements and CNPs 60: HPCC's ns-3 model, for comparison with it
};

// What a NIC does with frames that arrive faster than its host takes them.
struct ReceiverParameters {
  BitRate rate;              // of PCIe or memory; 0: as fast as they come
  IngressParameters buffer;  // of the NIC: Xoff and Xon, or credits
  // A NIC that has held its peer for so long stops doing so and drops instead, until it has room again:
  // mlx5's pfc-prevention-tout, 8 s unless set (100 ms as "auto"). never: it holds for ever.
  Duration storm_prevention = seconds(8);
};

struct HostParameters {
  ControllerChoice controller;
  dcqcn::NotificationPointParameters notification;
  Dscp data_dscp{26};
  // Acknowledgements travel in a class of their own (HPCC); else in that of the data, as RoCE has it.
  std::optional<Dscp> ack_dscp;
  engine::PathMtu mtu = engine::PathMtu::b1024;
  std::uint8_t ack_timeout = 14;
  bool selective_repeat = false;  // else go-back-N
  Framing framing = Framing::ethernet;
  // HPCC's semantics instead of notification points: an ACK says that a mark was seen since the last one, and
  // every such ACK is a CNP to the sender, whose own timer decides.
  bool echoes_ce = false;
  FlowHash hash = FlowHash::own;
  Duration pause_reaction;
  std::array<Priority, Dscp::kCount> priority_of{};
  // How its NIC serves what waits: by default strictly by priority. Of priorities that share a class the
  // highest one goes first.
  EtsConfig ets;
  ClassOfPriority class_of = a_class_each();
  ReceiverParameters receiver;
};

struct FlowOutcome {
  Instant finished = Instant::never();  // the last acknowledgement is here
  std::uint64_t completed_bytes = 0;
};

class HostNode final : public Node {
 public:
  // What it will have: everything is reserved at the start.
  struct Capacity {
    std::uint32_t queue_pairs = 0;
    std::uint32_t regions = 0;
    std::uint32_t send_requests = 0;
    std::uint32_t receive_requests = 0;
  };
  HostNode(NodeId id, Lane& lane, const HostParameters& parameters, BitRate line_rate, std::uint64_t seed,
           const Capacity& capacity);

  // Its port; others lead to neighbours in the same server.
  static constexpr std::uint16_t kFabric = 0;
  static wire::IpAddress address_of(NodeId id) { return wire::IpAddress::v4(0x0A000000U + id); }
  static NodeId id_of(std::uint32_t v4) { return v4 - 0x0A000000U; }

  // All of these before time begins. `number` tells connections apart.
  // A flow between two hosts.
  static void connect(HostNode& from, HostNode& to, const Flow& flow, std::uint32_t number);
  // It takes part in a job, which must outlive it. Returns which of its parts that is.
  std::uint32_t add_rank(const Job& job, Rank rank);
  // Connects two ranks that send each other so many bytes in all.
  struct Member {
    HostNode& host;
    std::uint32_t part;  // what add_rank returned
    std::uint64_t bytes;
    const ControllerChoice* controller = nullptr;  // instead of its host's; must outlive it
  };
  static void join(const Member& a, const Member& b, std::uint32_t number);
  // Two ranks whose hosts share a server: `port_there` of a's host leads to b's, `port_back` back.
  static void join_neighbours(const Member& a, const Member& b, std::uint16_t port_there,
                              std::uint16_t port_back);
  // From `at` on it takes what arrives at another rate; 0: as fast as it comes.
  void plan_receive_rate(Instant at, BitRate rate);

  struct Sending {
    Flow flow;
    std::uint32_t channel = 0;
    FlowOutcome outcome;
  };
  const std::vector<Sending>& sendings() const { return sendings_; }
  const JobRank& rank(std::uint32_t part) const { return parts_[part].progress; }
  const engine::Statistics& statistics() const { return endpoint_.statistics(); }
  const engine::SyntheticMemory::Tally& tally() const { return memory_.tally(); }
  // Payload of a flow from here that has arrived at `to`, its receiver.
  std::uint64_t arrived_bytes(const Sending& sending, const HostNode& to) const {
    return to.memory_.right_bytes(channels_[sending.channel].remote);
  }
  // Work requests that did not end well.
  std::uint64_t failures() const { return failures_; }
  // Payload that was acknowledged.
  std::uint64_t completed_bytes() const { return completed_bytes_; }
  Duration held_time(Instant now, Priority p) const { return gate_.held_time(now, p); }
  // How often a pause has begun.
  std::int64_t held_times(Priority p) const { return gate_.held_times(p); }
  const HostPortCounters& counters() const { return counters_; }
  // For lack of room in the NIC.
  std::uint64_t receive_drops() const {
    return std::accumulate(counters_.discards.begin(), counters_.discards.end(), std::uint64_t{0});
  }
  std::uint64_t storms_prevented() const { return storms_prevented_; }
  // How often it asked its switch to be silent, refreshes not counted.
  std::uint64_t xoffs(Priority p) const { return xoffs_[index_of(p)]; }
  bool is_forgotten(Priority p) const { return ingress_.is_forgotten(kFabric, p); }
  // How long it has been asking up to `now`.
  Duration holding_time(Instant now, Priority p) const {
    const std::size_t i = index_of(p);
    return held_back_[i] + (ingress_.is_holding(0, p) ? now - holding_since_[i] : Duration(0));
  }
  // How long frames have waited in the NIC, up to `now`, because the host was not done with the ones before.
  Duration stalled_time(Instant now) const {
    return stalled_ + (stalled_since_ < now ? now - stalled_since_ : Duration(0));
  }

 private:
  enum Purpose : std::uint32_t {
    kEndpoint,
    kEffect,
    kStart,
    kCompute,
    kTake,
    kRate,
    kRefresh,
    kStorm,
    kNeighbourSent,
    kNeighbourHere
  };
  static std::uint32_t timer(Purpose purpose, std::size_t which = 0) {
    return static_cast<std::uint32_t>(which) << 4 | static_cast<std::uint32_t>(purpose);
  }
  // What this host sends to one other on one queue pair, byte behind byte of a region.
  struct Channel {
    wire::Qpn qpn;
    std::uint32_t number = 0;
    bool is_of_job = false;
    std::uint32_t owner = 0;  // which flow, or which part
    engine::MemoryKey local;
    engine::MemoryKey remote;
    std::uint64_t posted_bytes = 0;
    std::uint64_t fetched_bytes = 0;  // up to here it has left the engine, once at least
    Fifo<JobMessage> waiting;         // released, and not posted for lack of room
    Fifo<Instant> posted;             // when, of those that are not acknowledged; where latencies are wanted
  };
  struct Part {
    Part(const Job& job, Rank rank) : progress(job, rank) {}
    JobRank progress;
    std::unordered_map<Rank, std::uint32_t> channel_of;  // by rank of the peer; only looked up
    struct Neighbour {
      std::uint16_t port;
      std::uint32_t part;
    };
    std::unordered_map<Rank, Neighbour> neighbour_of;  // likewise, in the same server
  };
  // echoes_ce: a queue pair that receives, and its sender's.
  struct Echo {
    wire::Qpn ours;
    wire::Qpn theirs;
    NodeId from = 0;
    bool ce_seen = false;
  };

  void on_port(std::uint16_t port, BitRate rate) override;
  void on_link(Instant now, std::uint16_t) override { transmit(now); }
  void on_wake(Instant now, std::uint16_t) override { transmit(now); }
  void on_timer(Instant now, std::uint32_t what) override;
  void on_arrival(Instant now, std::uint16_t port, Packet& packet) override;

  // host_receive.cc: what arrives.
  void on_link_frame(Instant now, Packet& packet);
  void receive(Instant now, Packet& packet);
  void take_next(Instant now);
  void tell(Instant now, Priority p);
  void on_storm(Instant now);
  void send_link_frame(Instant now, const LinkFrame& frame);
  void refresh_in_time();
  void deliver(Instant now, Packet& packet);
  void echo_arrived(Instant now, const PacketBody& body);

  // host_traffic.cc: what is asked of the engine.
  std::uint32_t add_channel(Channel channel);
  bool post(Instant now, std::uint32_t channel, std::uint64_t bytes, std::optional<std::uint32_t> immediate);
  void post(Instant now, const Sending& sending);
  void post_waiting(Instant now, std::uint32_t channel);
  // The engine has handed out this part of a channel's data.
  void on_fetched(Instant now, const engine::PayloadReference& payload);
  void take_completions(Instant now);
  void on_completion(Instant now, const engine::Completion& completion);
  void begin_step(Instant now, std::uint32_t part);
  void start_step(Instant now, std::uint32_t part);
  void send_messages(Instant now, std::uint32_t part);
  void finish_steps(Instant now, std::uint32_t part);
  void send_to_neighbours(Instant now);
  void on_sent_to_neighbour(Instant now);
  void on_from_neighbour(Instant now);

  // host_node.cc: what it sends.
  void transmit(Instant now);
  // Of the classes that wait and may send the one whose turn it is; none: `soonest` is when to ask again.
  std::optional<Priority> choose(Instant now, Instant& soonest);
  // Frames that the engine has, as packets in their class.
  bool fetch(Instant now);
  Packet& packet_of(const engine::TransmitFrame& frame);
  std::uint32_t wire_bytes_of(const engine::TransmitFrame& frame) const;
  void wake_for_endpoint(Instant now);
  Priority priority_of(Dscp dscp) const {
    return parameters_.priority_of[static_cast<std::size_t>(dscp.value())];
  }

  const HostParameters& parameters_;
  engine::SyntheticMemory memory_;
  engine::Endpoint endpoint_;
  std::vector<Sending> sendings_;
  std::deque<Part> parts_;
  std::vector<Channel> channels_;
  std::vector<std::uint32_t> channel_of_;  // by row of the region that it sends from
  std::vector<JobMessage> released_;       // between two calls empty
  std::uint64_t completed_bytes_ = 0;
  std::uint64_t failures_ = 0;
  std::vector<Echo> echoes_;
  NeighbourLink neighbours_;

  // Towards the link.
  std::array<PacketQueue, Priority::kCount> held_;  // fetched, and not yet on the link
  std::uint32_t held_packets_ = 0;                  // in all of them
  PacketQueue control_;
  std::unique_ptr<EtsScheduler> scheduler_;  // none: strictly by priority
  Instant free_at_;
  Instant endpoint_wake_ = Instant::never();
  LinkGate gate_;
  Fifo<PfcMessage> effects_;  // pause frames that have arrived and not taken effect

  // From the link.
  BitRate receive_rate_;
  std::vector<BitRate> planned_rates_;
  IngressBuffer ingress_;
  PacketQueue taken_;  // waits for the host
  bool is_taking_ = false;
  Instant refresh_ = Instant::never();
  Instant storm_check_ = Instant::never();
  PrioritySet prevented_;  // classes that it has stopped to hold
  std::array<Instant, Priority::kCount> holding_since_{};
  std::array<Duration, Priority::kCount> held_back_{};  // by the pauses that are over
  std::array<std::uint64_t, Priority::kCount> xoffs_{};
  std::uint64_t storms_prevented_ = 0;
  Instant stalled_since_ = Instant::never();
  Duration stalled_;
  HostPortCounters counters_;
};

}  // namespace rocetune::fabric
