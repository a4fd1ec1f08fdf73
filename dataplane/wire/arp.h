// ARP over Ethernet for IPv4 (RFC 826).
#pragma once

#include "dataplane/wire/ethernet.h"
#include "dataplane/wire/ip.h"

namespace rocetune::wire {

namespace ether_type {
constexpr std::uint16_t kArp = 0x0806;
}  // namespace ether_type

struct ArpPacket {
  static constexpr std::size_t kSize = 28;
  enum class Operation : std::uint16_t { request = 1, reply = 2 };
  Operation operation = Operation::request;
  MacAddress sender_mac;
  std::uint32_t sender_ip = 0;  // host order
  MacAddress target_mac;        // request: not known
  std::uint32_t target_ip = 0;
  bool operator==(const ArpPacket&) const = default;

  // Errors: truncated; not_roce: another hardware, protocol or operation.
  static Decoded<ArpPacket> parse(ConstBytes packet);
  void emit(std::span<std::byte, kSize> out) const;
};

}  // namespace rocetune::wire
