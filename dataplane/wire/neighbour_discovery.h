// Neighbour solicitation and advertisement of IPv6 (RFC 4861, sections 4.3 and 4.4), over Ethernet.
#pragma once

#include "dataplane/wire/ethernet.h"
#include "dataplane/wire/ip.h"

namespace rocetune::wire {

namespace ip_protocol {
constexpr std::uint8_t kIcmpV6 = 58;
}  // namespace ip_protocol

struct NeighbourMessage {
  // The ICMPv6 message with one link-layer address option.
  static constexpr std::size_t kSize = 32;
  enum class Kind : std::uint8_t { solicitation = 135, advertisement = 136 };
  Kind kind = Kind::solicitation;
  IpAddress target;
  std::optional<MacAddress> mac;  // source (solicitation) or target (advertisement) link-layer address
  bool operator==(const NeighbourMessage&) const = default;

  // `message`: behind the IPv6 header, which must say hop limit 255 (the message was not routed) and gives
  // the checksum its addresses. Errors: truncated, bad_length (an option, or a wrong checksum), not_roce
  // (another message, or one that was routed).
  static Decoded<NeighbourMessage> parse(const Ipv6Header& header, ConstBytes message);
  // With `mac` as its option, which must be there. An advertisement is solicited and overrides.
  void emit(const Ipv6Header& header, std::span<std::byte, kSize> out) const;
};

// Where a solicitation for `target` is sent to: ff02::1:ffXX:XXXX, and the Ethernet group of it (RFC 4291,
// section 2.7.1; RFC 2464, section 7).
IpAddress solicited_node_group(const IpAddress& target);
MacAddress ethernet_group_of(const IpAddress& group);

// fe80:: and the modified EUI-64 of the address (RFC 4291, appendix A): also the first GID of a RoCE port.
IpAddress link_local_address(const MacAddress& mac);

}  // namespace rocetune::wire
