// Where a host looks into the headers of its frames: Ethernet without a tag, IPv4, UDP, BTH.
#pragma once

#include "dataplane/fabric/packet.h"
#include "dataplane/wire/opcode.h"
#include "dataplane/wire/path_headers.h"

namespace rocetune::fabric {

constexpr std::size_t kIp = wire::EthernetHeader::kSize;
constexpr std::size_t kUdp = kIp + wire::Ipv4Header::kSize;
constexpr std::size_t kBth = kUdp + wire::UdpHeader::kSize;

inline bool is_acknowledgement(const PacketBody& body) {
  return wire::load8(body.header, kBth) == wire::opcode::kRcAcknowledge;
}
inline wire::Qpn destination_of(const PacketBody& body) {
  return wire::Qpn(wire::load32(body.header, kBth + 4) & 0xFFFFFF);
}

}  // namespace rocetune::fabric
