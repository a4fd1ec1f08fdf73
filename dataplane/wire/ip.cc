#include "dataplane/wire/ip.h"

#include <arpa/inet.h>
#include <fmt/core.h>

namespace rocetune::wire {
namespace {
constexpr std::array<std::uint8_t, 12> kMapped{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF};
}

bool IpAddress::is_v4() const { return std::memcmp(octets.data(), kMapped.data(), kMapped.size()) == 0; }

std::uint32_t IpAddress::v4_value() const {
  ROCETUNE_ASSERT(is_v4());
  return std::uint32_t{octets[12]} << 24 | std::uint32_t{octets[13]} << 16 | std::uint32_t{octets[14]} << 8 |
         octets[15];
}

std::optional<IpAddress> parse_ip_address(std::string_view text) {
  const std::string terminated(text);
  std::array<std::uint8_t, 4> v4{};
  if (::inet_pton(AF_INET, terminated.c_str(), v4.data()) == 1) {
    return IpAddress::v4(load32(std::as_bytes(std::span(v4)), 0));
  }
  IpAddress v6;
  if (::inet_pton(AF_INET6, terminated.c_str(), v6.octets.data()) == 1) return v6;
  return std::nullopt;
}

std::string to_text(const IpAddress& a) {
  const auto& o = a.octets;
  if (a.is_v4()) return fmt::format("{}.{}.{}.{}", o[12], o[13], o[14], o[15]);
  std::array<unsigned, 8> groups{};
  for (std::size_t i = 0; i < 8; ++i) groups[i] = unsigned{o[2 * i]} << 8 | o[2 * i + 1];
  // The longest run of at least two zero groups becomes "::", the first of equals.
  std::size_t best = 8;
  std::size_t best_length = 1;
  for (std::size_t i = 0; i < 8; ++i) {
    std::size_t length = 0;
    while (i + length < 8 && groups[i + length] == 0) ++length;
    if (length > best_length) {
      best = i;
      best_length = length;
    }
  }
  std::string text;
  for (std::size_t i = 0; i < 8; ++i) {
    if (i == best) {
      text += "::";
      i += best_length - 1;
      continue;
    }
    if (!text.empty() && text.back() != ':') text += ':';
    text += fmt::format("{:x}", groups[i]);
  }
  return text;
}

std::uint16_t internet_checksum(ConstBytes header) {
  std::uint32_t sum = 0;
  for (std::size_t i = 0; i + 1 < header.size(); i += 2) sum += load16(header, i);
  while (sum >> 16 != 0) sum = (sum & 0xFFFF) + (sum >> 16);
  return static_cast<std::uint16_t>(~sum);
}

void Ipv4Header::emit(MutableBytes out) const {
  store8(out, 0, 0x45);
  store8(out, 1, tos.wire());
  store16(out, 2, total_length);
  store16(out, 4, id);
  store16(out, 6, dont_fragment ? 0x4000 : 0);
  store8(out, 8, ttl);
  store8(out, 9, protocol);
  store16(out, 10, 0);
  store32(out, 12, source);
  store32(out, 16, destination);
  store16(out, 10, internet_checksum(out.first(kSize)));
}

void Ipv6Header::emit(MutableBytes out) const {
  ROCETUNE_ASSERT(flow_label < 1U << 20 && out.size() >= kSize);
  store32(out, 0, 6U << 28 | std::uint32_t{traffic_class.wire()} << 20 | flow_label);
  store16(out, 4, payload_length);
  store8(out, 6, next_header);
  store8(out, 7, hop_limit);
  std::memcpy(out.data() + 8, source.octets.data(), 16);
  std::memcpy(out.data() + 24, destination.octets.data(), 16);
}

void UdpHeader::emit(MutableBytes out) const {
  store16(out, 0, source_port);
  store16(out, 2, destination_port);
  store16(out, 4, length);
  store16(out, 6, checksum);
}

std::uint16_t source_port_of_flow_label(std::uint32_t flow_label) {
  ROCETUNE_ASSERT(flow_label < 1U << 20);
  return static_cast<std::uint16_t>(((flow_label & 0x3FFF) ^ (flow_label & 0xFC000) >> 14) | 0xC000);
}

}  // namespace rocetune::wire
