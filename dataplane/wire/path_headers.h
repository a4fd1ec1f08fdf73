// The headers in front of the BTH that are the same for every packet of a queue pair: Ethernet, IP, UDP.
// Built once, copied per packet; with them the constant part of the ICRC.
#pragma once

#include "dataplane/wire/ethernet.h"
#include "dataplane/wire/icrc.h"
#include "dataplane/wire/ip.h"
#include "dataplane/wire/transport_headers.h"

namespace rocetune::wire {

// Where a queue pair's packets go. Both addresses must be IPv4 or both IPv6.
struct Path {
  MacAddress source_mac;
  MacAddress destination_mac;
  std::optional<VlanTag> vlan;
  IpAddress source;
  IpAddress destination;
  TosByte tos{Dscp(0), Ecn::ect0};
  std::uint8_t hop_limit = 64;
  std::uint16_t source_port = 0xC000;
  std::uint32_t flow_label = 0;  // IPv6
};

class PathHeaders {
 public:
  static constexpr std::size_t kMaxSize =
      EthernetHeader::kSize + EthernetHeader::kTagSize + Ipv6Header::kSize + UdpHeader::kSize;

  explicit PathHeaders(const Path& path);
  std::size_t size() const { return size_; }
  std::size_t ip_offset() const { return ip_offset_; }
  // Writes size() bytes for a packet of `transport` bytes from BTH to pad (the ICRC comes on top). UDP
  // checksum 0: RoCE v2 has the ICRC, and annex A17 lets receivers accept it.
  void emit(MutableBytes out, std::size_t transport, std::uint16_t ipv4_id = 0) const;
  // Gives an emitted packet another class: ToS, checksum, and the tag's priority if there is a tag. The ICRC
  // does not cover them.
  void remark(MutableBytes packet, TosByte tos, Priority pcp) const;
  const IcrcPrefix& icrc() const { return icrc_; }

 private:
  void copy_template(std::byte* out) const;

  std::array<std::byte, kMaxSize> bytes_{};
  std::size_t ip_offset_ = 0;
  std::size_t size_ = 0;
  bool is_v4_;
  std::uint32_t checksum_base_ = 0;  // IPv4: sum of the header without total length and id
  IcrcPrefix icrc_;
};

// A whole congestion notification packet (annex A17): BTH opcode 0x81, BECN, PSN 0, default partition, 16
// reserved bytes, ICRC. `path.tos` decides its class (DSCP 48 by mlx5's default). Returns its size.
constexpr std::size_t kCnpTransportSize = Bth::kSize + 16;
std::size_t emit_cnp(const PathHeaders& path, Qpn destination, MutableBytes out);

}  // namespace rocetune::wire
