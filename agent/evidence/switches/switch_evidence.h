// What every document of a switch holds: its settings, and what its counters show. Rules ask for this type
// whatever the maker.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "agent/evidence/switches/switch_model.h"

namespace rocetune::evidence {

// PFC frames of a port in one direction since its counters were cleared.
struct PfcFrames {
  std::string port;  // "Ethernet4"; of ASIC dumps "0x10500"
  bool received = false;
  std::array<std::optional<std::uint64_t>, 8> of_priority{};
  std::optional<std::uint64_t> total;  // where only the sum is printed
  int line = 0;
  // Nothing if no number of it is known.
  std::optional<std::uint64_t> sum() const;
};

// Whether PFC works on a port, as the switch sees it.
struct PfcState {
  std::string port;
  bool enabled = false;        // by configuration
  bool negotiated = false;     // left to DCBX ("Auto")
  std::optional<bool> active;  // in operation
  std::optional<PrioritySet> priorities;
  std::string shown;  // the words of the line: "Auto Off", "E A W 3"
  int line = 0;
};

// A queue that a PFC watchdog looks after; packets.
struct WatchdogQueue {
  std::string port;
  int queue = 0;
  std::string status;  // "stormed", "operational"
  std::uint64_t detected = 0, restored = 0;
  std::uint64_t tx_ok = 0, tx_drop = 0, rx_ok = 0, rx_drop = 0;
  int line = 0;
};

// Packets of a port.
struct PortTraffic {
  std::string port;
  std::optional<std::uint64_t> rx_ok, rx_error, rx_drop, tx_ok, tx_error, tx_drop;
  int line = 0;
};

// Packets of an egress queue.
struct QueueTraffic {
  std::string port;
  std::string queue;  // "UC3", "4 no-loss"
  std::optional<int> number;
  std::string forwarding_class;  // Junos
  std::optional<std::uint64_t> sent, dropped;
  int line = 0;
};

struct SwitchEvidence {
  SwitchModel model;
  std::optional<bool> pfc_globally;
  int pfc_globally_line = 0;
  std::vector<PfcState> pfc_states;
  std::vector<PfcFrames> pfc_frames;
  std::vector<WatchdogQueue> watchdog;
  std::vector<PortTraffic> traffic;
  std::vector<QueueTraffic> queues;
  std::string cached_since;  // counters are differences to a snapshot of that time
  int cached_line = 0;

  bool is_empty() const;
};

}  // namespace rocetune::evidence
