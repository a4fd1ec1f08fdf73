// A shared-buffer switch: ingress accounting per port and priority with PFC, egress queues with ECN marking
// and ETS, equal-cost paths by a hash of addresses and ports.
#pragma once

#include <array>
#include <deque>

#include "congestion/dcqcn/congestion_point.h"
#include "congestion/ets.h"
#include "congestion/pfc.h"
#include "congestion/shared_buffer.h"
#include "dataplane/base/random.h"
#include "dataplane/fabric/node.h"
#include "dataplane/fabric/queue_watch.h"
#include "dataplane/fabric/routing.h"

namespace rocetune::fabric {

using DscpMap = std::array<Priority, Dscp::kCount>;

// Everything to priority 0 but those given.
DscpMap dscp_map(std::span<const std::pair<Dscp, Priority>> entries);

struct SwitchParameters {
  Bytes buffer{32 * 1024 * 1024};
  PrioritySet lossless;              // priorities with PFC
  IngressPoolProfile lossless_pool;  // its headroom is what must be kept free after Xoff
  IngressPoolProfile lossy_pool;
  PrioritySet marked;  // priorities whose egress queue marks
  dcqcn::CongestionPointParameters congestion_point;
  EtsConfig ets;  // a traffic class a priority
  PauserParameters pauser;
  // From the arrival of a pause frame to its effect. IEEE 802.3 annex 31B allows up to this many quanta.
  Duration pause_reaction;
  DscpMap priority_of{};
};

struct SwitchPortCounters {
  std::array<std::uint64_t, Priority::kCount> drops{};        // at ingress, by priority
  std::array<std::uint64_t, Priority::kCount> marked{};       // at egress
  std::array<std::uint64_t, Priority::kCount> pauses_sent{};  // Xoff frames, refreshes included
  std::array<std::uint64_t, Priority::kCount> pauses_received{};
};

class SwitchNode final : public Node {
 public:
  SwitchNode(NodeId id, Shared& shared, const SwitchParameters& parameters, const RoutingTable& routes,
             std::uint64_t seed);

  const SwitchPortCounters& counters(std::uint16_t port) const { return ports_[port].counters; }
  // Watches the egress of a port from now on; the watch must outlive the node.
  void watch(std::uint16_t port, QueueWatch& watch) { ports_[port].watch = &watch; }
  // Packets that no route led anywhere.
  std::uint64_t unroutable() const { return unroutable_; }
  // Drops in lossless priorities: none may ever happen.
  std::uint64_t lossless_drops() const { return lossless_drops_; }
  Duration paused_time(Instant now, std::uint16_t port, Priority p) const {
    return ports_[port].paused.paused_time(now, p);
  }

 private:
  struct Port {
    Port(BitRate speed, const SwitchParameters& parameters, SharedBuffer& buffer);
    // Egress.
    std::array<PacketQueue, Priority::kCount> queues;
    PacketQueue control;
    std::uint8_t waiting = 0;  // bit p: queues[p] is not empty
    Instant free_at;
    std::int64_t queued = 0;  // bytes in all queues
    QueueWatch* watch = nullptr;
    PauseState paused;
    EtsScheduler scheduler;
    std::vector<dcqcn::CongestionPoint> points;  // by priority
    std::deque<PfcMessage> effects;              // pause frames that have arrived and not taken effect
    // Ingress.
    std::array<SharedBuffer::Queue, Priority::kCount> pools;
    Pauser pauser;
    Instant refresh = Instant::never();  // a timer is set for then
    SwitchPortCounters counters;
  };
  // Timers: the port, and what for.
  enum Purpose : std::uint32_t { kEffect, kRefresh };
  static std::uint32_t timer(std::uint16_t port, Purpose purpose) {
    return std::uint32_t{port} << 1 | static_cast<std::uint32_t>(purpose);
  }

  void on_port(std::uint16_t port, BitRate rate) override;
  void on_wake(Instant now, std::uint16_t port) override { transmit(now, port); }
  void on_timer(Instant now, std::uint32_t what) override;
  void on_arrival(Instant now, std::uint16_t port, PacketIndex packet) override;

  void on_pause_frame(Instant now, std::uint16_t port, PacketIndex index);
  void transmit(Instant now, std::uint16_t port);
  // Marks a packet that finds, or leaves behind, so many bytes.
  void mark(Port& out, Priority priority, std::int64_t bytes, Packet& packet);
  void change_length(Instant now, Port& port, std::int64_t bytes);
  std::optional<Priority> choose(Port& port, Instant now);
  void leave(Instant now, std::uint16_t port, Priority priority);
  void look_at_buffer(Instant now, std::uint16_t port, Priority priority);
  void refresh_in_time(std::uint16_t port);
  void send_pause(Instant now, std::uint16_t port, const PfcMessage& message);

  const SwitchParameters& parameters_;
  const RoutingTable& routes_;
  std::uint32_t hash_seed_;
  Random random_;
  using MarkAt = dcqcn::CongestionPointParameters::MarkAt;
  MarkAt marks_at_;
  SharedBuffer buffer_;
  std::deque<Port> ports_;
  std::uint64_t unroutable_ = 0;
  std::uint64_t lossless_drops_ = 0;
};

}  // namespace rocetune::fabric
