#include "dataplane/wire/path_headers.h"

#include <algorithm>

#include "dataplane/wire/opcode.h"

namespace rocetune::wire {
namespace {

// Ethernet, IP and UDP with lengths of zero. Returns where IP begins and where all ends.
std::pair<std::size_t, std::size_t> write_headers(const Path& path, MutableBytes out) {
  ROCETUNE_ASSERT(path.source.is_v4() == path.destination.is_v4());
  const bool v4 = path.source.is_v4();
  EthernetHeader ethernet{.destination = path.destination_mac,
                          .source = path.source_mac,
                          .type = v4 ? ether_type::kIpv4 : ether_type::kIpv6};
  if (path.vlan) {
    ethernet.tags[0] = *path.vlan;
    ethernet.tag_count = 1;
  }
  const std::size_t ip = ethernet.emit(out);
  const std::size_t udp = ip + (v4 ? Ipv4Header::kSize : Ipv6Header::kSize);
  if (v4) {
    Ipv4Header{.tos = path.tos,
               .total_length = 0,
               .ttl = path.hop_limit,
               .source = path.source.v4_value(),
               .destination = path.destination.v4_value()}
        .emit(out.subspan(ip));
  } else {
    Ipv6Header{.traffic_class = path.tos,
               .flow_label = path.flow_label,
               .hop_limit = path.hop_limit,
               .source = path.source,
               .destination = path.destination}
        .emit(out.subspan(ip));
  }
  UdpHeader{.source_port = path.source_port, .length = 0}.emit(out.subspan(udp));
  return {ip, udp + UdpHeader::kSize};
}

IcrcPrefix prefix_of(const Path& path) {
  std::array<std::byte, PathHeaders::kMaxSize> bytes{};
  const auto [ip, end] = write_headers(path, bytes);
  return IcrcPrefix(ConstBytes(bytes).subspan(ip, end - ip),
                    path.source.is_v4() ? NetworkHeader::ipv4 : NetworkHeader::ipv6);
}

}  // namespace

PathHeaders::PathHeaders(const Path& path) : is_v4_(path.source.is_v4()), icrc_(prefix_of(path)) {
  const auto [ip, end] = write_headers(path, bytes_);
  ip_offset_ = ip;
  size_ = end;
  if (!is_v4_) return;
  // Of the emitted header, whose own checksum must not count.
  const MutableBytes header = MutableBytes(bytes_).subspan(ip, Ipv4Header::kSize);
  store16(header, 10, 0);
  checksum_base_ = static_cast<std::uint16_t>(~internet_checksum(header));
}

// There are four sizes; a copy of a size known here takes no call.
void PathHeaders::copy_template(std::byte* out) const {
  constexpr std::size_t kPlain = EthernetHeader::kSize + UdpHeader::kSize;
  constexpr std::size_t kTagged = kPlain + EthernetHeader::kTagSize;
  switch (size_) {
    case kPlain + Ipv4Header::kSize:
      std::memcpy(out, bytes_.data(), kPlain + Ipv4Header::kSize);
      break;
    case kTagged + Ipv4Header::kSize:
      std::memcpy(out, bytes_.data(), kTagged + Ipv4Header::kSize);
      break;
    case kPlain + Ipv6Header::kSize:
      std::memcpy(out, bytes_.data(), kPlain + Ipv6Header::kSize);
      break;
    default:
      std::memcpy(out, bytes_.data(), kTagged + Ipv6Header::kSize);
      break;
  }
}

void PathHeaders::emit(MutableBytes out, std::size_t transport, std::uint16_t ipv4_id) const {
  ROCETUNE_ASSERT(out.size() >= size_);
  const std::size_t udp_length = UdpHeader::kSize + transport + kIcrcSize;
  ROCETUNE_ASSERT(udp_length <= 0xFFFF - Ipv4Header::kSize);
  copy_template(out.data());
  const MutableBytes ip = out.subspan(ip_offset_);
  if (is_v4_) {
    const auto total = static_cast<std::uint16_t>(udp_length + Ipv4Header::kSize);
    std::uint32_t sum = checksum_base_ + total + ipv4_id;
    while (sum >> 16 != 0) sum = (sum & 0xFFFF) + (sum >> 16);
    store16(ip, 2, total);
    store16(ip, 4, ipv4_id);
    store16(ip, 10, static_cast<std::uint16_t>(~sum));
  } else {
    store16(ip, 4, static_cast<std::uint16_t>(udp_length));
  }
  store16(out, size_ - 4, static_cast<std::uint16_t>(udp_length));
}

void PathHeaders::remark(MutableBytes packet, TosByte tos, Priority pcp) const {
  if (ip_offset_ > EthernetHeader::kSize) {
    const std::uint8_t rest = load8(packet, EthernetHeader::kSize) & 0x1F;  // drop eligible, VLAN id
    store8(packet, EthernetHeader::kSize, pcp.value() << 5 | rest);
  }
  const MutableBytes ip = packet.subspan(ip_offset_);
  if (is_v4_) {
    store8(ip, 1, tos.wire());
    store16(ip, 10, 0);
    store16(ip, 10, internet_checksum(ConstBytes(ip).first(Ipv4Header::kSize)));
  } else {
    store16(ip, 0, static_cast<std::uint16_t>((load16(ip, 0) & 0xF00F) | tos.wire() << 4));
  }
}

std::size_t emit_cnp(const PathHeaders& path, Qpn destination, MutableBytes out) {
  const std::size_t bth = path.size();
  path.emit(out, kCnpTransportSize);
  Bth{.opcode = opcode::kCnp, .becn = true, .destination = destination}.emit(fixed<Bth::kSize>(out, bth));
  std::ranges::fill(out.subspan(bth + Bth::kSize, 16), std::byte{0});
  store_icrc(out, bth + kCnpTransportSize, path.icrc().icrc(out.subspan(bth, kCnpTransportSize)));
  return bth + kCnpTransportSize + kIcrcSize;
}

}  // namespace rocetune::wire
