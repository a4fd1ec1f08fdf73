// The receiving ends of a node's links: room for what arrives, and what the peers have to be told about it.
// With PFC a shared pool and Xoff and Xon frames, with InfiniBand a buffer of its own for each lane, and
// credits.
#pragma once

#include <optional>
#include <vector>

#include "congestion/fixed_point.h"
#include "congestion/pfc.h"
#include "congestion/shared_buffer.h"
#include "dataplane/fabric/link_gate.h"

namespace rocetune::fabric {

struct IngressParameters {
  FlowControl flow_control = FlowControl::pfc;
  // pfc
  Bytes buffer{32 * 1024 * 1024};
  PrioritySet lossless;  // priorities with PFC
  // Ports faster or slower than this have more or less headroom in proportion. None: all have the same.
  std::optional<BitRate> scaled_from;
  // So they have of alpha too: twice as much for each doubling of the rate, up to 1. HPCC's switches do that.
  bool scales_alpha = false;
  IngressPoolProfile lossless_pool;  // its headroom is what must be kept free after Xoff
  IngressPoolProfile lossy_pool;
  PauserParameters pauser;
  // credits: what each lane of each port holds
  Bytes lane_buffer{128 * 1024};
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
  // `bytes` that are meant for a port of scaled_from, for one of `rate`.
  static Bytes scaled(const IngressParameters& parameters, Bytes bytes, BitRate rate);

  explicit IngressBuffer(const IngressParameters& parameters)
      : parameters_(parameters), shared_(parameters.buffer) {}
  void add_port(BitRate rate);

  // False: there is no room, the packet is dropped. With credits that cannot be.
  bool admit(std::uint16_t port, Priority p, std::uint32_t bytes) {
    if (parameters_.flow_control == FlowControl::credits) return true;
    return shared_.admit(pool(port, p), Bytes(bytes)) != SharedBuffer::Room::dropped;
  }
  void release(std::uint16_t port, Priority p, std::uint32_t bytes) {
    if (parameters_.flow_control == FlowControl::credits) {
      ports_[port].freed[index_of(p)] += bytes;
    } else {
      shared_.release(pool(port, p), Bytes(bytes));
    }
  }
  // Room has changed: what the peer has to be told, if anything.
  std::optional<LinkFrame> tell(Instant now, std::uint16_t port, Priority p);
  // Refreshes of pauses that go on.
  std::optional<LinkFrame> on_timer(Instant now, std::uint16_t port);
  Instant next_timer(std::uint16_t port) const { return ports_[port].pauser.next_timer(); }

  bool is_lossless(Priority p) const {
    return parameters_.flow_control == FlowControl::credits || parameters_.lossless.contains(p);
  }
  // Its peer may go on although there is no room; only then tell() asks it again.
  std::optional<LinkFrame> let_go(Instant now, std::uint16_t port, Priority p);
  bool has_room(std::uint16_t port, Priority p) const { return shared_.allows_xon(pool(port, p)); }
  // Its peer has been asked to be silent.
  bool is_holding(std::uint16_t port, Priority p) const { return ports_[port].pauser.paused().contains(p); }
  std::int64_t held_bytes(std::uint16_t port, Priority p) const {
    return shared_.held(pool(port, p)).count();
  }

 private:
  struct Port {
    explicit Port(BitRate rate, const PauserParameters& p) : pauser(rate, p) {}
    std::array<SharedBuffer::Queue, Priority::kCount> pools{};
    Pauser pauser;
    std::array<std::int64_t, Priority::kCount> freed{};  // credits: since the beginning
    std::array<std::int64_t, Priority::kCount> told{};   // of it, what the peer knows
  };
  SharedBuffer::Queue pool(std::uint16_t port, Priority p) const { return ports_[port].pools[index_of(p)]; }

  const IngressParameters& parameters_;
  SharedBuffer shared_;
  std::vector<Port> ports_;
};

}  // namespace rocetune::fabric
