// IPv4, IPv6 and UDP as RoCE v2 uses them (RFC 791, 8200, 768; InfiniBand annex A17).
#pragma once

#include <array>
#include <compare>
#include <optional>
#include <string>
#include <string_view>

#include "congestion/units.h"
#include "dataplane/wire/bytes.h"
#include "dataplane/wire/malformed.h"

namespace rocetune::wire {

// IPv4 addresses are held IPv4-mapped (::ffff:a.b.c.d), as GIDs hold them.
struct IpAddress {
  std::array<std::uint8_t, 16> octets{};
  static IpAddress v4(std::uint32_t address) {
    const std::uint64_t mapped = std::uint64_t{0xFFFF} << 32 | address;
    IpAddress a;
    store64(std::as_writable_bytes(std::span(a.octets)), 8, mapped);
    return a;
  }
  bool is_v4() const;
  std::uint32_t v4_value() const;  // host order; is_v4() must hold
  friend constexpr auto operator<=>(const IpAddress&, const IpAddress&) = default;
  // Two words instead of a call of memcmp: compared for every packet.
  friend bool operator==(const IpAddress& a, const IpAddress& b) {
    std::array<std::uint64_t, 2> x;
    std::array<std::uint64_t, 2> y;
    std::memcpy(x.data(), a.octets.data(), 16);
    std::memcpy(y.data(), b.octets.data(), 16);
    return ((x[0] ^ y[0]) | (x[1] ^ y[1])) == 0;
  }
};
std::string to_text(const IpAddress&);  // "192.0.2.1", "2001:db8::1" (RFC 5952)
// What inet_pton(3) takes, IPv4 or IPv6; none for anything else.
std::optional<IpAddress> parse_ip_address(std::string_view text);

namespace ip_protocol {
constexpr std::uint8_t kUdp = 17;
constexpr std::uint8_t kGre = 47;
constexpr std::uint8_t kIbTransport = 0x1B;  // next header of a RoCE v1 GRH
}  // namespace ip_protocol

struct Ipv4Header {
  static constexpr std::size_t kSize = 20;  // without options, as emitted
  TosByte tos;
  std::uint16_t total_length = kSize;
  std::uint16_t id = 0;
  bool dont_fragment = true;
  std::uint8_t ttl = 64;
  std::uint8_t protocol = ip_protocol::kUdp;
  std::uint32_t source = 0;  // host order
  std::uint32_t destination = 0;
  std::size_t header_size = kSize;  // with options, when parsed
  std::uint16_t checksum = 0;       // as parsed; computed when emitted
  bool operator==(const Ipv4Header&) const = default;

  // Errors: truncated, bad_version, bad_length, fragment.
  static Decoded<Ipv4Header> parse(ConstBytes packet);
  // Writes kSize bytes with a right checksum.
  void emit(MutableBytes out) const;
};
// Internet checksum over a header whose checksum field counts as it stands; 0 means right.
std::uint16_t internet_checksum(ConstBytes header);

struct Ipv6Header {
  static constexpr std::size_t kSize = 40;
  TosByte traffic_class;
  std::uint32_t flow_label = 0;      // 20 bits
  std::uint16_t payload_length = 0;  // behind this header
  std::uint8_t next_header = ip_protocol::kUdp;
  std::uint8_t hop_limit = 64;
  IpAddress source;
  IpAddress destination;
  bool operator==(const Ipv6Header&) const = default;

  // Errors: truncated, bad_version.
  static Decoded<Ipv6Header> parse(ConstBytes packet);
  void emit(MutableBytes out) const;
};

struct UdpHeader {
  static constexpr std::size_t kSize = 8;
  static constexpr std::uint16_t kRoce = 4791;
  static constexpr std::uint16_t kVxlan = 4789;
  std::uint16_t source_port = 0;
  std::uint16_t destination_port = kRoce;
  std::uint16_t length = kSize;
  std::uint16_t checksum = 0;  // 0: none
  bool operator==(const UdpHeader&) const = default;

  // Errors: truncated.
  static Decoded<UdpHeader> parse(ConstBytes packet);
  void emit(MutableBytes out) const;
};

// Parsing is here to be part of a caller's loop: every packet goes through it.
inline Decoded<Ipv4Header> Ipv4Header::parse(ConstBytes packet) {
  if (packet.size() < kSize) return malformed(Malformed::truncated);
  const std::uint8_t first = load8(packet, 0);
  if (first >> 4 != 4) return malformed(Malformed::bad_version);
  Ipv4Header h;
  h.header_size = std::size_t{first & 0xFU} * 4;
  if (h.header_size < kSize) return malformed(Malformed::bad_length);
  if (packet.size() < h.header_size) return malformed(Malformed::truncated);
  h.tos = TosByte::from_wire(load8(packet, 1));
  h.total_length = load16(packet, 2);
  if (h.total_length < h.header_size) return malformed(Malformed::bad_length);
  h.id = load16(packet, 4);
  const std::uint16_t fragment = load16(packet, 6);
  h.dont_fragment = (fragment & 0x4000) != 0;
  if ((fragment & 0x3FFF) != 0) return malformed(Malformed::fragment);
  h.ttl = load8(packet, 8);
  h.protocol = load8(packet, 9);
  h.checksum = load16(packet, 10);
  h.source = load32(packet, 12);
  h.destination = load32(packet, 16);
  return h;
}

inline Decoded<Ipv6Header> Ipv6Header::parse(ConstBytes packet) {
  if (packet.size() < kSize) return malformed(Malformed::truncated);
  const std::uint32_t first = load32(packet, 0);
  if (first >> 28 != 6) return malformed(Malformed::bad_version);
  Ipv6Header h;
  h.traffic_class = TosByte::from_wire(static_cast<std::uint8_t>(first >> 20));
  h.flow_label = first & 0xFFFFF;
  h.payload_length = load16(packet, 4);
  h.next_header = load8(packet, 6);
  h.hop_limit = load8(packet, 7);
  std::memcpy(h.source.octets.data(), packet.data() + 8, 16);
  std::memcpy(h.destination.octets.data(), packet.data() + 24, 16);
  return h;
}

inline Decoded<UdpHeader> UdpHeader::parse(ConstBytes packet) {
  if (packet.size() < kSize) return malformed(Malformed::truncated);
  return UdpHeader{load16(packet, 0), load16(packet, 2), load16(packet, 4), load16(packet, 6)};
}

// The UDP source port libibverbs gives a flow label: ((fl & 0x3FFF) ^ (fl >> 14 & 0x3F)) | 0xC000.
std::uint16_t source_port_of_flow_label(std::uint32_t flow_label);

}  // namespace rocetune::wire
