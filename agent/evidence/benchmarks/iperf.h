// Format "iperf3": throughput of TCP or UDP over the same path, text of iperf3 (and iperf 2) or its JSON.
#pragma once

#include <optional>
#include <string>

#include "agent/evidence/format.h"

namespace rocetune::evidence {

struct Iperf {
  std::string server;                              // "Connecting to host 10.0.0.2"
  std::optional<double> sent_Gbps, received_Gbps;  // of all streams together, over the whole run
  std::optional<double> interval_Gbps;             // the latest interval, where the end is missing
  std::optional<std::uint64_t> retransmits;
  bool failed = false;  // "unable to connect"
  int line = 0;         // of the numbers

  std::optional<double> rate_Gbps() const {
    return received_Gbps ? received_Gbps : sent_Gbps ? sent_Gbps : interval_Gbps;
  }
};

Format iperf_format();

}  // namespace rocetune::evidence
