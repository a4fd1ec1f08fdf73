#include "dataplane/wire/icrc.h"

#include <gtest/gtest.h>

#include <random>

#include "dataplane/wire/ethernet.h"
#include "dataplane/wire/path_headers.h"
#include "dataplane/wire/roce_packet.h"
#include "tests/dataplane/wire/hex.h"

namespace rocetune::wire {
namespace {

struct Vector {
  const char* name;
  std::uint16_t ether_type;
  const char* packet;  // from the network header on, without ICRC
  const char* icrc;
};
constexpr std::uint16_t kV4 = ether_type::kIpv4;
constexpr std::uint16_t kV6 = ether_type::kIpv6;
constexpr std::uint16_t kV1 = ether_type::kRoceV1;
// The first six are this project's own. The others are the frames of Scapy's RoCE tests (the CNP was captured
// on a ConnectX-4 Lx) and two RoCE v1 frames.
constexpr std::array kVectors{
    Vector{"RC SEND Only, one byte", kV4,
           "456a0030000040004011b64fc0000201c0000202c00112b7001c00000430ffff0000001180ffffffaa000000",
           "4e2a43d9"},
    Vector{"RC WRITE Only", kV4,
           "456a004c000040004011b633c0000201c0000202c00212b7003800000a00ffff000000128000000011223344556677889"
           "9aabbcc000000"
           "10000102030405060708090a0b0c0d0e0f",
           "b812d590"},
    Vector{"RC ACK", kV4,
           "456a0030000040004011b64fc0000201c0000202c00312b7001c00001100ffff00000013000000051f000001",
           "9c311c30"},
    Vector{"RC NAK", kV4,
           "456a0030000040004011b64fc0000201c0000202c00312b7001c00001100ffff000000130000000760000001",
           "36d28079"},
    Vector{"CNP", kV4,
           "45c2003c000040004011b5ebc0000202c0000201c00412b7002800008100ffff400000140000000000000000000000000"
           "00000000000"
           "0000",
           "bc17cc09"},
    Vector{"RC SEND Only over IPv6", kV6,
           "66a12345001c114020010db800000000000000000000000120010db8000000000000000000000002c00512b7001c00000"
           "400ffff0000"
           "001580000001deadbeef",
           "13fe9b5b"},
    Vector{"CNP of a ConnectX-4 Lx", kV4,
           "45c2003c718c4000401191610a0011010a001201000012b7002800008100ffff400001180000000000000000000000000"
           "0000000000"
           "00000",
           "82fd002a"},
    Vector{"RoCE v1 RC WRITE Only", kV1,
           "6020000000281b4000000000000000000000ffff0f00000200000000000000000000ffff0f0000020a70ffff0000010a8"
           "0a788bc0000"
           "55d4c0726000000047b300000005000000000100"
           "0000",
           "e3d856bb"},
    Vector{"RoCE v1 RC ACK", kV1,
           "6020000000141b4000000000000000000000ffff0f00000200000000000000000000ffff0f0000021140ffff000001090"
           "0a788c00000"
           "0005",
           "25f0c038"},
    Vector{"UC SEND Only", kV4,
           "45010040047840004011b4d5c0a80007c0a80007c00012b7002caca22460ffff000000d300cf17104630818be28935d90"
           "e9a95505401"
           "be885e500000",
           "78f353f3"},
    Vector{"UC SEND Only over IPv6", kV6,
           "6e21face002c11ff2022000000000000000000000000102320230000000000000000000000001024c00012b7002ce7c52"
           "460ffff0000"
           "00d300cf17104630818be28935d90e9a95505401be885e500000",
           "3e5b743b"},
};

std::vector<std::byte> whole(const Vector& v) {
  std::vector<std::byte> bytes = from_hex(v.packet);
  const std::vector<std::byte> icrc = from_hex(v.icrc);
  bytes.insert(bytes.end(), icrc.begin(), icrc.end());
  return bytes;
}

TEST(Icrc, AllVectorsVerify) {
  for (const Vector& v : kVectors) {
    const std::vector<std::byte> bytes = whole(v);
    const auto packet = RocePacket::parse(v.ether_type, bytes);
    ASSERT_TRUE(packet) << v.name << ": " << enum_name(packet.error());
    EXPECT_EQ(packet->wire_size, bytes.size()) << v.name;
    EXPECT_EQ(packet->icrc_state(), IcrcState::ok) << v.name;
  }
}

// Which bits of a packet a router may change.
bool may_change(NetworkHeader network, std::size_t transport, std::size_t byte) {
  if (byte == transport + 4) return true;  // FECN, BECN, reserved
  if (network == NetworkHeader::ipv4) {
    return byte == 1 || byte == 8 || byte == 10 || byte == 11 || byte == transport - 2 ||
           byte == transport - 1;
  }
  if (network == NetworkHeader::ipv6 && (byte == transport - 2 || byte == transport - 1)) return true;
  return byte == 1 || byte == 2 || byte == 3 || byte == 7;
}

// Any bit that a router must not change changes the ICRC; any other leaves it.
TEST(Icrc, EveryBitCountsOrIsMasked) {
  for (const Vector& v : kVectors) {
    const std::vector<std::byte> bytes = from_hex(v.packet);
    const auto packet = RocePacket::parse(v.ether_type, whole(v));
    ASSERT_TRUE(packet);
    const std::uint32_t good = icrc_of(bytes, packet->network, packet->transport);
    for (std::size_t bit = 0; bit < bytes.size() * 8; ++bit) {
      std::vector<std::byte> changed = bytes;
      changed[bit / 8] ^= static_cast<std::byte>(0x80 >> bit % 8);
      bool masked = may_change(packet->network, packet->transport, bit / 8);
      // IPv6: the first byte holds version (covered) and the traffic class's upper half (not).
      if (packet->network != NetworkHeader::ipv4 && bit / 8 == 0) masked = bit % 8 >= 4;
      EXPECT_EQ(icrc_of(changed, packet->network, packet->transport) == good, masked)
          << v.name << " bit " << bit;
    }
  }
}

TEST(Icrc, WhatIsCutIsUnknownNotBad) {
  const std::vector<std::byte> bytes = whole(kVectors[1]);
  for (std::size_t size = 40; size < bytes.size(); ++size) {
    const auto packet = RocePacket::parse(kV4, ConstBytes(bytes).first(size));
    ASSERT_TRUE(packet);
    EXPECT_EQ(packet->icrc_state(), IcrcState::unknown);
  }
}

TEST(Icrc, WhatFollowsThePacketDoesNotCount) {
  std::vector<std::byte> bytes = whole(kVectors[0]);
  bytes.insert(bytes.end(), 18, std::byte{0x77});  // padding and FCS
  EXPECT_EQ(RocePacket::parse(kV4, bytes)->icrc_state(), IcrcState::ok);
}

TEST(Icrc, ABadOneIsBad) {
  std::vector<std::byte> bytes = whole(kVectors[0]);
  bytes.back() ^= std::byte{1};
  EXPECT_EQ(RocePacket::parse(kV4, bytes)->icrc_state(), IcrcState::bad);
}

// Folding the constant part once gives what computing everything gives, for all lengths and ids.
TEST(IcrcPrefix, EqualsTheWholeComputation) {
  std::mt19937_64 random(3);
  const Path v4{.source = IpAddress::v4(0x0A000001),
                .destination = IpAddress::v4(0x0A000002),
                .tos = TosByte(Dscp(26), Ecn::ect0),
                .source_port = 0xC123};
  Path v6 = v4;
  v6.source.octets = {0x20, 1, 0xD, 0xB8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1};
  v6.destination.octets = {0x20, 1, 0xD, 0xB8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2};
  v6.flow_label = 0xABCDE;
  Path tagged = v4;
  tagged.vlan = VlanTag{.pcp = Priority(3), .id = 100};
  for (const Path& path : {v4, v6, tagged}) {
    const PathHeaders headers(path);
    for (int i = 0; i < 500; ++i) {
      const std::size_t transport = 12 + random() % 4'200 / 4 * 4;
      std::vector<std::byte> frame(headers.size() + transport);
      for (std::byte& b : frame) b = static_cast<std::byte>(random());
      const auto id = static_cast<std::uint16_t>(random());
      headers.emit(frame, transport, id);
      const ConstBytes packet = ConstBytes(frame).subspan(headers.ip_offset());
      const ConstBytes from_bth = ConstBytes(frame).subspan(headers.size());
      const bool is_v4 = path.source.is_v4();
      ASSERT_EQ(headers.icrc().icrc(from_bth, id),
                icrc_of(packet, is_v4 ? NetworkHeader::ipv4 : NetworkHeader::ipv6,
                        headers.size() - headers.ip_offset()));
      if (is_v4) {
        ASSERT_EQ(internet_checksum(packet.first(20)), 0);
      }
    }
  }
}

TEST(PathHeaders, TheCnpIsTheVector) {
  const Path path{.source = IpAddress::v4(0xC0000202),
                  .destination = IpAddress::v4(0xC0000201),
                  .tos = TosByte(Dscp(48), Ecn::ect0),
                  .source_port = 0xC004};
  std::array<std::byte, 100> out{};
  const std::size_t size = emit_cnp(PathHeaders(path), Qpn(0x14), out);
  const std::vector<std::byte> expected = whole(kVectors[4]);
  ASSERT_EQ(size, 14 + expected.size());
  EXPECT_TRUE(std::equal(expected.begin(), expected.end(), out.begin() + 14));
}

}  // namespace
}  // namespace rocetune::wire
