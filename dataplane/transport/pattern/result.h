// What a benchmark found: plain values, as JSON and as a table.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

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
  static constexpr auto fields() {
    using L = LatencyResult;
    return std::tuple{
        field("samples", &L::samples), field("not_timed", &L::not_timed), field("min_ns", &L::min_ns),
        field("p50_ns", &L::p50_ns),   field("p90_ns", &L::p90_ns),       field("p99_ns", &L::p99_ns),
        field("p999_ns", &L::p999_ns), field("max_ns", &L::max_ns),       field("mean_ns", &L::mean_ns)};
  }
};

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
  static constexpr auto fields() {
    using S = SideResult;
    return std::tuple{field("tx_frames", &S::tx_frames),
                      field("rx_frames", &S::rx_frames),
                      field("retransmitted_frames", &S::retransmitted_frames),
                      field("ack_timeouts", &S::ack_timeouts),
                      field("sequence_naks_sent", &S::sequence_naks_sent),
                      field("rnr_naks_sent", &S::rnr_naks_sent),
                      field("ce_packets", &S::ce_packets),
                      field("cnps_sent", &S::cnps_sent),
                      field("cnps_handled", &S::cnps_handled),
                      field("drops", &S::drops),
                      field("port_drops", &S::port_drops),
                      field("faults", &S::faults),
                      field("pauses", &S::pauses),
                      field("paused_s", &S::paused_s),
                      field("turns", &S::turns),
                      field("busy_turns", &S::busy_turns)};
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
  static constexpr auto fields() {
    return std::tuple{field("size_bytes", &Row::size),
                      field("seconds", &Row::seconds),
                      field("messages", &Row::messages),
                      field("messages_per_s", &Row::messages_per_s),
                      field("median_messages_per_s", &Row::median_messages_per_s),
                      field("best_messages_per_s", &Row::best_messages_per_s),
                      field("worst_messages_per_s", &Row::worst_messages_per_s),
                      field("goodput_bits_per_s", &Row::goodput_bits_per_s),
                      field("busbw_bits_per_s", &Row::busbw_bits_per_s),
                      field("latency", &Row::latency),
                      field("content_is_right", &Row::content_is_right),
                      field("client", &Row::client),
                      field("server", &Row::server)};
  }
};

// The server's view of one client in one row.
struct ClientShare {
  std::uint32_t client = 0;
  std::string peer;
  Bytes size;
  double goodput_bits_per_s = 0;
  bool operator==(const ClientShare&) const = default;
  static constexpr auto fields() {
    return std::tuple{field("client", &ClientShare::client), field("peer", &ClientShare::peer),
                      field("size_bytes", &ClientShare::size),
                      field("goodput_bits_per_s", &ClientShare::goodput_bits_per_s)};
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
  static constexpr auto fields() {
    using R = Result;
    return std::tuple{field("schema_version", &R::schema_version),
                      field("role", &R::role),
                      field("plan", &R::plan),
                      field("port", &R::port),
                      field("congestion_control", &R::congestion_control),
                      field("faults", &R::faults),
                      field("local_address", &R::local_address),
                      field("peer_address", &R::peer_address),
                      field("rows", &R::rows),
                      field("shares", &R::shares)};
  }
};

std::string json_report(const Result& result);
std::string text_report(const Result& result, const TextTable::Look& look);

}  // namespace rocetune::pattern
