#include "dataplane/transport/soft/hand_off.h"

#include <algorithm>
#include <bit>

#include "dataplane/wire/ip.h"
#include "dataplane/wire/transport_headers.h"

namespace rocetune::soft {
namespace {

constexpr int kQpnBits = 24;
constexpr std::size_t kQpnInBth = 5;  // offset of the destination queue pair
constexpr std::size_t kDestinationPort = 2;

std::optional<std::size_t> udp_offset(wire::ConstBytes frame) {
  constexpr std::size_t kEthernet = wire::EthernetHeader::kSize;
  std::size_t type_at = 12;
  std::uint16_t type = wire::load16(frame, type_at);
  std::size_t ip = kEthernet;
  if (wire::ether_type::is_vlan(type)) {
    type_at += wire::EthernetHeader::kTagSize;
    ip += wire::EthernetHeader::kTagSize;
    type = wire::load16(frame, type_at);
  }
  if (type == wire::ether_type::kIpv4) {
    if (wire::load8(frame, ip + 9) != wire::ip_protocol::kUdp) return std::nullopt;
    return ip + std::size_t{wire::load8(frame, ip) & 0xFU} * 4;
  }
  if (type != wire::ether_type::kIpv6 || wire::load8(frame, ip + 6) != wire::ip_protocol::kUdp)
    return std::nullopt;
  return ip + wire::Ipv6Header::kSize;
}

}  // namespace

std::optional<std::uint32_t> destination_of(wire::ConstBytes frame) {
  // Whatever the headers say lies within this many bytes of an acknowledgement, the shortest RoCE frame.
  constexpr std::size_t kShortest =
      wire::EthernetHeader::kSize + wire::Ipv4Header::kSize + wire::UdpHeader::kSize + wire::Bth::kSize;
  if (frame.size() < kShortest) return std::nullopt;
  const auto udp = udp_offset(frame);
  if (!udp || *udp + wire::UdpHeader::kSize + wire::Bth::kSize > frame.size()) return std::nullopt;
  if (wire::load16(frame, *udp + kDestinationPort) != wire::UdpHeader::kRoce) return std::nullopt;
  return wire::load24(frame, *udp + wire::UdpHeader::kSize + kQpnInBth);
}

HandOff::HandOff(std::uint32_t shards)
    : shards_(shards), shift_(kQpnBits - static_cast<int>(std::bit_width(shards - 1))) {
  ROCETUNE_ASSERT(shards >= 1);
  for (std::uint32_t i = 0; i < shards * shards; ++i) rings_.push_back(std::make_unique<Ring>());
}

std::uint32_t HandOff::owner_of(wire::ConstBytes frame, std::uint32_t here) const {
  const auto qpn = destination_of(frame);
  const std::uint32_t owner = qpn ? *qpn >> shift_ : here;
  return owner < shards_ ? owner : here;
}

bool HandOff::give(std::uint32_t from, std::uint32_t to, const port::ReceivedFrame& frame) {
  Ring& ring = this->ring(from, to);
  const std::size_t tail = ring.tail.load(std::memory_order_relaxed);
  if (tail - ring.head.load(std::memory_order_acquire) == kRingSize) return false;
  ring.places[tail % kRingSize] = frame;
  ring.tail.store(tail + 1, std::memory_order_release);
  return true;
}

std::size_t HandOff::take(std::uint32_t to, std::span<port::ReceivedFrame> out) {
  std::size_t count = 0;
  for (std::uint32_t from = 0; from < shards_ && count < out.size(); ++from) {
    Ring& ring = this->ring(from, to);
    const std::size_t head = ring.head.load(std::memory_order_relaxed);
    const std::size_t waiting = ring.tail.load(std::memory_order_acquire) - head;
    const std::size_t taken = std::min(waiting, out.size() - count);
    for (std::size_t i = 0; i < taken; ++i) out[count++] = ring.places[(head + i) % kRingSize];
    ring.head.store(head + taken, std::memory_order_release);
  }
  return count;
}

}  // namespace rocetune::soft
