// The choice among equally short paths that HPCC's simulator makes, so that the same flows of the same
// topology share the same links here and there.
#pragma once

#include <array>
#include <bit>
#include <span>

#include "dataplane/fabric/packet.h"

namespace rocetune::fabric {

enum class FlowHash : std::uint8_t {
  own,   // PathChoice's, of the addresses and ports that are in the headers
  hpcc,  // as HPCC's simulator has it
};

// UDP ports there: the first flow of a pair of hosts comes from 10000, the next one from 10001, and all go to
// the port that its file of flows names: 100 in the files of the reference figures. Acknowledgements go the
// other way.
constexpr std::uint16_t kHpccFirstPort = 10'000;
constexpr std::uint16_t kHpccDestinationPort = 100;

// MurmurHash3 (x86, 32 bit; Appleby, public domain) of whole words.
constexpr std::uint32_t murmur3(std::span<const std::uint32_t> words, std::uint32_t seed) {
  std::uint32_t hash = seed;
  for (const std::uint32_t word : words) {
    hash ^= std::rotl(word * 0xCC9E2D51U, 15) * 0x1B873593U;
    hash = std::rotl(hash, 13) * 5 + 0xE6546B64U;
  }
  hash ^= static_cast<std::uint32_t>(words.size_bytes());
  hash = (hash ^ hash >> 16) * 0x85EBCA6BU;
  hash = (hash ^ hash >> 13) * 0xC2B2AE35U;
  return hash ^ hash >> 16;
}

// What a switch has to know of a packet apart from where it goes, in place of the flow's own hash: the sender
// (below 2^16), which of the flows of the two it is, and its direction.
constexpr std::uint32_t hpcc_key(NodeId source, std::uint16_t source_port, bool is_acknowledgement) {
  return source << 16 | std::uint32_t{is_acknowledgement} << 15 |
         (static_cast<std::uint32_t>(source_port - kHpccFirstPort) & 0x7FFF);
}

// Host n has the address 11.0.0.1 + 256 n there, and the number of the switch is the seed.
constexpr std::uint32_t hpcc_hash(std::uint32_t key, NodeId destination, NodeId node) {
  const auto address = [](NodeId host) { return 0x0B000001U + (host << 8); };
  const std::uint32_t port = kHpccFirstPort + (key & 0x7FFF);
  const bool is_acknowledgement = (key >> 15 & 1) != 0;
  const std::uint32_t ports = is_acknowledgement ? port << 16 | kHpccDestinationPort
                                                 : std::uint32_t{kHpccDestinationPort} << 16 | port;
  return murmur3(std::array{address(key >> 16), address(destination), ports}, node);
}

}  // namespace rocetune::fabric
