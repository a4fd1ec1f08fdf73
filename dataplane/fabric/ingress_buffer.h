// The receiving ends of a node's links: room for what arrives, and what the peers have to be told about it.
// With PFC a shared pool and Xoff and Xon frames, with InfiniBand a buffer of its own for each lane, and
// credits.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "congestion/fixed_point.h"
#include "congestion/pfc.h"
#include "congestion/shared_buffer.h"
#include "dataplane/fabric/link_gate.h"

namespace rocetune::fabric {

// Headroom of a lossless class from what it has to hold: all that arrives between the decision to send Xoff
// and the silence that follows.
struct DerivedHeadroom {
  Bytes frame;        // the longest on a link, framing included
  Duration reaction;  // of the peer, from the arrival of a pause frame to its effect
  // The frame that our pause waits for, the pause, both ways of the cable, the reaction, the frame that the
  // peer has begun, and the one that was too much: the reckoning of IEEE 802.1Q annex N, without cells.
  // Rounded up.
  Bytes of(BitRate rate, Duration delay) const;
};

struct IngressParameters {
  FlowControl flow_control = FlowControl::pfc;
  // pfc
  Bytes buffer{32 * 1024 * 1024};
  PrioritySet lossless;  // priorities with PFC
  // Ports faster or slower than this have more or less headroom in proportion. None: all have the same.
  std::optional<BitRate> scaled_from;
  // So they have of alpha too: twice as much for each doubling of the rate, up to 1. HPCC's switches do that.
  bool scales_alpha = false;
  IngressPoolProfile lossless_pool;                 // its headroom is what must be kept free after Xoff
  std::optional<DerivedHeadroom> derived_headroom;  // instead of that one
  IngressPoolProfile lossy_pool;
  PauserParameters pauser;
  // credits: what each lane of each port holds
  Bytes lane_buffer{128 * 1024};

  // `bytes` that are meant for a port of scaled_from, for one of `rate`; rounded down.
  Bytes scaled(Bytes bytes, BitRate rate) const;
  // Of a lossless class at a port of `rate` with a cable of `delay` one way.
  Bytes headroom_at(BitRate rate, Duration delay) const;
};

struct LinkFrame {
  PacketKind kind = PacketKind::pause;
  LinkMessage message;
  // On the wire: the shortest Ethernet frame with preamble and gap; a flow control packet of InfiniBand.
  std::uint32_t wire_bytes() const { return kind == PacketKind::pause ? 64 + 20 : 8; }
  // Asks the peer to be silent, refreshes included.
  bool is_xoff(Priority p) const {
    return kind == PacketKind::pause && message.pause.enabled.contains(p) &&
           message.pause.quanta[index_of(p)].count() > 0;
  }
};

class IngressBuffer {
 public:
  explicit IngressBuffer(const IngressParameters& parameters)
      : parameters_(parameters), shared_(parameters.buffer) {}
  // How many will be added.
  void reserve_ports(std::size_t count) {
    ports_.reserve(count);
    shared_.reserve_queues(count * Priority::kCount);
  }
  // `is_counted` false: what comes in there takes no room here, and its peer is told nothing.
  // `delay`: of its link, one way.
  void add_port(BitRate rate, Duration delay, bool is_counted = true);

  // False: there is no room, the packet is dropped. With credits that cannot be.
  bool admit(std::uint16_t port, Priority p, std::uint32_t bytes) {
    if (parameters_.flow_control == FlowControl::credits || !ports_[port].is_counted) return true;
    return shared_.admit(pool(port, p), Bytes(bytes)) != SharedBuffer::Room::dropped;
  }
  void release(std::uint16_t port, Priority p, std::uint32_t bytes) {
    if (parameters_.flow_control == FlowControl::credits) {
      ports_[port].credits->freed[index_of(p)] += bytes;
    } else if (ports_[port].is_counted) {
      shared_.release(pool(port, p), Bytes(bytes));
    }
  }
  // Room has changed: what the peer has to be told, if anything.
  std::optional<LinkFrame> tell(Instant now, std::uint16_t port, Priority p) {
    if (!has_news(port, p)) return std::nullopt;
    return news(now, port, p);
  }
  // Refreshes of pauses that go on.
  std::optional<LinkFrame> on_timer(Instant now, std::uint16_t port);
  Instant next_timer(std::uint16_t port) const { return ports_[port].pauser.next_timer(); }

  bool is_lossless(Priority p) const {
    return parameters_.flow_control == FlowControl::credits || parameters_.lossless.contains(p);
  }
  // Its peer may go on although there is no room; only then tell() asks it again.
  std::optional<LinkFrame> let_go(Instant now, std::uint16_t port, Priority p);
  bool has_room(std::uint16_t port, Priority p) const { return shared_.allows_xon(pool(port, p)); }
  // Its peer has been asked to be silent, and nothing from there is here: nobody would ever take that back.
  bool is_forgotten(std::uint16_t port, Priority p) const {
    return is_holding(port, p) && shared_.held(pool(port, p)) == Bytes(0);
  }
  // Its peer has been asked to be silent.
  bool is_holding(std::uint16_t port, Priority p) const { return ports_[port].pauser.paused().contains(p); }

 private:
  struct Port {
    explicit Port(BitRate rate, const PauserParameters& p) : pauser(rate, p) {}
    Pauser pauser;
    bool is_counted = true;
    struct Credits {
      std::array<std::int64_t, Priority::kCount> freed{};  // since the beginning
      std::array<std::int64_t, Priority::kCount> told{};   // of it, what the peer knows
    };
    std::unique_ptr<Credits> credits;  // none: PFC
  };
  // What most packets ask, and nearly always in vain.
  bool has_news(std::uint16_t port, Priority p) const {
    const Port& at = ports_[port];
    if (!at.is_counted) return false;
    if (parameters_.flow_control == FlowControl::credits) {
      // A quarter of the buffer at a time: often enough that the peer never waits for a message, if the
      // buffer is that much larger than what is in flight.
      return at.credits->freed[index_of(p)] - at.credits->told[index_of(p)] >=
             parameters_.lane_buffer.count() / 4;
    }
    const bool wants_xoff = shared_.wants_xoff(pool(port, p));
    if (!at.pauser.paused().contains(p)) return wants_xoff;
    return !wants_xoff && shared_.allows_xon(pool(port, p));
  }
  LinkFrame news(Instant now, std::uint16_t port, Priority p);
  // They were added port by port.
  static SharedBuffer::Queue pool(std::uint16_t port, Priority p) {
    return SharedBuffer::Queue{port} * Priority::kCount + index_of(p);
  }

  const IngressParameters& parameters_;
  SharedBuffer shared_;
  std::vector<Port> ports_;
};

}  // namespace rocetune::fabric
