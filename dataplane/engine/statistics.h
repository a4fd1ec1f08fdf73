// What an endpoint counts. All since its start. Names are the agent's (configs/counters) where it has one.
#pragma once

#include <array>
#include <cstdint>
#include <tuple>

#include "dataplane/base/reflect.h"
#include "dataplane/engine/drop_reason.h"

namespace rocetune::engine {

struct Statistics {
  std::uint64_t rx_frames = 0;
  std::uint64_t tx_frames = 0;
  std::uint64_t tx_payload_bytes = 0;      // repeated ones included
  std::uint64_t rx_payload_bytes = 0;      // placed ones
  std::uint64_t retransmitted_frames = 0;  // requests sent again
  std::uint64_t duplicate_requests = 0;    // answered again
  std::uint64_t acks_sent = 0;             // positive, READ responses not counted
  std::uint64_t sequence_naks_sent = 0;
  std::uint64_t rnr_naks_sent = 0;
  std::uint64_t fatal_naks_sent = 0;  // invalid request, remote access, remote operational
  std::uint64_t sequence_naks_received = 0;
  std::uint64_t rnr_naks_received = 0;
  std::uint64_t fatal_naks_received = 0;
  std::uint64_t implied_naks = 0;  // a lost READ response or atomic answer was noticed
  std::uint64_t ack_timeouts = 0;
  std::uint64_t rx_ce_packets = 0;
  std::uint64_t cnps_sent = 0;
  std::uint64_t cnps_handled = 0;
  std::array<std::uint64_t, kDropReasons> drops{};

  std::uint64_t dropped(DropReason reason) const { return drops[static_cast<std::size_t>(reason)]; }
  void drop(DropReason reason) { ++drops[static_cast<std::size_t>(reason)]; }
  bool operator==(const Statistics&) const = default;

  // The drops are listed by enum_name(DropReason).
  static constexpr auto fields() {
    return std::tuple{field("rx_frames", &Statistics::rx_frames),
                      field("tx_frames", &Statistics::tx_frames),
                      field("tx_payload_bytes", &Statistics::tx_payload_bytes),
                      field("rx_payload_bytes", &Statistics::rx_payload_bytes),
                      field("retransmitted_frames", &Statistics::retransmitted_frames),
                      field("duplicate_requests", &Statistics::duplicate_requests),
                      field("acks_sent", &Statistics::acks_sent),
                      field("sequence_naks_sent", &Statistics::sequence_naks_sent),
                      field("rnr_naks_sent", &Statistics::rnr_naks_sent),
                      field("fatal_naks_sent", &Statistics::fatal_naks_sent),
                      field("sequence_naks_received", &Statistics::sequence_naks_received),
                      field("rnr_naks_received", &Statistics::rnr_naks_received),
                      field("fatal_naks_received", &Statistics::fatal_naks_received),
                      field("implied_naks", &Statistics::implied_naks),
                      field("ack_timeouts", &Statistics::ack_timeouts),
                      field("rx_ce_packets", &Statistics::rx_ce_packets),
                      field("cnps_sent", &Statistics::cnps_sent),
                      field("cnps_handled", &Statistics::cnps_handled)};
  }
};

}  // namespace rocetune::engine
