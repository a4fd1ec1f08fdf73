// A host: the unmodified engine behind a NIC with one port. Its flows are WRITEs on queue pairs of their own.
#pragma once

#include <deque>
#include <unordered_map>

#include "dataplane/engine/endpoint.h"
#include "dataplane/engine/synthetic_memory.h"
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
  ethernet,  // everything: preamble, header, payload, ICRC, frame check sequence, gap
  hpcc,      // payload + 48 bytes, acknowledgements and CNPs 60: HPCC's ns-3 model, for comparison with it
};

struct HostParameters {
  ControllerChoice controller;
  dcqcn::NotificationPointParameters notification;
  Dscp data_dscp{26};
  // Acknowledgements travel in a class of their own (HPCC); else in that of the data, as RoCE has it.
  std::optional<Dscp> ack_dscp;
  engine::PathMtu mtu = engine::PathMtu::b1024;
  std::uint8_t ack_timeout = 14;
  Framing framing = Framing::ethernet;
  // HPCC's semantics instead of notification points: an ACK says that a mark was seen since the last one, and
  // every such ACK is a CNP to the sender, whose own timer decides.
  bool echoes_ce = false;
  Duration pause_reaction;
  std::array<Priority, Dscp::kCount> priority_of{};
};

struct FlowOutcome {
  Instant finished = Instant::never();  // the last acknowledgement is here
  std::uint64_t completed_bytes = 0;
};

class HostNode final : public Node {
 public:
  // `sends`, `receives`: queue pairs that it will have.
  HostNode(NodeId id, Shared& shared, const HostParameters& parameters, BitRate line_rate,
           std::uint32_t sends, std::uint32_t receives, std::uint32_t largest_window);

  static wire::IpAddress address_of(NodeId id) { return wire::IpAddress::v4(0x0A000000U + id); }
  static NodeId id_of(std::uint32_t v4) { return v4 - 0x0A000000U; }

  // Connects a flow between two hosts, before time begins. `number` tells flows apart.
  static void connect(HostNode& from, HostNode& to, const Flow& flow, std::uint32_t number);

  struct Sending {
    Flow flow;
    std::uint32_t number = 0;
    wire::Qpn qpn;
    engine::MemoryKey local;
    engine::MemoryKey remote;
    std::uint64_t posted_bytes = 0;
    FlowOutcome outcome;
  };
  const std::vector<Sending>& sendings() const { return sendings_; }
  const engine::Statistics& statistics() const { return endpoint_.statistics(); }
  const engine::SyntheticMemory::Tally& tally() const { return memory_.tally(); }
  // Work requests that did not end well.
  std::uint64_t failures() const { return failures_; }
  Duration paused_time(Instant now, Priority p) const { return paused_.paused_time(now, p); }

 private:
  enum Purpose : std::uint32_t { kEndpoint, kEffect, kStart };
  static std::uint32_t timer(Purpose purpose, std::size_t which = 0) {
    return static_cast<std::uint32_t>(which) << 2 | static_cast<std::uint32_t>(purpose);
  }
  // echoes_ce: a queue pair that receives, and its sender's.
  struct Echo {
    wire::Qpn ours;
    wire::Qpn theirs;
    NodeId from = 0;
    bool ce_seen = false;
  };

  void on_port(std::uint16_t port, BitRate rate) override;
  void on_wake(Instant now, std::uint16_t) override { transmit(now); }
  void on_timer(Instant now, std::uint32_t what) override;
  void on_arrival(Instant now, std::uint16_t port, PacketIndex packet) override;

  void deliver(Instant now, const Packet& packet, PacketBody& body);
  void echo_arrived(Instant now, const PacketBody& body);
  void post(Sending& sending);
  void take_completions(Instant now);
  void transmit(Instant now);
  // Frames that the engine has, as packets in their class.
  bool fetch(Instant now);
  PacketIndex packet_of(const engine::TransmitFrame& frame);
  void wake_for_endpoint(Instant now);
  Priority priority_of(Dscp dscp) const {
    return parameters_.priority_of[static_cast<std::size_t>(dscp.value())];
  }

  const HostParameters& parameters_;
  engine::SyntheticMemory memory_;
  engine::Endpoint endpoint_;
  std::vector<Sending> sendings_;
  std::unordered_map<std::uint32_t, std::size_t> sending_of_;  // by number of the queue pair; only looked up
  std::array<PacketQueue, Priority::kCount> held_;             // fetched, and not yet on the link
  Instant free_at_;
  Instant endpoint_wake_ = Instant::never();
  PauseState paused_;
  std::deque<PfcMessage> effects_;  // pause frames that have arrived and not taken effect
  std::vector<Echo> echoes_;
  std::uint64_t failures_ = 0;
};

}  // namespace rocetune::fabric
