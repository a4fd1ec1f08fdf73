// What a tap found out: plain values with a JSON form. Times are seconds from the first frame, in doubles, as
// they are for people and plots; everything that was counted is an integer.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "dataplane/base/reflect_json.h"
#include "dataplane/wire/lldp.h"

namespace rocetune::tap {

struct LatencySummary {
  std::int64_t samples = 0;
  double min_us = 0;
  double median_us = 0;  // medians and percentiles to 3 %
  double p99_us = 0;
  double max_us = 0;
  static constexpr auto fields() {
    return std::tuple{field("samples", &LatencySummary::samples), field("min_us", &LatencySummary::min_us),
                      field("median_us", &LatencySummary::median_us),
                      field("p99_us", &LatencySummary::p99_us), field("max_us", &LatencySummary::max_us)};
  }
};

struct DscpFacts {
  Dscp dscp;
  std::int64_t packets = 0;  // RoCE packets other than CNP
  std::int64_t ce_packets = 0;
  std::int64_t not_ect_packets = 0;  // cannot be marked
  static constexpr auto fields() {
    return std::tuple{field("dscp", &DscpFacts::dscp), field("packets", &DscpFacts::packets),
                      field("ce_packets", &DscpFacts::ce_packets),
                      field("not_ect_packets", &DscpFacts::not_ect_packets)};
  }
};

struct MessageFacts {
  std::int64_t count = 0;
  std::int64_t bytes = 0;
  std::int64_t largest_bytes = 0;
  std::map<std::string, std::int64_t> by_size;  // "<=8192": count, by powers of two
  std::optional<LatencySummary> latency;        // first packet to the answer that completes it; paired only
  static constexpr auto fields() {
    return std::tuple{field("count", &MessageFacts::count), field("bytes", &MessageFacts::bytes),
                      field("largest_bytes", &MessageFacts::largest_bytes),
                      field("by_size", &MessageFacts::by_size), field("latency", &MessageFacts::latency)};
  }
};

// Everything that was sent from one address to one queue pair of another. The reverse direction is another
// row: `peer` is its index if acknowledged sequence numbers proved it.
struct QueuePairFacts {
  std::string source;
  std::string destination;
  std::int64_t destination_qp = 0;
  std::int64_t source_port = 0;   // UDP, of the first packet that is not a CNP; 0: RoCE v1 or CNPs only
  std::int64_t source_ports = 0;  // different ones in a row, i.e. changes + 1
  std::string service;            // RC, UC, UD, XRC
  std::optional<std::int64_t> peer;
  std::map<std::string, std::int64_t> opcodes;  // name: packets
  std::int64_t packets = 0;
  std::int64_t bytes = 0;          // frames on the wire
  std::int64_t payload_bytes = 0;  // with what was sent again
  double first_s = 0;
  double last_s = 0;
  std::int64_t ce_packets = 0;
  std::int64_t cnps = 0;  // sent to this queue pair
  std::int64_t retransmitted_packets = 0;
  std::int64_t retransmitted_bytes = 0;  // payload; divided by payload_bytes: the waste of go-back-N
  std::int64_t acks = 0;
  std::map<std::string, std::int64_t> naks;    // kind: packets, sent to this queue pair
  std::int64_t acknowledged_unseen = 0;        // packets the peer acknowledged and the capture misses
  std::optional<std::int64_t> path_mtu_bytes;  // from first and middle packets
  MessageFacts messages;
  std::optional<LatencySummary> rtt;           // packet to its ACK at this place of capture; paired only
  std::optional<LatencySummary> cnp_reaction;  // first unanswered CE to the CNP; paired only
  static constexpr auto fields() {
    using Q = QueuePairFacts;
    return std::tuple{field("source", &Q::source),
                      field("destination", &Q::destination),
                      field("destination_qp", &Q::destination_qp),
                      field("source_port", &Q::source_port),
                      field("source_ports", &Q::source_ports),
                      field("service", &Q::service),
                      field("peer", &Q::peer),
                      field("opcodes", &Q::opcodes),
                      field("packets", &Q::packets),
                      field("bytes", &Q::bytes),
                      field("payload_bytes", &Q::payload_bytes),
                      field("first_s", &Q::first_s),
                      field("last_s", &Q::last_s),
                      field("ce_packets", &Q::ce_packets),
                      field("cnps", &Q::cnps),
                      field("retransmitted_packets", &Q::retransmitted_packets),
                      field("retransmitted_bytes", &Q::retransmitted_bytes),
                      field("acks", &Q::acks),
                      field("naks", &Q::naks),
                      field("acknowledged_unseen", &Q::acknowledged_unseen),
                      field("path_mtu_bytes", &Q::path_mtu_bytes),
                      field("messages", &Q::messages),
                      field("rtt", &Q::rtt),
                      field("cnp_reaction", &Q::cnp_reaction)};
  }
};

struct PauseInterval {
  double start_s = 0;
  double end_s = 0;
  std::string source;  // MAC that asked for it
  static constexpr auto fields() {
    return std::tuple{field("start_s", &PauseInterval::start_s), field("end_s", &PauseInterval::end_s),
                      field("source", &PauseInterval::source)};
  }
};

// One priority, or global pause (no priority).
struct PauseFacts {
  std::optional<Priority> priority;
  double paused_s = 0;  // union over all sources
  double ratio = 0;     // of the capture's time
  double longest_us = 0;
  std::vector<std::string> sources;
  std::vector<PauseInterval> storms;     // paused 99 % of at least the detection time
  std::vector<PauseInterval> intervals;  // the first kMaxIntervals
  std::int64_t interval_count = 0;
  static constexpr std::size_t kMaxIntervals = 10'000;
  static constexpr auto fields() {
    using F = PauseFacts;
    return std::tuple{field("priority", &F::priority),   field("paused_s", &F::paused_s),
                      field("ratio", &F::ratio),         field("longest_us", &F::longest_us),
                      field("sources", &F::sources),     field("storms", &F::storms),
                      field("intervals", &F::intervals), field("interval_count", &F::interval_count)};
  }
};

// What one neighbour said by LLDP.
struct NeighbourFacts {
  std::string source;  // MAC
  std::string chassis_id;
  std::string port_id;
  std::string system_name;
  std::int64_t frames = 0;
  std::int64_t dcbx_changes = 0;  // frames that said something else than the one before
  std::string dcbx;               // "ieee", "cee", "cin" or "none"
  std::optional<PrioritySet> pfc_enabled;
  std::optional<bool> pfc_willing;
  std::optional<bool> ets_willing;
  std::optional<std::array<std::uint8_t, 8>> tc_of_priority;  // 15: not assigned
  std::optional<std::array<std::uint8_t, 8>> bandwidth_percent_of_tc;
  std::vector<std::string> applications;  // "dscp 26 -> 3"
  static constexpr auto fields() {
    using N = NeighbourFacts;
    return std::tuple{field("source", &N::source),
                      field("chassis_id", &N::chassis_id),
                      field("port_id", &N::port_id),
                      field("system_name", &N::system_name),
                      field("frames", &N::frames),
                      field("dcbx_changes", &N::dcbx_changes),
                      field("dcbx", &N::dcbx),
                      field("pfc_enabled_priorities", &N::pfc_enabled),
                      field("pfc_willing", &N::pfc_willing),
                      field("ets_willing", &N::ets_willing),
                      field("tc_of_priority", &N::tc_of_priority),
                      field("bandwidth_percent_of_tc", &N::bandwidth_percent_of_tc),
                      field("applications", &N::applications)};
  }
};

// What happened when: equal bins from the first frame on, as many as the capture fills.
struct TimelineFacts {
  double bin_s = 0;
  std::vector<std::int64_t> bytes;  // RoCE frames on the wire
  std::vector<std::int64_t> retransmitted_packets;
  std::vector<std::int64_t> nak_packets;
  std::vector<std::int64_t> ce_packets;
  std::vector<std::int64_t> cnp_packets;
  static constexpr auto fields() {
    using T = TimelineFacts;
    return std::tuple{field("bin_s", &T::bin_s),
                      field("bytes", &T::bytes),
                      field("retransmitted_packets", &T::retransmitted_packets),
                      field("nak_packets", &T::nak_packets),
                      field("ce_packets", &T::ce_packets),
                      field("cnp_packets", &T::cnp_packets)};
  }
};

struct TapFacts {
  std::int64_t frames = 0;
  bool truncated = false;  // the file ends inside a record
  double duration_s = 0;   // last frame − first frame
  std::int64_t roce_packets = 0;
  std::int64_t rocev1_packets = 0;
  std::int64_t ack_packets = 0;
  std::map<std::string, std::int64_t> nak_packets;  // kind: packets
  std::int64_t ce_packets = 0;
  std::int64_t cnp_packets = 0;
  std::int64_t retransmitted_packets = 0;
  std::int64_t data_flows = 0;
  std::int64_t icrc_ok = 0;
  std::int64_t icrc_bad = 0;
  std::int64_t icrc_unknown = 0;
  std::map<std::string, std::int64_t> malformed;  // reason: packets that should have been RoCE
  std::int64_t unknown_opcodes = 0;
  std::map<std::string, std::int64_t> wrapped;  // "vxlan", "erspan2", …: frames
  std::vector<DscpFacts> dscps;                 // most packets first
  std::vector<std::int64_t> packets_by_pcp;     // RoCE packets by VLAN priority; empty if none is tagged
  std::int64_t pfc_frames = 0;
  std::int64_t pfc_xoff_frames = 0;
  std::int64_t pfc_xon_frames = 0;
  std::int64_t global_pause_frames = 0;
  std::int64_t lldp_frames = 0;
  BitRate link_speed;  // what quanta were counted with
  bool link_speed_is_assumed = true;
  std::optional<PrioritySet> lldp_pfc_enabled;  // if all LLDP frames with a PFC TLV agree
  std::vector<QueuePairFacts> queue_pairs;      // in order of appearance
  std::vector<PauseFacts> pauses;
  std::vector<NeighbourFacts> neighbours;
  TimelineFacts timeline;
  std::vector<std::string> notes;  // what limits what was said above

  static constexpr auto fields() {
    using F = TapFacts;
    return std::tuple{field("frames", &F::frames),
                      field("truncated", &F::truncated),
                      field("duration_s", &F::duration_s),
                      field("roce_packets", &F::roce_packets),
                      field("rocev1_packets", &F::rocev1_packets),
                      field("ack_packets", &F::ack_packets),
                      field("nak_packets", &F::nak_packets),
                      field("ce_packets", &F::ce_packets),
                      field("cnp_packets", &F::cnp_packets),
                      field("retransmitted_packets", &F::retransmitted_packets),
                      field("data_flows", &F::data_flows),
                      field("icrc_ok", &F::icrc_ok),
                      field("icrc_bad", &F::icrc_bad),
                      field("icrc_unknown", &F::icrc_unknown),
                      field("malformed", &F::malformed),
                      field("unknown_opcodes", &F::unknown_opcodes),
                      field("wrapped", &F::wrapped),
                      field("dscps", &F::dscps),
                      field("packets_by_pcp", &F::packets_by_pcp),
                      field("pfc_frames", &F::pfc_frames),
                      field("pfc_xoff_frames", &F::pfc_xoff_frames),
                      field("pfc_xon_frames", &F::pfc_xon_frames),
                      field("global_pause_frames", &F::global_pause_frames),
                      field("lldp_frames", &F::lldp_frames),
                      field("link_speed_bps", &F::link_speed),
                      field("link_speed_is_assumed", &F::link_speed_is_assumed),
                      field("lldp_pfc_enabled_priorities", &F::lldp_pfc_enabled),
                      field("queue_pairs", &F::queue_pairs),
                      field("pauses", &F::pauses),
                      field("neighbours", &F::neighbours),
                      field("timeline", &F::timeline),
                      field("notes", &F::notes)};
  }
};

// One number of the flat vocabulary ("capture.frames", "lldp.pfc_mask", …) that doctor and cases use.
struct FactValue {
  std::string name;
  bool is_integer = true;
  std::int64_t integer = 0;
  double real = 0;
  double value() const { return is_integer ? static_cast<double>(integer) : real; }
};
// In a fixed order. What the capture does not give is absent.
std::vector<FactValue> fact_values(const TapFacts& facts);

}  // namespace rocetune::tap
