// Where a host looks into the headers of its frames: Ethernet without a tag, then, as a packet's body has
// them, IPv4, UDP, BTH.
#pragma once

#include "dataplane/fabric/packet.h"
#include "dataplane/wire/opcode.h"
#include "dataplane/wire/path_headers.h"

namespace rocetune::fabric {

constexpr std::size_t kEthernet = wire::EthernetHeader::kSize;
constexpr std::size_t kIp = 0;  // from here on: in a body
constexpr std::size_t kUdp = kIp + wire::Ipv4Header::kSize;
constexpr std::size_t kBth = kUdp + wire::UdpHeader::kSize;

// Of all frames: nobody in a fabric looks at MAC addresses, and hosts have none.
constexpr std::array<std::byte, kEthernet> kEthernetHeader = [] {
  std::array<std::byte, kEthernet> out{};
  out[12] = std::byte{wire::ether_type::kIpv4 >> 8};
  out[13] = std::byte{wire::ether_type::kIpv4 & 0xFF};
  return out;
}();

inline bool is_acknowledgement(const PacketBody& body) {
  return wire::load8(body.header, kBth) == wire::opcode::kRcAcknowledge;
}
inline wire::Qpn destination_of(const PacketBody& body) {
  return wire::Qpn(wire::load32(body.header, kBth + 4) & 0xFFFFFF);
}

}  // namespace rocetune::fabric
