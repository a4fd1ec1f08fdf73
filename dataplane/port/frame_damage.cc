#include "dataplane/port/frame_damage.h"

#include "dataplane/wire/ethernet.h"
#include "dataplane/wire/ip.h"

namespace rocetune::port {
namespace {

constexpr std::uint8_t kEcnMask = 3;

bool is_markable(std::uint8_t ecn) {
  return ecn == static_cast<std::uint8_t>(Ecn::ect0) || ecn == static_cast<std::uint8_t>(Ecn::ect1);
}

bool mark_v4(wire::MutableBytes packet) {
  const auto header = wire::Ipv4Header::parse(packet);
  if (!header || !is_markable(header->tos.wire() & kEcnMask)) return false;
  wire::store8(packet, 1, header->tos.wire() | kEcnMask);
  wire::store16(packet, 10, 0);
  wire::store16(packet, 10, wire::internet_checksum(packet.first(header->header_size)));
  return true;
}

bool mark_v6(wire::MutableBytes packet) {
  const auto header = wire::Ipv6Header::parse(packet);
  if (!header || !is_markable(header->traffic_class.wire() & kEcnMask)) return false;
  wire::store8(packet, 1, wire::load8(packet, 1) | kEcnMask << 4);  // low half of the traffic class
  return true;
}

}  // namespace

bool mark_ce(wire::MutableBytes frame) {
  const auto ethernet = wire::EthernetHeader::parse(frame);
  if (!ethernet) return false;
  const wire::MutableBytes packet = frame.subspan(ethernet->size());
  if (ethernet->type == wire::ether_type::kIpv4) return mark_v4(packet);
  if (ethernet->type == wire::ether_type::kIpv6) return mark_v6(packet);
  return false;
}

bool flip_random_bit(wire::MutableBytes frame, Random& random) {
  if (frame.size() <= wire::EthernetHeader::kSize) return false;
  const wire::MutableBytes body = frame.subspan(wire::EthernetHeader::kSize);
  const std::uint64_t bit = random.below(body.size() * 8);
  body[bit / 8] ^= std::byte{1} << (bit % 8);
  return true;
}

}  // namespace rocetune::port
