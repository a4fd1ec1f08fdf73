// A switch: room for what arrives and what it tells its peers (ingress_buffer.h), egress queues with ECN
// marking and ETS, one of several shortest paths (path_choice.h), a guard against storms (storm_watchdog.h).
#pragma once

#include <array>
#include <map>
#include <numeric>

#include "congestion/dcqcn/congestion_point.h"
#include "congestion/ets.h"
#include "dataplane/fabric/hpcc_hash.h"
#include "dataplane/fabric/ingress_buffer.h"
#include "dataplane/fabric/node.h"
#include "dataplane/fabric/path_choice.h"
#include "dataplane/fabric/queue_watch.h"
#include "dataplane/fabric/routing.h"
#include "dataplane/fabric/storm_watchdog.h"

namespace rocetune::fabric {

using DscpMap = std::array<Priority, Dscp::kCount>;

// Everything to priority 0 but those given.
DscpMap dscp_map(std::span<const std::pair<Dscp, Priority>> entries);

// When a frame may leave. Cut-through: as soon as its first Node::kHead bytes are in, if the egress is idle,
// not held, and not faster than the link it comes from; else, and always with store and forward, when all of
// it is in. One that is cut through takes no room at ingress.
enum class Forwarding : std::uint8_t { store_and_forward, cut_through };

struct SwitchParameters {
  IngressParameters ingress;
  Forwarding forwarding = Forwarding::store_and_forward;
  PrioritySet marked;  // priorities whose egress queue marks
  dcqcn::CongestionPointParameters congestion_point;
  EtsConfig ets;  // a traffic class a priority
  // From the arrival of a pause frame to its effect. IEEE 802.3 annex 31B allows up to this many quanta.
  Duration pause_reaction;
  DscpMap priority_of{};
  std::map<std::uint16_t, DscpMap> priority_of_port;  // ports with a map of their own
  Spreading spreading = Spreading::flow;
  Duration flowlet_gap = microseconds(50);
  FlowHash hash = FlowHash::own;  // hpcc: only with Spreading::flow
  std::optional<WatchdogParameters> watchdog;

  // By which a frame that comes in at `port` is classified.
  const DscpMap& map_at(std::uint16_t port) const {
    const auto own = priority_of_port.find(port);
    return own == priority_of_port.end() ? priority_of : own->second;
  }
  // As a port of `rate` marks: kmin and kmax grow with it as ingress.scaled_from says.
  dcqcn::CongestionPointParameters congestion_point_at(BitRate rate) const;
};

struct SwitchPortCounters {
  static std::uint64_t sum(const std::array<std::uint64_t, Priority::kCount>& counts) {
    return std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
  }
  std::array<std::uint64_t, Priority::kCount> drops{};        // at ingress, by priority
  std::array<std::uint64_t, Priority::kCount> marked{};       // at egress
  std::array<std::uint64_t, Priority::kCount> pauses_sent{};  // Xoff frames, refreshes included
  std::array<std::uint64_t, Priority::kCount> pauses_received{};
  std::array<std::uint64_t, Priority::kCount> packets{};  // that left
  std::uint64_t watchdog_drops = 0;                       // at egress, in storms
  std::uint64_t link_drops = 0;  // the link is down: at egress; at ingress half of a frame
};

// Why a switch asked a peer to be silent: the queue in which most of what came from there waits.
struct XoffReason {
  std::uint16_t ingress = 0;
  std::uint8_t priority = 0;
  std::uint16_t egress = 0;
  auto operator<=>(const XoffReason&) const = default;
};
struct XoffCount {
  std::uint64_t xoffs = 0;
  std::uint64_t held = 0;  // of them, while the egress itself was held by its peer
};

class SwitchNode final : public Node {
 public:
  SwitchNode(NodeId id, Lane& lane, const SwitchParameters& parameters, const RoutingTable& routes,
             std::uint64_t seed);

  // Behind its next port is a reduction engine, a part of the switch itself: frames to and from it take no
  // room of the packet buffer, and neither side ever holds the other.
  void expect_reducer() { reducer_port_ = static_cast<std::uint16_t>(ports()); }

  void reserve_ports(std::size_t count) override;

  const SwitchPortCounters& counters(std::uint16_t port) const { return ports_[port].counters; }
  // As they are now.
  const SwitchParameters& parameters() const { return *parameters_; }
  // Watches the egress of a port from now on; the watch must outlive the node.
  void watch(std::uint16_t port, QueueWatch& watch) { ports_[port].watch = &watch; }
  // From `at` on it has other parameters (those of its buffers stay), or other routes; null: as before.
  // Before time begins; what is pointed to must outlive the node.
  void plan_change(Instant at, const SwitchParameters* parameters, const RoutingTable* routes);

  // Packets that no route led anywhere.
  std::uint64_t unroutable() const { return unroutable_; }
  // Drops in lossless priorities for lack of room: none may ever happen.
  std::uint64_t lossless_drops() const { return lossless_drops_; }
  Duration held_time(Instant now, std::uint16_t port, Priority p) const {
    return ports_[port].gate.held_time(now, p);
  }
  std::uint64_t storms(std::uint16_t port) const {
    return ports_[port].guard == nullptr ? 0 : ports_[port].guard->watchdog.storms();
  }
  const std::map<XoffReason, XoffCount>& xoff_reasons() const { return xoff_reasons_; }
  std::int64_t queued_bytes(std::uint16_t port) const { return ports_[port].queued; }
  // Something waits there and the peer does not let it go.
  bool is_stuck(Instant now, std::uint16_t port, Priority p) const;
  // Among what waits there is something that came in by `ingress`.
  bool holds_from(std::uint16_t port, Priority p, std::uint16_t ingress) const;
  bool is_forgotten(std::uint16_t ingress, Priority p) const { return ingress_.is_forgotten(ingress, p); }
  bool is_holding(std::uint16_t ingress, Priority p) const { return ingress_.is_holding(ingress, p); }

 private:
  struct Port {
    Port(std::uint16_t number, BitRate speed, const SwitchParameters& parameters, FlowControl flow_control);
    std::uint16_t number;
    // Egress.
    std::array<PacketQueue, Priority::kCount> queues;
    PacketQueue control;
    std::uint8_t waiting = 0;  // bit p: queues[p] is not empty
    Instant free_at;
    std::int64_t queued = 0;                // bytes in all queues
    std::vector<std::int32_t> queued_from;  // of them, by ingress
    QueueWatch* watch = nullptr;
    LinkGate gate;
    EtsScheduler scheduler;
    dcqcn::CongestionPoint point;  // of every priority: without averaging it keeps nothing of a queue
    Bytes marks_from;              // below it nothing is marked
    Fifo<PfcMessage> effects;      // pause frames that have arrived and not taken effect
    struct Guard {
      StormWatchdog watchdog;
      std::array<std::uint64_t, Priority::kCount> looked_at{};  // packets that had left when it last looked
    };
    std::unique_ptr<Guard> guard;  // none: nobody looks for storms
    bool in_storm(Priority p) const { return guard != nullptr && guard->watchdog.in_storm(p); }
    // Ingress.
    const DscpMap* map = nullptr;
    Priority priority_of(Dscp dscp) const { return (*map)[static_cast<std::size_t>(dscp.value())]; }
    struct Entering {
      PacketIndex packet;
      std::uint16_t egress;
    };
    Fifo<Entering> entering;             // cut-through: has a head here, waits for the rest
    Instant refresh = Instant::never();  // a timer is set for then
    SwitchPortCounters counters;
  };
  struct Change {
    const SwitchParameters* parameters;
    const RoutingTable* routes;
  };
  // Timers: the port, or which change, and what for.
  enum Purpose : std::uint32_t { kEffect, kRefresh, kChange, kWatchdog, kWhole };
  static std::uint32_t timer(std::size_t which, Purpose purpose) {
    return static_cast<std::uint32_t>(which) << 3 | static_cast<std::uint32_t>(purpose);
  }

  void on_port(std::uint16_t port, BitRate rate) override;
  void on_start() override;
  void on_link(Instant now, std::uint16_t port) override;
  void on_wake(Instant now, std::uint16_t port) override { transmit(now, ports_[port]); }
  void on_timer(Instant now, std::uint32_t what) override;
  void on_arrival(Instant now, std::uint16_t port, Packet& packet) override;

  bool may_cut_through(Instant now, const Port& in, const Port& out, const Packet& packet) const;
  void on_whole(Instant now, Port& in);
  // A packet that may leave by `out` from now on.
  void enter(Instant now, Port& in, Port& out, Packet& packet);
  void on_link_frame(Instant now, Port& port, Packet& packet);
  void on_change(const Change& change);
  void look_for_storms(Instant now);
  // The port it leaves by; none: no way leads there.
  Port* way_of(Instant now, const Packet& packet);
  void enqueue(Instant now, Port& in, Port& out, Priority priority, Packet& packet);
  void transmit(Instant now, Port& port);
  // Marks a packet that finds, or leaves behind, so many bytes.
  void mark(Port& out, Priority priority, std::int64_t bytes, Packet& packet);
  void change_length(Instant now, Port& port, std::int64_t bytes);
  std::optional<Priority> choose(Port& port, Instant now);
  Packet& take_first(Instant now, Port& port, Priority priority);
  void leave(Instant now, Port& port, Priority priority);
  // Gives back what waits; returns how many packets that were.
  std::uint64_t flush(Instant now, Port& port, Priority priority);
  // Room at an ingress has changed.
  void tell(Instant now, std::uint16_t ingress, Priority priority);
  void note_reason(Instant now, std::uint16_t ingress, Priority priority);
  void refresh_in_time(Port& port);
  void send_link_frame(Instant now, Port& port, const LinkFrame& frame);

  const SwitchParameters* parameters_;
  const RoutingTable* routes_;
  using MarkAt = dcqcn::CongestionPointParameters::MarkAt;
  MarkAt marks_at_;
  PathChoice paths_;
  FlowHash hash_;
  IngressBuffer ingress_;
  std::vector<Port> ports_;
  std::optional<std::uint16_t> reducer_port_;
  std::vector<Change> changes_;
  std::vector<std::uint16_t> live_ways_;
  std::uint32_t ports_down_ = 0;
  std::map<XoffReason, XoffCount> xoff_reasons_;
  std::uint64_t unroutable_ = 0;
  std::uint64_t lossless_drops_ = 0;
};

}  // namespace rocetune::fabric
