// Format "ping": whether packets of a size come back.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "agent/evidence/format.h"

namespace rocetune::evidence {

struct PingRun {
  std::string target;
  std::optional<int> payload_bytes;  // "56(84) bytes of data": the first
  std::optional<std::uint64_t> sent, received;
  std::uint64_t replies = 0;           // lines "64 bytes from ..."
  std::optional<int> local_mtu_bytes;  // "local error: message too long, mtu=1500": this host's own interface
  std::optional<int> hop_mtu_bytes;    // "Frag needed and DF set (mtu = 1500)": a hop's
  std::string hop;                     // who said so
  bool unreachable = false;            // "Destination Host Unreachable"
  bool is_unfragmented = false;        // -M do stands in the command
  int line = 0;

  // Every packet came back, or none did; nothing if it is not known or in between.
  std::optional<bool> passes() const;
};

struct Ping {
  std::vector<PingRun> runs;  // the first kMostRuns
  static constexpr std::size_t kMostRuns = 1024;
};

Format ping_format();

}  // namespace rocetune::evidence
