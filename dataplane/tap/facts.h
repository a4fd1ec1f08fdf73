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
  static constexpr void fields(auto&& visit, auto&... self) {
    visit("samples", self.samples...);
    visit("min_us", self.min_us...);
    visit("median_us", self.median_us...);
    visit("p99_us", self.p99_us...);
    visit("max_us", self.max_us...);
  }
};

struct DscpFacts {
  Dscp dscp;
  std::int64_t packets = 0;  // RoCE packets other than CNP
  std::int64_t ce_packets = 0;
  std::int64_t not_ect_packets = 0;  // cannot be marked
  static constexpr void fields(auto&& visit, auto&... self) {
    visit("dscp", self.dscp...);
    visit("packets", self.packets...);
    visit("ce_packets", self.ce_packets...);
    visit("not_ect_packets", self.not_ect_packets...);
  }
};

struct MessageFacts {
  std::int64_t count = 0;
  std::int64_t bytes = 0;
  std::int64_t largest_bytes = 0;
  std::map<std::string, std::int64_t> by_size;  // "<=8192": count, by powers of two
  std::optional<LatencySummary> latency;        // first packet to the answer that completes it; paired only
  static constexpr void fields(auto&& visit, auto&... self) {
    visit("count", self.count...);
    visit("bytes", self.bytes...);
    visit("largest_bytes", self.largest_bytes...);
    visit("by_size", self.by_size...);
    visit("latency", self.latency...);
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
  static constexpr void fields(auto&& visit, auto&... self) {
    visit("source", self.source...);
    visit("destination", self.destination...);
    visit("destination_qp", self.destination_qp...);
    visit("source_port", self.source_port...);
    visit("source_ports", self.source_ports...);
    visit("service", self.service...);
    visit("peer", self.peer...);
    visit("opcodes", self.opcodes...);
    visit("packets", self.packets...);
    visit("bytes", self.bytes...);
    visit("payload_bytes", self.payload_bytes...);
    visit("first_s", self.first_s...);
    visit("last_s", self.last_s...);
    visit("ce_packets", self.ce_packets...);
    visit("cnps", self.cnps...);
    visit("retransmitted_packets", self.retransmitted_packets...);
    visit("retransmitted_bytes", self.retransmitted_bytes...);
    visit("acks", self.acks...);
    visit("naks", self.naks...);
    visit("acknowledged_unseen", self.acknowledged_unseen...);
    visit("path_mtu_bytes", self.path_mtu_bytes...);
    visit("messages", self.messages...);
    visit("rtt", self.rtt...);
    visit("cnp_reaction", self.cnp_reaction...);
  }
};

struct PauseInterval {
  double start_s = 0;
  double end_s = 0;
  std::string source;  // MAC that asked for it
  static constexpr void fields(auto&& visit, auto&... self) {
    visit("start_s", self.start_s...);
    visit("end_s", self.end_s...);
    visit("source", self.source...);
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
  static constexpr void fields(auto&& visit, auto&... self) {
    visit("priority", self.priority...);
    visit("paused_s", self.paused_s...);
    visit("ratio", self.ratio...);
    visit("longest_us", self.longest_us...);
    visit("sources", self.sources...);
    visit("storms", self.storms...);
    visit("intervals", self.intervals...);
    visit("interval_count", self.interval_count...);
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
  static constexpr void fields(auto&& visit, auto&... self) {
    visit("source", self.source...);
    visit("chassis_id", self.chassis_id...);
    visit("port_id", self.port_id...);
    visit("system_name", self.system_name...);
    visit("frames", self.frames...);
    visit("dcbx_changes", self.dcbx_changes...);
    visit("dcbx", self.dcbx...);
    visit("pfc_enabled_priorities", self.pfc_enabled...);
    visit("pfc_willing", self.pfc_willing...);
    visit("ets_willing", self.ets_willing...);
    visit("tc_of_priority", self.tc_of_priority...);
    visit("bandwidth_percent_of_tc", self.bandwidth_percent_of_tc...);
    visit("applications", self.applications...);
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
  static constexpr void fields(auto&& visit, auto&... self) {
    visit("bin_s", self.bin_s...);
    visit("bytes", self.bytes...);
    visit("retransmitted_packets", self.retransmitted_packets...);
    visit("nak_packets", self.nak_packets...);
    visit("ce_packets", self.ce_packets...);
    visit("cnp_packets", self.cnp_packets...);
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

  static constexpr void fields(auto&& visit, auto&... self) {
    visit("frames", self.frames...);
    visit("truncated", self.truncated...);
    visit("duration_s", self.duration_s...);
    visit("roce_packets", self.roce_packets...);
    visit("rocev1_packets", self.rocev1_packets...);
    visit("ack_packets", self.ack_packets...);
    visit("nak_packets", self.nak_packets...);
    visit("ce_packets", self.ce_packets...);
    visit("cnp_packets", self.cnp_packets...);
    visit("retransmitted_packets", self.retransmitted_packets...);
    visit("data_flows", self.data_flows...);
    visit("icrc_ok", self.icrc_ok...);
    visit("icrc_bad", self.icrc_bad...);
    visit("icrc_unknown", self.icrc_unknown...);
    visit("malformed", self.malformed...);
    visit("unknown_opcodes", self.unknown_opcodes...);
    visit("wrapped", self.wrapped...);
    visit("dscps", self.dscps...);
    visit("packets_by_pcp", self.packets_by_pcp...);
    visit("pfc_frames", self.pfc_frames...);
    visit("pfc_xoff_frames", self.pfc_xoff_frames...);
    visit("pfc_xon_frames", self.pfc_xon_frames...);
    visit("global_pause_frames", self.global_pause_frames...);
    visit("lldp_frames", self.lldp_frames...);
    visit("link_speed_bps", self.link_speed...);
    visit("link_speed_is_assumed", self.link_speed_is_assumed...);
    visit("lldp_pfc_enabled_priorities", self.lldp_pfc_enabled...);
    visit("queue_pairs", self.queue_pairs...);
    visit("pauses", self.pauses...);
    visit("neighbours", self.neighbours...);
    visit("timeline", self.timeline...);
    visit("notes", self.notes...);
  }
};

// What `counts` says of a kind; 0 if it has none of it.
std::int64_t count_of(const std::map<std::string, std::int64_t>& counts, const char* kind);

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
