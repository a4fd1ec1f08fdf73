#include "dataplane/port/neighbours.h"

#include <algorithm>

#include "dataplane/wire/arp.h"
#include "dataplane/wire/neighbour_discovery.h"

namespace rocetune::port {
namespace {

using wire::IpAddress;
using wire::MacAddress;

constexpr MacAddress kBroadcast{{0xff, 0xff, 0xff, 0xff, 0xff, 0xff}};
constexpr std::size_t kEthernet = wire::EthernetHeader::kSize;

std::size_t arp_frame(const wire::ArpPacket& arp, const MacAddress& destination, wire::MutableBytes out) {
  wire::EthernetHeader{.destination = destination, .source = arp.sender_mac, .type = wire::ether_type::kArp}
      .emit(out);
  arp.emit(wire::fixed<wire::ArpPacket::kSize>(out, kEthernet));
  return kEthernet + wire::ArpPacket::kSize;
}

std::size_t discovery_frame(const wire::NeighbourMessage& message, const IpAddress& source,
                            const IpAddress& destination, const MacAddress& destination_mac,
                            wire::MutableBytes out) {
  wire::EthernetHeader{
      .destination = destination_mac, .source = *message.mac, .type = wire::ether_type::kIpv6}
      .emit(out);
  const wire::Ipv6Header header{.payload_length = wire::NeighbourMessage::kSize,
                                .next_header = wire::ip_protocol::kIcmpV6,
                                .hop_limit = 255,
                                .source = source,
                                .destination = destination};
  header.emit(out.subspan(kEthernet));
  constexpr std::size_t kBody = kEthernet + wire::Ipv6Header::kSize;
  message.emit(header, wire::fixed<wire::NeighbourMessage::kSize>(out, kBody));
  return kBody + wire::NeighbourMessage::kSize;
}

}  // namespace

bool Neighbours::concerns(wire::ConstBytes frame) {
  if (frame.size() < kEthernet + wire::ArpPacket::kSize) return false;
  const std::uint16_t type = wire::load16(frame, 12);
  if (type == wire::ether_type::kArp) return true;
  return type == wire::ether_type::kIpv6 && wire::load8(frame, kEthernet + 6) == wire::ip_protocol::kIcmpV6;
}

bool Neighbours::is_own(const IpAddress& address) const {
  return std::find(own_.begin(), own_.end(), address) != own_.end();
}

std::optional<IpAddress> Neighbours::own_like(const IpAddress& other) const {
  const auto like = std::find_if(own_.begin(), own_.end(),
                                 [&](const IpAddress& address) { return address.is_v4() == other.is_v4(); });
  return like == own_.end() ? std::nullopt : std::optional(*like);
}

void Neighbours::learn(const IpAddress& address, const MacAddress& mac) {
  for (Asked& asked : asked_) {
    if (asked.address == address) asked.mac = mac;
  }
}

std::optional<MacAddress> Neighbours::find(const IpAddress& address) const {
  for (const Asked& asked : asked_) {
    if (asked.address == address) return asked.mac;
  }
  return std::nullopt;
}

std::size_t Neighbours::on_frame(wire::ConstBytes frame, wire::MutableBytes reply) {
  const wire::ConstBytes packet = frame.subspan(kEthernet);
  return wire::load16(frame, 12) == wire::ether_type::kArp ? on_arp(packet, reply)
                                                           : on_discovery(packet, reply);
}

std::size_t Neighbours::on_arp(wire::ConstBytes packet, wire::MutableBytes reply) {
  const auto arp = wire::ArpPacket::parse(packet);
  if (!arp) return 0;
  learn(IpAddress::v4(arp->sender_ip), arp->sender_mac);
  if (arp->operation != wire::ArpPacket::Operation::request || !is_own(IpAddress::v4(arp->target_ip)))
    return 0;
  return arp_frame({.operation = wire::ArpPacket::Operation::reply,
                    .sender_mac = mac_,
                    .sender_ip = arp->target_ip,
                    .target_mac = arp->sender_mac,
                    .target_ip = arp->sender_ip},
                   arp->sender_mac, reply);
}

std::size_t Neighbours::on_discovery(wire::ConstBytes packet, wire::MutableBytes reply) {
  const auto header = wire::Ipv6Header::parse(packet);
  if (!header || header->next_header != wire::ip_protocol::kIcmpV6) return 0;
  const auto message = wire::NeighbourMessage::parse(*header, packet.subspan(wire::Ipv6Header::kSize));
  if (!message || !message->mac) return 0;
  if (message->kind == wire::NeighbourMessage::Kind::advertisement) {
    learn(message->target, *message->mac);
    return 0;
  }
  learn(header->source, *message->mac);
  if (!is_own(message->target)) return 0;
  const wire::NeighbourMessage answer{
      .kind = wire::NeighbourMessage::Kind::advertisement, .target = message->target, .mac = mac_};
  return discovery_frame(answer, message->target, header->source, *message->mac, reply);
}

std::size_t Neighbours::ask(const IpAddress& address, wire::MutableBytes out) {
  const bool is_known =
      std::any_of(asked_.begin(), asked_.end(), [&](const Asked& asked) { return asked.address == address; });
  if (!is_known) asked_.push_back({address, std::nullopt});
  const std::optional<IpAddress> source = own_like(address);
  if (address.is_v4()) {
    return arp_frame(
        {.sender_mac = mac_, .sender_ip = source ? source->v4_value() : 0, .target_ip = address.v4_value()},
        kBroadcast, out);
  }
  const IpAddress group = wire::solicited_node_group(address);
  const wire::NeighbourMessage question{.target = address, .mac = mac_};
  return discovery_frame(question, source.value_or(wire::link_local_address(mac_)), group,
                         wire::ethernet_group_of(group), out);
}

}  // namespace rocetune::port
