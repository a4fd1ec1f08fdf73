// The invariant CRC of RoCE: over everything a router must not change.
// Source: InfiniBand architecture specification, volume 1, section 7.8.1; annex A16 (RoCE), annex A17 (RoCE
// v2).
//
// CRC-32 over eight 0xFF bytes (where InfiniBand has its local route header), then IP header (or RoCE v1's
// GRH), UDP, BTH, … up to the pad. All ones stand for what changes on the way: IPv4 ToS, TTL and checksum;
// IPv6 (GRH) traffic class, flow label and hop limit; UDP checksum; BTH byte 4 (FECN, BECN, reserved). Sent
// low byte first.
#pragma once

#include "dataplane/wire/bytes.h"
#include "dataplane/wire/ip.h"

namespace rocetune::wire {

constexpr std::size_t kIcrcSize = 4;

// What the BTH stands behind.
enum class NetworkHeader : std::uint8_t { ipv4, ipv6, grh };

// The ICRC of `packet`: from the IP header or GRH to the last byte before the ICRC. `transport` is where the
// BTH begins; packet.size() must be at least transport + 12. Value as a number whose low byte is sent first.
std::uint32_t icrc_of(ConstBytes packet, NetworkHeader network, std::size_t transport);

// The value in the four bytes on the wire.
inline std::uint32_t load_icrc(ConstBytes bytes, std::size_t at) {
  return __builtin_bswap32(load32(bytes, at));
}
inline void store_icrc(MutableBytes bytes, std::size_t at, std::uint32_t icrc) {
  store32(bytes, at, __builtin_bswap32(icrc));
}

// The part of the ICRC that is constant for a queue pair, folded once: addresses, protocol, flags, ports. Per
// packet only the lengths and the IPv4 id are added (six table look-ups), then BTH and payload follow.
class IcrcPrefix {
 public:
  // `headers` is the IP header (no options) and UDP header of any packet of the flow.
  IcrcPrefix(ConstBytes headers, NetworkHeader network);
  // The register behind the UDP header of a packet with this UDP length (8 + transport bytes + ICRC).
  std::uint32_t behind_udp(std::uint16_t udp_length, std::uint16_t ipv4_id = 0) const;
  // The register behind the BTH.
  static std::uint32_t behind_bth(std::uint32_t state, std::span<const std::byte, 12> bth);
  // The ICRC of a packet whose transport part (BTH to pad) lies in one piece.
  std::uint32_t icrc(ConstBytes transport, std::uint16_t ipv4_id = 0) const;

 private:
  std::uint32_t constant_;
  NetworkHeader network_;
};

}  // namespace rocetune::wire
