// What an endpoint counts. All since its start. Names are the agent's (configs/counters) where it has one.
#pragma once

#include <array>
#include <cstdint>

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
  static constexpr void fields(auto&& visit, auto&... self) {
    visit("rx_frames", self.rx_frames...);
    visit("tx_frames", self.tx_frames...);
    visit("tx_payload_bytes", self.tx_payload_bytes...);
    visit("rx_payload_bytes", self.rx_payload_bytes...);
    visit("retransmitted_frames", self.retransmitted_frames...);
    visit("duplicate_requests", self.duplicate_requests...);
    visit("acks_sent", self.acks_sent...);
    visit("sequence_naks_sent", self.sequence_naks_sent...);
    visit("rnr_naks_sent", self.rnr_naks_sent...);
    visit("fatal_naks_sent", self.fatal_naks_sent...);
    visit("sequence_naks_received", self.sequence_naks_received...);
    visit("rnr_naks_received", self.rnr_naks_received...);
    visit("fatal_naks_received", self.fatal_naks_received...);
    visit("implied_naks", self.implied_naks...);
    visit("ack_timeouts", self.ack_timeouts...);
    visit("rx_ce_packets", self.rx_ce_packets...);
    visit("cnps_sent", self.cnps_sent...);
    visit("cnps_handled", self.cnps_handled...);
  }
};

}  // namespace rocetune::engine
