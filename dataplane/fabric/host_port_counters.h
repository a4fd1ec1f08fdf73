// What the NIC of a host counts at its port: what a host can see of a fabric (agent/virtual_host).
#pragma once

#include <array>

#include "dataplane/fabric/packet.h"

namespace rocetune::fabric {

struct HostPortCounters {
  template <class T>
  using ByPriority = std::array<T, Priority::kCount>;

  // RoCE packets in the class that the NIC's map gives them. Unit of bytes: as they take on the link,
  // preamble and gap included.
  struct Traffic {
    ByPriority<std::uint64_t> packets{};
    ByPriority<std::uint64_t> wire_bytes{};
    void add(Priority p, std::uint32_t bytes) {
      ++packets[index_of(p)];
      wire_bytes[index_of(p)] += bytes;
    }
  };
  // PFC frames: all, and by the priorities that they name; refreshes and resumes too.
  struct Pauses {
    std::uint64_t all = 0;
    ByPriority<std::uint64_t> frames{};
    void add(const PfcMessage& message) {
      ++all;
      for (const Priority p : message.enabled.members()) ++frames[index_of(p)];
    }
  };
  Traffic sent, received;
  Pauses pauses_sent, pauses_received;
  // Arrived and found no room; also among the received ones.
  ByPriority<std::uint64_t> discards{};
  std::uint64_t discarded_wire_bytes = 0;
};

}  // namespace rocetune::fabric
