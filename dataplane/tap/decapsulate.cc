#include "dataplane/tap/decapsulate.h"

#include "dataplane/wire/ip.h"

namespace rocetune::tap {
namespace {

using namespace wire;  // NOLINT(google-build-using-namespace): all it speaks of is of the wire

constexpr int kMaxWrappings = 4;

bool read_ethernet(ConstBytes frame, InnerFrame& out) {
  const auto header = EthernetHeader::parse(frame);
  if (!header) return false;
  out.ethernet = *header;
  out.type = header->type;
  out.payload = frame.subspan(header->size());
  return true;
}
std::optional<InnerFrame> of_ethernet(ConstBytes frame) {
  InnerFrame inner;
  if (!read_ethernet(frame, inner)) return std::nullopt;
  return inner;
}

// Cooked captures keep VLAN tags behind their header.
std::optional<InnerFrame> of_cooked(std::uint16_t type, ConstBytes rest) {
  while (ether_type::is_vlan(type) && rest.size() >= 4) {
    type = load16(rest, 2);
    rest = rest.subspan(4);
  }
  return InnerFrame{.type = type, .payload = rest};
}

std::optional<InnerFrame> of_link(LinkType link, ConstBytes frame) {
  switch (link) {
    case LinkType::ethernet:
      break;  // read in place
    case LinkType::linux_cooked:
      if (frame.size() < 16) return std::nullopt;
      return of_cooked(load16(frame, 14), frame.subspan(16));
    case LinkType::linux_cooked_v2:
      if (frame.size() < 20) return std::nullopt;
      return of_cooked(load16(frame, 0), frame.subspan(20));
    case LinkType::raw_ip:
    case LinkType::raw_ipv4:
    case LinkType::raw_ipv6:
      if (frame.empty()) return std::nullopt;
      return InnerFrame{.type = load8(frame, 0) >> 4 == 6 ? ether_type::kIpv6 : ether_type::kIpv4,
                        .payload = frame};
  }
  return std::nullopt;
}

struct IpPayload {
  std::uint8_t protocol;
  ConstBytes bytes;
};
std::optional<IpPayload> ip_payload(std::uint16_t type, ConstBytes packet) {
  if (type == ether_type::kIpv4) {
    const auto ip = Ipv4Header::parse(packet);
    if (!ip) return std::nullopt;
    return IpPayload{ip->protocol, packet.subspan(ip->header_size)};
  }
  if (type == ether_type::kIpv6) {
    const auto ip = Ipv6Header::parse(packet);
    if (!ip) return std::nullopt;
    return IpPayload{ip->next_header, packet.subspan(Ipv6Header::kSize)};
  }
  return std::nullopt;
}

std::optional<InnerFrame> wrapped(std::optional<InnerFrame> inner, Wrapping by) {
  if (inner) inner->wrapping |= by;
  return inner;
}

// RFC 2784 and 2890; ERSPAN as draft-foschiano-erspan describes it.
std::optional<InnerFrame> of_gre(ConstBytes gre) {
  if (gre.size() < 4) return std::nullopt;
  const std::uint16_t flags = load16(gre, 0);
  const std::uint16_t protocol = load16(gre, 2);
  if ((flags & 7) != 0) return std::nullopt;  // version 1 is PPTP
  const bool has_sequence = (flags & 0x1000) != 0;
  const std::size_t size =
      4U + ((flags & 0x8000) != 0 ? 4 : 0) + ((flags & 0x2000) != 0 ? 4 : 0) + (has_sequence ? 4 : 0);
  if (gre.size() < size) return std::nullopt;
  const ConstBytes rest = gre.subspan(size);
  switch (protocol) {
    case ether_type::kErspan2:
      // Type II carries a sequence number and a header of its own, type I neither.
      if (!has_sequence) return wrapped(of_ethernet(rest), kWrapErspan1);
      if (rest.size() < 8) return std::nullopt;
      return wrapped(of_ethernet(rest.subspan(8)), kWrapErspan2);
    case ether_type::kErspan3: {
      if (rest.size() < 12) return std::nullopt;
      const bool has_platform = (load8(rest, 11) & 1) != 0;
      const std::size_t header = has_platform ? 20 : 12;
      if (rest.size() < header) return std::nullopt;
      return wrapped(of_ethernet(rest.subspan(header)), kWrapErspan3);
    }
    case ether_type::kTransparentBridging:
      return wrapped(of_ethernet(rest), kWrapGre);
    case ether_type::kIpv4:
    case ether_type::kIpv6:
      return InnerFrame{.type = protocol, .payload = rest, .wrapping = kWrapGre};
    default:
      return std::nullopt;
  }
}

// A glance that tells nearly all packets from tunnels before anything is parsed.
bool may_be_wrapped(const InnerFrame& frame) {
  const ConstBytes b = frame.payload;
  if (frame.type == ether_type::kIpv4) {
    if (b.size() < Ipv4Header::kSize + 4) return false;
    const std::uint8_t protocol = load8(b, 9);
    return protocol == ip_protocol::kGre ||
           (protocol == ip_protocol::kUdp && (load8(b, 0) != 0x45 || load16(b, 22) == UdpHeader::kVxlan));
  }
  if (frame.type == ether_type::kIpv6) {
    if (b.size() < Ipv6Header::kSize + 4) return false;
    const std::uint8_t protocol = load8(b, 6);
    return protocol == ip_protocol::kGre ||
           (protocol == ip_protocol::kUdp && load16(b, 42) == UdpHeader::kVxlan);
  }
  return false;
}

std::optional<InnerFrame> unwrapped(const InnerFrame& frame) {
  const auto ip = ip_payload(frame.type, frame.payload);
  if (!ip) return std::nullopt;
  if (ip->protocol == ip_protocol::kGre) return of_gre(ip->bytes);
  if (ip->protocol != ip_protocol::kUdp) return std::nullopt;
  const auto udp = UdpHeader::parse(ip->bytes);
  if (!udp || udp->destination_port != UdpHeader::kVxlan) return std::nullopt;
  const ConstBytes vxlan = ip->bytes.subspan(UdpHeader::kSize);
  if (vxlan.size() < 8 || (load8(vxlan, 0) & 0x08) == 0) return std::nullopt;  // RFC 7348: the I flag
  return wrapped(of_ethernet(vxlan.subspan(8)), kWrapVxlan);
}

}  // namespace

bool decapsulate(LinkType link, ConstBytes frame, InnerFrame& out) {
  if (link == LinkType::ethernet) {
    if (!read_ethernet(frame, out)) return false;
  } else {
    const std::optional<InnerFrame> outer = of_link(link, frame);
    if (!outer) return false;
    out = *outer;
  }
  for (int i = 0; i < kMaxWrappings && may_be_wrapped(out); ++i) {
    std::optional<InnerFrame> next = unwrapped(out);
    if (!next) break;
    next->wrapping |= out.wrapping;
    out = *next;
  }
  return true;
}

}  // namespace rocetune::tap
