#include "dataplane/wire/neighbour_discovery.h"

namespace rocetune::wire {
namespace {

constexpr std::size_t kFixedSize = 24;  // in front of the options
constexpr std::uint8_t kNotRouted = 255;
constexpr std::uint8_t kSourceOption = 1;
constexpr std::uint8_t kTargetOption = 2;
constexpr std::uint32_t kSolicitedOverride = 0x60000000;

std::uint32_t sum_of(ConstBytes bytes, std::uint32_t sum) {
  for (std::size_t i = 0; i + 1 < bytes.size(); i += 2) sum += load16(bytes, i);
  if (bytes.size() % 2 != 0) sum += std::uint32_t{load8(bytes, bytes.size() - 1)} << 8;
  return sum;
}

// Over the pseudo header (RFC 8200, section 8.1) and the message as it stands; 0 means right.
std::uint16_t checksum_of(const Ipv6Header& header, ConstBytes message) {
  std::uint32_t sum = sum_of(std::as_bytes(std::span(header.source.octets)), ip_protocol::kIcmpV6);
  sum = sum_of(std::as_bytes(std::span(header.destination.octets)), sum);
  sum = sum_of(message, sum + static_cast<std::uint32_t>(message.size()));
  while (sum >> 16 != 0) sum = (sum & 0xFFFF) + (sum >> 16);
  return static_cast<std::uint16_t>(~sum);
}

}  // namespace

Decoded<NeighbourMessage> NeighbourMessage::parse(const Ipv6Header& header, ConstBytes message) {
  if (message.size() > header.payload_length) message = message.first(header.payload_length);
  if (message.size() < kFixedSize || message.size() < header.payload_length)
    return malformed(Malformed::truncated);
  const std::uint8_t type = load8(message, 0);
  const bool is_solicitation = type == static_cast<std::uint8_t>(Kind::solicitation);
  if (!is_solicitation && type != static_cast<std::uint8_t>(Kind::advertisement)) {
    return malformed(Malformed::not_roce);
  }
  if (header.hop_limit != kNotRouted || load8(message, 1) != 0) return malformed(Malformed::not_roce);
  if (checksum_of(header, message) != 0) return malformed(Malformed::bad_length);
  NeighbourMessage out{.kind = static_cast<Kind>(type)};
  std::memcpy(out.target.octets.data(), message.subspan(8, 16).data(), 16);
  const std::uint8_t wanted = is_solicitation ? kSourceOption : kTargetOption;
  for (ConstBytes options = message.subspan(kFixedSize); !options.empty();) {
    const std::size_t size = options.size() < 2 ? 0 : std::size_t{load8(options, 1)} * 8;
    if (size == 0 || size > options.size()) return malformed(Malformed::bad_length);
    if (load8(options, 0) == wanted && size == 8) {
      out.mac.emplace();
      std::memcpy(out.mac->octets.data(), options.subspan(2, 6).data(), 6);
    }
    options = options.subspan(size);
  }
  return out;
}

void NeighbourMessage::emit(const Ipv6Header& header, std::span<std::byte, kSize> out) const {
  ROCETUNE_ASSERT(mac.has_value());
  const MutableBytes bytes = out;
  const bool is_solicitation = kind == Kind::solicitation;
  store8(bytes, 0, static_cast<std::uint8_t>(kind));
  store8(bytes, 1, 0);
  store16(bytes, 2, 0);
  store32(bytes, 4, is_solicitation ? 0 : kSolicitedOverride);
  std::memcpy(bytes.subspan(8, 16).data(), target.octets.data(), 16);
  store8(bytes, kFixedSize, is_solicitation ? kSourceOption : kTargetOption);
  store8(bytes, kFixedSize + 1, 1);
  std::memcpy(bytes.subspan(kFixedSize + 2, 6).data(), mac->octets.data(), 6);
  store16(bytes, 2, checksum_of(header, bytes));
}

IpAddress solicited_node_group(const IpAddress& target) {
  IpAddress group{{0xff, 0x02, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x01, 0xff, 0, 0, 0}};
  for (std::size_t i = 13; i < 16; ++i) group.octets[i] = target.octets[i];
  return group;
}

MacAddress ethernet_group_of(const IpAddress& group) {
  return {{0x33, 0x33, group.octets[12], group.octets[13], group.octets[14], group.octets[15]}};
}

IpAddress link_local_address(const MacAddress& mac) {
  const auto& m = mac.octets;
  const auto first = static_cast<std::uint8_t>(m[0] ^ 0x02);
  return {{0xfe, 0x80, 0, 0, 0, 0, 0, 0, first, m[1], m[2], 0xff, 0xfe, m[3], m[4], m[5]}};
}

}  // namespace rocetune::wire
