#include "dataplane/wire/roce_packet.h"

#include <algorithm>

#include "dataplane/wire/ethernet.h"

namespace rocetune::wire {
namespace {

// From the network layer's end: `packet.transport` and `packet.wire_size` are set.
Decoded<RocePacket> with_transport(RocePacket packet, ConstBytes bytes) {
  if (packet.wire_size < packet.transport + Bth::kSize + kIcrcSize) return malformed(Malformed::bad_length);
  packet.bytes = bytes.first(std::min<std::size_t>(bytes.size(), packet.wire_size));
  if (packet.bytes.size() < packet.transport + Bth::kSize) return malformed(Malformed::truncated);
  packet.bth = Bth::parse(fixed<Bth::kSize>(packet.bytes, packet.transport));
  packet.opcode = &info_of(packet.bth.opcode);
  const std::size_t overhead =
      packet.transport + Bth::kSize + packet.opcode->extended_size + packet.bth.pad + kIcrcSize;
  if (packet.wire_size < overhead) return malformed(Malformed::bad_length);
  packet.payload = static_cast<std::uint16_t>(packet.wire_size - overhead);
  return packet;
}

Decoded<RocePacket> with_udp(RocePacket packet, ConstBytes bytes, std::size_t ip_size,
                             std::size_t ip_payload) {
  const auto udp = UdpHeader::parse(bytes.subspan(std::min(ip_size, bytes.size())));
  if (!udp) return tl::unexpected(udp.error());
  if (udp->destination_port != UdpHeader::kRoce) return malformed(Malformed::not_roce);
  if (udp->length < UdpHeader::kSize || udp->length > ip_payload) return malformed(Malformed::bad_length);
  packet.source_port = udp->source_port;
  packet.transport = static_cast<std::uint16_t>(ip_size + UdpHeader::kSize);
  packet.wire_size = static_cast<std::uint16_t>(ip_size + udp->length);
  return with_transport(packet, bytes);
}

Decoded<RocePacket> parse_v4(ConstBytes bytes) {
  const auto ip = Ipv4Header::parse(bytes);
  if (!ip) return tl::unexpected(ip.error());
  if (ip->protocol != ip_protocol::kUdp) return malformed(Malformed::not_roce);
  RocePacket packet{.network = NetworkHeader::ipv4,
                    .source = IpAddress::v4(ip->source),
                    .destination = IpAddress::v4(ip->destination),
                    .tos = ip->tos};
  return with_udp(packet, bytes, ip->header_size, ip->total_length - ip->header_size);
}

Decoded<RocePacket> parse_v6(ConstBytes bytes, bool is_grh) {
  const auto ip = Ipv6Header::parse(bytes);
  if (!ip) return tl::unexpected(ip.error());
  RocePacket packet{.network = is_grh ? NetworkHeader::grh : NetworkHeader::ipv6,
                    .source = ip->source,
                    .destination = ip->destination,
                    .tos = ip->traffic_class};
  if (ip->payload_length > 0xFFFF - Ipv6Header::kSize) return malformed(Malformed::bad_length);
  if (!is_grh) {
    if (ip->next_header != ip_protocol::kUdp) return malformed(Malformed::not_roce);
    return with_udp(packet, bytes, Ipv6Header::kSize, ip->payload_length);
  }
  if (ip->next_header != ip_protocol::kIbTransport) return malformed(Malformed::not_roce);
  packet.transport = Ipv6Header::kSize;
  packet.wire_size = static_cast<std::uint16_t>(Ipv6Header::kSize + ip->payload_length);
  return with_transport(packet, bytes);
}

}  // namespace

Decoded<RocePacket> RocePacket::parse(std::uint16_t type, ConstBytes bytes) {
  switch (type) {
    case ether_type::kIpv4:
      return parse_v4(bytes);
    case ether_type::kIpv6:
      return parse_v6(bytes, false);
    case ether_type::kRoceV1:
      return parse_v6(bytes, true);
    default:
      return malformed(Malformed::not_roce);
  }
}

IcrcState RocePacket::icrc_state() const {
  if (is_cut()) return IcrcState::unknown;
  const std::size_t at = wire_size - kIcrcSize;
  return icrc_of(bytes.first(at), network, transport) == load_icrc(bytes, at) ? IcrcState::ok
                                                                              : IcrcState::bad;
}

}  // namespace rocetune::wire
