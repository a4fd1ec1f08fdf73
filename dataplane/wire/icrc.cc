#include "dataplane/wire/icrc.h"

#include "dataplane/wire/crc32.h"

namespace rocetune::wire {
namespace {

constexpr std::size_t kBthSize = 12;
constexpr std::uint32_t kBehindOnes = 0xDEBB20E3;  // the register behind eight 0xFF bytes

void mask_network(MutableBytes header, NetworkHeader network) {
  switch (network) {
    case NetworkHeader::ipv4:
      store8(header, 1, 0xFF);      // ToS
      store8(header, 8, 0xFF);      // TTL
      store16(header, 10, 0xFFFF);  // checksum
      break;
    case NetworkHeader::ipv6:
    case NetworkHeader::grh:
      store32(header, 0, load32(header, 0) | 0x0FFFFFFF);  // traffic class and flow label
      store8(header, 7, 0xFF);                             // hop limit
      break;
  }
}

// What is set in the usual headers: IP without options, UDP, BTH.
Crc32Mask mask_of(NetworkHeader network, std::size_t transport) {
  Crc32Mask ones{};
  mask_network(ones, network);
  store16(ones, transport - 2, 0xFFFF);  // UDP checksum
  store8(ones, transport + 4, 0xFF);
  return ones;
}
constexpr std::size_t kUsualIpv4 = Ipv4Header::kSize + UdpHeader::kSize;
constexpr std::size_t kUsualIpv6 = Ipv6Header::kSize + UdpHeader::kSize;
static_assert(kUsualIpv6 + kBthSize <= kCrc32Mask);
const Crc32Mask kIpv4Mask = mask_of(NetworkHeader::ipv4, kUsualIpv4);
const Crc32Mask kIpv6Mask = mask_of(NetworkHeader::ipv6, kUsualIpv6);

// Where the fields that vary from packet to packet stand, as zero bytes between them and the end of UDP.
struct Contribution {
  std::array<std::uint32_t, 256> high;
  std::array<std::uint32_t, 256> low;
  explicit Contribution(unsigned zeros_behind)
      : high(crc32_byte_at(zeros_behind + 1)), low(crc32_byte_at(zeros_behind)) {}
  std::uint32_t of(std::uint16_t value) const { return high[value >> 8] ^ low[value & 0xFF]; }
};
struct Contributions {
  Contribution udp_length{2};
  Contribution ipv4_total_length{24};
  Contribution ipv4_id{22};
  Contribution ipv6_payload_length{42};
};
const Contributions kContributions;

}  // namespace

std::uint32_t icrc_of(ConstBytes packet, NetworkHeader network, std::size_t transport) {
  if (network == NetworkHeader::ipv4 && transport == kUsualIpv4)
    return ~crc32_extend_masked(kBehindOnes, packet, kIpv4Mask);
  if (network == NetworkHeader::ipv6 && transport == kUsualIpv6)
    return ~crc32_extend_masked(kBehindOnes, packet, kIpv6Mask);
  constexpr std::size_t kMaxHeaders = 60 + 8 + kBthSize;  // the longest IPv4 header, UDP, BTH
  std::array<std::byte, kMaxHeaders> masked;
  const std::size_t size = transport + kBthSize;
  ROCETUNE_ASSERT(size <= kMaxHeaders && size <= packet.size());
  const MutableBytes header(masked.data(), size);
  std::memcpy(header.data(), packet.data(), size);
  mask_network(header, network);
  if (network != NetworkHeader::grh) store16(header, transport - 2, 0xFFFF);  // UDP checksum
  store8(header, transport + 4, 0xFF);
  return ~crc32_extend(crc32_extend(kBehindOnes, header), packet.subspan(size));
}

IcrcPrefix::IcrcPrefix(ConstBytes headers, NetworkHeader network) : network_(network) {
  ROCETUNE_ASSERT(network != NetworkHeader::grh);
  const bool v4 = network == NetworkHeader::ipv4;
  const std::size_t ip_size = v4 ? Ipv4Header::kSize : Ipv6Header::kSize;
  std::array<std::byte, Ipv6Header::kSize + UdpHeader::kSize> copy;
  const MutableBytes masked(copy.data(), ip_size + UdpHeader::kSize);
  ROCETUNE_ASSERT(headers.size() >= masked.size());
  std::memcpy(masked.data(), headers.data(), masked.size());
  mask_network(masked, network);
  if (v4) {
    store16(masked, 2, 0);  // total length
    store16(masked, 4, 0);  // id
  } else {
    store16(masked, 4, 0);  // payload length
  }
  store16(masked, ip_size + 4, 0);       // UDP length
  store16(masked, ip_size + 6, 0xFFFF);  // UDP checksum
  constant_ = crc32_extend(kBehindOnes, masked);
}

std::uint32_t IcrcPrefix::behind_udp(std::uint16_t udp_length, std::uint16_t ipv4_id) const {
  const std::uint32_t state = constant_ ^ kContributions.udp_length.of(udp_length);
  if (network_ == NetworkHeader::ipv6) return state ^ kContributions.ipv6_payload_length.of(udp_length);
  return state ^ kContributions.ipv4_id.of(ipv4_id) ^
         kContributions.ipv4_total_length.of(static_cast<std::uint16_t>(udp_length + Ipv4Header::kSize));
}

std::uint32_t IcrcPrefix::behind_bth(std::uint32_t state, std::span<const std::byte, kBthSize> bth) {
  // In registers: a copy that is masked by a byte and read by words would wait for its own store.
  std::array<std::uint32_t, 3> words;
  std::memcpy(words.data(), bth.data(), kBthSize);
  static_assert(std::endian::native == std::endian::little);
  words[1] |= 0xFF;
  return crc32_extend(state, words);
}

std::uint32_t IcrcPrefix::icrc(ConstBytes transport, std::uint16_t ipv4_id) const {
  const auto udp_length = static_cast<std::uint16_t>(UdpHeader::kSize + transport.size() + kIcrcSize);
  const std::uint32_t state = behind_bth(behind_udp(udp_length, ipv4_id), transport.first<kBthSize>());
  return ~crc32_extend(state, transport.subspan(kBthSize));
}

}  // namespace rocetune::wire
