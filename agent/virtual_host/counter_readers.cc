#include "agent/virtual_host/counter_readers.h"

#include <functional>
#include <numeric>

namespace rocetune::virtual_host {
namespace {

using fabric::HostNode;
using fabric::HostPortCounters;

using Value = std::function<std::uint64_t(const HostNode&, Instant)>;
struct Counter {
  std::string name;
  Value value;
};
using CounterList = std::vector<Counter>;

// A PFC frame on the wire: the shortest there is, frame check sequence included.
constexpr std::uint64_t kPauseBytes = 64;
// Preamble and gap, which a link carries and no NIC counts.
constexpr std::uint64_t kAroundFrame = 8 + 12;

std::uint64_t sum(const HostPortCounters::ByPriority<std::uint64_t>& values) {
  return std::accumulate(values.begin(), values.end(), std::uint64_t{0});
}
std::uint64_t whole_us(Duration span) { return static_cast<std::uint64_t>(span / microseconds(1)); }

// One direction of traffic, with bytes as NICs count them.
class Traffic {
 public:
  Traffic(HostPortCounters::Traffic HostPortCounters::*which, const fabric::HostParameters& p)
      : which_(which), around_(p.framing == fabric::Framing::ethernet ? kAroundFrame : 0) {}
  std::uint64_t frame_bytes(std::uint64_t wire_bytes, std::uint64_t packets) const {
    return wire_bytes - around_ * packets;
  }
  std::uint64_t packets(const HostNode& node, std::size_t p) const { return of(node).packets[p]; }
  std::uint64_t bytes(const HostNode& node, std::size_t p) const {
    return frame_bytes(of(node).wire_bytes[p], of(node).packets[p]);
  }
  std::uint64_t packets(const HostNode& node) const { return sum(of(node).packets); }
  std::uint64_t bytes(const HostNode& node) const {
    return frame_bytes(sum(of(node).wire_bytes), sum(of(node).packets));
  }

 private:
  const HostPortCounters::Traffic& of(const HostNode& node) const { return node.counters().*which_; }
  HostPortCounters::Traffic HostPortCounters::*which_;
  std::uint64_t around_;
};

// Share of the time between two readings, in percent, that frames waited for the host.
class StalledShare {
 public:
  std::uint64_t operator()(const HostNode& node, Instant now) {
    const Duration stalled = node.stalled_time(now);
    const Duration span = now - read_at_;
    const std::uint64_t percent =
        span > Duration(0) ? static_cast<std::uint64_t>((stalled - before_) * 100 / span) : last_;
    read_at_ = now;
    before_ = stalled;
    return last_ = percent;
  }

 private:
  Instant read_at_;
  Duration before_;
  std::uint64_t last_ = 0;
};

void add_priority(CounterList& out, Priority p, const Traffic& sent, const Traffic& received) {
  const std::size_t i = fabric::index_of(p);
  const auto add = [&](const char* direction, const char* what, Value value) {
    out.push_back({fmt::format("{}_prio{}_{}", direction, p.value(), what), std::move(value)});
  };
  add("tx", "packets", [=](const HostNode& n, Instant) { return sent.packets(n, i); });
  add("tx", "bytes", [=](const HostNode& n, Instant) { return sent.bytes(n, i); });
  add("rx", "packets", [=](const HostNode& n, Instant) { return received.packets(n, i); });
  add("rx", "bytes", [=](const HostNode& n, Instant) { return received.bytes(n, i); });
  add("rx", "discards", [=](const HostNode& n, Instant) { return n.counters().discards[i]; });
}

void add_pauses(CounterList& out, Priority p) {
  const std::size_t i = fabric::index_of(p);
  const auto add = [&](const char* direction, const char* what, Value value) {
    out.push_back({fmt::format("{}_prio{}_pause{}", direction, p.value(), what), std::move(value)});
  };
  add("rx", "", [=](const HostNode& n, Instant) { return n.counters().pauses_received.frames[i]; });
  add("rx", "_duration", [=](const HostNode& n, Instant now) { return whole_us(n.held_time(now, p)); });
  add("rx", "_transition",
      [=](const HostNode& n, Instant) { return static_cast<std::uint64_t>(n.held_times(p)); });
  add("tx", "", [=](const HostNode& n, Instant) { return n.counters().pauses_sent.frames[i]; });
  add("tx", "_duration", [=](const HostNode& n, Instant now) { return whole_us(n.holding_time(now, p)); });
  add("tx", "_transition", [=](const HostNode& n, Instant) { return n.xoffs(p); });
}

CounterList ethernet_counters(const fabric::HostParameters& p) {
  const Traffic sent(&HostPortCounters::sent, p);
  const Traffic received(&HostPortCounters::received, p);
  CounterList out;
  for (int i = 0; i < Priority::kCount; ++i) add_priority(out, Priority(i), sent, received);
  if (p.receiver.buffer.flow_control == fabric::FlowControl::pfc) {
    for (const Priority priority : p.receiver.buffer.lossless.members()) add_pauses(out, priority);
  }
  const auto add = [&](const char* name, Value value) { out.push_back({name, std::move(value)}); };
  const auto sent_pauses = [](const HostNode& n) { return n.counters().pauses_sent.all; };
  const auto received_pauses = [](const HostNode& n) { return n.counters().pauses_received.all; };
  add("tx_packets_phy", [=](const HostNode& n, Instant) { return sent.packets(n) + sent_pauses(n); });
  add("tx_bytes_phy",
      [=](const HostNode& n, Instant) { return sent.bytes(n) + kPauseBytes * sent_pauses(n); });
  add("rx_packets_phy", [=](const HostNode& n, Instant) { return received.packets(n) + received_pauses(n); });
  add("rx_bytes_phy",
      [=](const HostNode& n, Instant) { return received.bytes(n) + kPauseBytes * received_pauses(n); });
  add("rx_discards_phy", [](const HostNode& n, Instant) { return n.receive_drops(); });
  add("outbound_pci_buffer_overflow", [](const HostNode& n, Instant) { return n.receive_drops(); });
  add("tx_pause_ctrl_phy", [=](const HostNode& n, Instant) { return sent_pauses(n); });
  add("rx_pause_ctrl_phy", [=](const HostNode& n, Instant) { return received_pauses(n); });
  add("tx_pause_storm_error_events", [](const HostNode& n, Instant) { return n.storms_prevented(); });
  add("outbound_pci_stalled_wr",
      [share = StalledShare()](const HostNode& n, Instant now) mutable { return share(n, now); });
  add("rx_crc_errors_phy", [](const HostNode& n, Instant) { return n.frames_lost_by_chance(); });
  add("link_down_events_phy", [](const HostNode& n, Instant) { return n.link_downs(); });
  add("tx_vport_rdma_unicast_packets", [=](const HostNode& n, Instant) { return sent.packets(n); });
  add("tx_vport_rdma_unicast_bytes", [=](const HostNode& n, Instant) { return sent.bytes(n); });
  add("rx_vport_rdma_unicast_packets",
      [=](const HostNode& n, Instant) { return received.packets(n) - n.receive_drops(); });
  add("rx_vport_rdma_unicast_bytes", [=](const HostNode& n, Instant) {
    return received.bytes(n) - received.frame_bytes(n.counters().discarded_wire_bytes, n.receive_drops());
  });
  return out;
}

CounterList rdma_counters(const fabric::HostParameters& p) {
  using engine::Statistics;
  const bool is_dcqcn = p.controller.kind == ControllerChoice::Kind::dcqcn;
  CounterList out;
  const auto add = [&](const char* name, std::uint64_t Statistics::*field) {
    out.push_back({name, [=](const HostNode& n, Instant) { return n.statistics().*field; }});
  };
  add("np_ecn_marked_roce_packets", &Statistics::rx_ce_packets);
  add("np_cnp_sent", &Statistics::cnps_sent);
  // Those that no reaction point looks at are the ignored ones.
  for (const bool handled : {true, false}) {
    out.push_back({handled ? "rp_cnp_handled" : "rp_cnp_ignored", [=](const HostNode& n, Instant) {
                     return handled == is_dcqcn ? n.statistics().cnps_handled : 0;
                   }});
  }
  out.push_back({"out_of_sequence", [](const HostNode& n, Instant) {
                   return n.statistics().dropped(engine::DropReason::out_of_sequence);
                 }});
  add("packet_seq_err", &Statistics::sequence_naks_received);
  add("implied_nak_seq_err", &Statistics::implied_naks);
  add("local_ack_timeout_err", &Statistics::ack_timeouts);
  add("duplicate_request", &Statistics::duplicate_requests);
  add("rnr_nak_retry_err", &Statistics::rnr_naks_received);
  add("out_of_buffer", &Statistics::rnr_naks_sent);
  return out;
}

// Where the network stands; asked once for each reading.
using Reached = std::function<Instant()>;

class HostCounters final : public counters::CounterReader {
 public:
  HostCounters(const HostNode& node, Reached now, CounterList list)
      : node_(node), now_(std::move(now)), list_(std::move(list)) {
    auto names = std::make_shared<counters::NameList>();
    for (const Counter& counter : list_) names->names.push_back(counter.name);
    names_ = std::move(names);
  }
  Expected<> read(counters::Block& block) override {
    const Instant now = now_();
    block.names = names_;
    block.at = now;
    block.resolution = Duration(0);
    block.values.clear();
    for (const Counter& counter : list_) block.values.push_back(counter.value(node_, now));
    return {};
  }

 private:
  const HostNode& node_;
  Reached now_;
  CounterList list_;
  std::shared_ptr<const counters::NameList> names_;
};

std::vector<counters::PortReaders> readers_of(const HostNode& node, const fabric::HostParameters& p,
                                              const Reached& now) {
  counters::PortReaders port{.port = kPort, .nic = kNic};
  port.speed = node.link_rate(0);
  const auto put = [&](counters::Source source, CounterList list) {
    port.readers[counters::index_of(source)] = std::make_unique<HostCounters>(node, now, std::move(list));
  };
  put(counters::Source::ethtool, ethernet_counters(p));
  put(counters::Source::rdma, rdma_counters(p));
  port.missing[counters::index_of(counters::Source::dcb)] =
      absent("a host of the virtual fabric counts its pauses once: under ethtool").value();
  std::vector<counters::PortReaders> out;
  out.push_back(std::move(port));
  return out;
}

}  // namespace

std::vector<counters::PortReaders> counter_readers(FabricRun& run, fabric::NodeId host) {
  return readers_of(run.network().host(host), parameters_of(run.scenario(), host), [&run] {
    run.note_reading();
    return run.now();
  });
}

std::vector<counters::PortReaders> counter_readers(const fabric::Scenario& scenario,
                                                   const fabric::Network& network, const Clock& clock,
                                                   fabric::NodeId host) {
  return readers_of(network.host(host), parameters_of(scenario, host), [&clock] { return clock.now(); });
}

}  // namespace rocetune::virtual_host
