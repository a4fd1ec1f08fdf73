// Format "traffic-generator": flow statistics of snappi or IxNetwork.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "agent/evidence/format.h"

namespace rocetune::evidence {

struct GeneratedFlow {
  std::string name, transmitter, receiver;
  std::optional<int> dscp;
  std::optional<std::uint64_t> naks, sequence_errors, sent_frames, received_frames;
  int line = 0;
};

struct TrafficGenerator {
  std::vector<GeneratedFlow> flows;  // the first kMostFlows
  static constexpr std::size_t kMostFlows = 1 << 16;
};

Format traffic_generator_format();

}  // namespace rocetune::evidence
