#include "dataplane/wire/arp.h"

namespace rocetune::wire {
namespace {

constexpr std::uint16_t kEthernet = 1;
constexpr std::uint16_t kAddressSizes = 6 << 8 | 4;  // of a hardware and of a protocol address

MacAddress load_mac(ConstBytes bytes, std::size_t at) {
  MacAddress mac;
  std::memcpy(mac.octets.data(), bytes.subspan(at, mac.octets.size()).data(), mac.octets.size());
  return mac;
}
void store_mac(MutableBytes bytes, std::size_t at, const MacAddress& mac) {
  std::memcpy(bytes.subspan(at, mac.octets.size()).data(), mac.octets.data(), mac.octets.size());
}

}  // namespace

Decoded<ArpPacket> ArpPacket::parse(ConstBytes packet) {
  if (packet.size() < kSize) return malformed(Malformed::truncated);
  const std::uint16_t operation = load16(packet, 6);
  const bool is_known = load16(packet, 0) == kEthernet && load16(packet, 2) == ether_type::kIpv4 &&
                        load16(packet, 4) == kAddressSizes && (operation == 1 || operation == 2);
  if (!is_known) return malformed(Malformed::not_roce);
  return ArpPacket{static_cast<Operation>(operation), load_mac(packet, 8), load32(packet, 14),
                   load_mac(packet, 18), load32(packet, 24)};
}

void ArpPacket::emit(std::span<std::byte, kSize> out) const {
  store16(out, 0, kEthernet);
  store16(out, 2, ether_type::kIpv4);
  store16(out, 4, kAddressSizes);
  store16(out, 6, static_cast<std::uint16_t>(operation));
  store_mac(out, 8, sender_mac);
  store32(out, 14, sender_ip);
  store_mac(out, 18, target_mac);
  store32(out, 24, target_ip);
}

}  // namespace rocetune::wire
