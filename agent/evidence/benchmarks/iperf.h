// Format "iperf3": throughput of TCP or UDP over the same path, text of iperf3 (and iperf 2) or its JSON.
#pragma once

#include <optional>
#include <string>

#include "agent/evidence/format.h"

namespace rocetune::evidence {

struct Iperf {
  std::string server;                              // "Connecting to host 10.0.0.2"
  std::optional<double> sent_gbps, received_gbps;  // of all streams together, over the whole run
  std::optional<double> interval_gbps;             // the latest interval, where the end is missing
  std::optional<std::uint64_t> retransmits;
  bool failed = false;  // "unable to connect"
  int line = 0;         // of the numbers

  std::optional<double> rate_gbps() const {
    return received_gbps ? received_gbps : sent_gbps ? sent_gbps : interval_gbps;
  }
};

Format iperf_format();

}  // namespace rocetune::evidence
