#include "dataplane/wire/roce_packet.h"

#include <algorithm>

#include "dataplane/wire/ethernet.h"

namespace rocetune::wire {
namespace {

using Filled = Decoded<void>;

// From the network layer's end: `packet.transport` and `packet.wire_size` are set.
Filled fill_transport(RocePacket& packet, ConstBytes bytes) {
  if (packet.wire_size < packet.transport + Bth::kSize + kIcrcSize) return malformed(Malformed::bad_length);
  packet.bytes = bytes.first(std::min<std::size_t>(bytes.size(), packet.wire_size));
  if (packet.bytes.size() < packet.transport + Bth::kSize) return malformed(Malformed::truncated);
  packet.bth = Bth::parse(fixed<Bth::kSize>(packet.bytes, packet.transport));
  packet.opcode = &info_of(packet.bth.opcode);
  const std::size_t overhead =
      packet.transport + Bth::kSize + packet.opcode->extended_size + packet.bth.pad + kIcrcSize;
  if (packet.wire_size < overhead) return malformed(Malformed::bad_length);
  packet.payload = static_cast<std::uint16_t>(packet.wire_size - overhead);
  return {};
}

Filled fill_udp(RocePacket& packet, ConstBytes bytes, std::size_t ip_size, std::size_t ip_payload) {
  const auto udp = UdpHeader::parse(bytes.subspan(std::min(ip_size, bytes.size())));
  if (!udp) return tl::unexpected(udp.error());
  if (udp->destination_port != UdpHeader::kRoce) return malformed(Malformed::not_roce);
  if (udp->length < UdpHeader::kSize || udp->length > ip_payload) return malformed(Malformed::bad_length);
  packet.source_port = udp->source_port;
  packet.transport = static_cast<std::uint16_t>(ip_size + UdpHeader::kSize);
  packet.wire_size = static_cast<std::uint16_t>(ip_size + udp->length);
  return fill_transport(packet, bytes);
}

Filled fill_v4(RocePacket& packet, ConstBytes bytes) {
  const auto ip = Ipv4Header::parse(bytes);
  if (!ip) return tl::unexpected(ip.error());
  if (ip->protocol != ip_protocol::kUdp) return malformed(Malformed::not_roce);
  packet.network = NetworkHeader::ipv4;
  packet.source = IpAddress::v4(ip->source);
  packet.destination = IpAddress::v4(ip->destination);
  packet.tos = ip->tos;
  return fill_udp(packet, bytes, ip->header_size, ip->total_length - ip->header_size);
}

Filled fill_v6(RocePacket& packet, ConstBytes bytes, bool is_grh) {
  const auto ip = Ipv6Header::parse(bytes);
  if (!ip) return tl::unexpected(ip.error());
  packet.network = is_grh ? NetworkHeader::grh : NetworkHeader::ipv6;
  packet.source = ip->source;
  packet.destination = ip->destination;
  packet.tos = ip->traffic_class;
  if (ip->payload_length > 0xFFFF - Ipv6Header::kSize) return malformed(Malformed::bad_length);
  if (!is_grh) {
    if (ip->next_header != ip_protocol::kUdp) return malformed(Malformed::not_roce);
    return fill_udp(packet, bytes, Ipv6Header::kSize, ip->payload_length);
  }
  if (ip->next_header != ip_protocol::kIbTransport) return malformed(Malformed::not_roce);
  packet.source_port = 0;
  packet.transport = Ipv6Header::kSize;
  packet.wire_size = static_cast<std::uint16_t>(Ipv6Header::kSize + ip->payload_length);
  return fill_transport(packet, bytes);
}

}  // namespace

Decoded<void> RocePacket::parse_into(RocePacket& packet, std::uint16_t type, ConstBytes bytes) {
  switch (type) {
    case ether_type::kIpv4:
      return fill_v4(packet, bytes);
    case ether_type::kIpv6:
      return fill_v6(packet, bytes, false);
    case ether_type::kRoceV1:
      return fill_v6(packet, bytes, true);
    default:
      return malformed(Malformed::not_roce);
  }
}

Decoded<RocePacket> RocePacket::parse(std::uint16_t type, ConstBytes bytes) {
  RocePacket packet;
  if (const auto filled = parse_into(packet, type, bytes); !filled) return tl::unexpected(filled.error());
  return packet;
}

IcrcState RocePacket::icrc_state() const {
  if (is_cut()) return IcrcState::unknown;
  const std::size_t at = wire_size - kIcrcSize;
  return icrc_of(bytes.first(at), network, transport) == load_icrc(bytes, at) ? IcrcState::ok
                                                                              : IcrcState::bad;
}

}  // namespace rocetune::wire
