// What a benchmark found: plain values, as JSON and as a table.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "dataplane/base/histogram.h"
#include "dataplane/base/text_table.h"
#include "dataplane/port/fault_injector.h"
#include "dataplane/transport/pattern/plan.h"

namespace rocetune::pattern {

// Round trips (send: to the echo; write, read: to the completion) of the requests that no pause of this
// thread fell into.
struct LatencyResult {
  std::uint64_t samples = 0;
  std::uint64_t not_timed = 0;  // a pause of this thread fell into them
  std::uint64_t min_ns = 0, p50_ns = 0, p90_ns = 0, p99_ns = 0, p999_ns = 0, max_ns = 0;
  double mean_ns = 0;
  bool operator==(const LatencyResult&) const = default;
  static constexpr void fields(auto&& visit, auto&... self) {
    visit("samples", self.samples...);
    visit("not_timed", self.not_timed...);
    visit("min_ns", self.min_ns...);
    visit("p50_ns", self.p50_ns...);
    visit("p90_ns", self.p90_ns...);
    visit("p99_ns", self.p99_ns...);
    visit("p999_ns", self.p999_ns...);
    visit("max_ns", self.max_ns...);
    visit("mean_ns", self.mean_ns...);
  }
};

// Of round trips in nanoseconds.
LatencyResult latency_result(const Histogram& ns, std::uint64_t not_timed);

// What one side counted during a row, all its shards together.
struct SideResult {
  std::uint64_t tx_frames = 0;
  std::uint64_t rx_frames = 0;
  std::uint64_t retransmitted_frames = 0;
  std::uint64_t ack_timeouts = 0;
  std::uint64_t sequence_naks_sent = 0;
  std::uint64_t rnr_naks_sent = 0;
  std::uint64_t ce_packets = 0;
  std::uint64_t cnps_sent = 0;
  std::uint64_t cnps_handled = 0;
  std::map<std::string, std::uint64_t> drops;       // of the endpoint, by reason; those that are not 0
  std::map<std::string, std::uint64_t> port_drops;  // of the port, likewise
  std::map<std::string, std::uint64_t> faults;      // injected, likewise
  std::uint64_t pauses = 0;                         // times that a thread lost its core
  double paused_s = 0;
  std::uint64_t turns = 0;       // of the loop
  std::uint64_t busy_turns = 0;  // in which something was received
  bool operator==(const SideResult&) const = default;
  static constexpr void fields(auto&& visit, auto&... self) {
    visit("tx_frames", self.tx_frames...);
    visit("rx_frames", self.rx_frames...);
    visit("retransmitted_frames", self.retransmitted_frames...);
    visit("ack_timeouts", self.ack_timeouts...);
    visit("sequence_naks_sent", self.sequence_naks_sent...);
    visit("rnr_naks_sent", self.rnr_naks_sent...);
    visit("ce_packets", self.ce_packets...);
    visit("cnps_sent", self.cnps_sent...);
    visit("cnps_handled", self.cnps_handled...);
    visit("drops", self.drops...);
    visit("port_drops", self.port_drops...);
    visit("faults", self.faults...);
    visit("pauses", self.pauses...);
    visit("paused_s", self.paused_s...);
    visit("turns", self.turns...);
    visit("busy_turns", self.busy_turns...);
  }
};

// One message size. Rates are of payload, in one direction.
struct Row {
  Bytes size;
  double seconds = 0;
  std::uint64_t messages = 0;
  double messages_per_s = 0;
  // Of the row's 20 equal parts: on a shared machine the median says what is usual, the best what is
  // possible.
  double median_messages_per_s = 0;
  double best_messages_per_s = 0;
  double worst_messages_per_s = 0;
  double goodput_bits_per_s = 0;  // messages × size
  double busbw_bits_per_s = 0;    // × 1: between two ends it is the goodput (nccl-tests' factor of a pair)
  std::optional<LatencyResult> latency;
  bool content_is_right = false;  // everything that was written, read or echoed was compared
  SideResult client;
  SideResult server;  // incast: all clients together
  bool operator==(const Row&) const = default;
  static constexpr void fields(auto&& visit, auto&... self) {
    visit("size_bytes", self.size...);
    visit("seconds", self.seconds...);
    visit("messages", self.messages...);
    visit("messages_per_s", self.messages_per_s...);
    visit("median_messages_per_s", self.median_messages_per_s...);
    visit("best_messages_per_s", self.best_messages_per_s...);
    visit("worst_messages_per_s", self.worst_messages_per_s...);
    visit("goodput_bits_per_s", self.goodput_bits_per_s...);
    visit("busbw_bits_per_s", self.busbw_bits_per_s...);
    visit("latency", self.latency...);
    visit("content_is_right", self.content_is_right...);
    visit("client", self.client...);
    visit("server", self.server...);
  }
};

// The server's view of one client in one row.
struct ClientShare {
  std::uint32_t client = 0;
  std::string peer;
  Bytes size;
  double goodput_bits_per_s = 0;
  bool operator==(const ClientShare&) const = default;
  static constexpr void fields(auto&& visit, auto&... self) {
    visit("client", self.client...);
    visit("peer", self.peer...);
    visit("size_bytes", self.size...);
    visit("goodput_bits_per_s", self.goodput_bits_per_s...);
  }
};

constexpr int kBenchSchemaVersion = 1;
struct Result {
  int schema_version = kBenchSchemaVersion;
  std::string role;  // "client", "server"
  Plan plan;
  std::string port;  // "net_memif0 (net_memif)"
  std::string congestion_control;
  std::string faults;  // of this side; empty: none
  std::string local_address;
  std::string peer_address;         // client
  std::vector<Row> rows;            // client
  std::vector<ClientShare> shares;  // server
  static constexpr void fields(auto&& visit, auto&... self) {
    visit("schema_version", self.schema_version...);
    visit("role", self.role...);
    visit("plan", self.plan...);
    visit("port", self.port...);
    visit("congestion_control", self.congestion_control...);
    visit("faults", self.faults...);
    visit("local_address", self.local_address...);
    visit("peer_address", self.peer_address...);
    visit("rows", self.rows...);
    visit("shares", self.shares...);
  }
};

std::string json_report(const Result& result);
std::string text_report(const Result& result, const TextTable::Look& look);

}  // namespace rocetune::pattern
