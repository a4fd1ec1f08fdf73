#include "dataplane/wire/roce_packet.h"

#include <gtest/gtest.h>

#include "dataplane/wire/ethernet.h"
#include "tests/dataplane/wire/hex.h"

namespace rocetune::wire {
namespace {

// RC WRITE Only of 16 bytes, the project's vector V2 with its ICRC.
const auto kWrite = from_hex(
    "456a004c000040004011b633c0000201c0000202c00212b7003800000a00ffff0000001280000000"
    "112233445566778899aabbcc00000010000102030405060708090a0b0c0d0e0fb812d590");

TEST(RocePacket, GivesAllFieldsOfAWrite) {
  const auto packet = RocePacket::parse(ether_type::kIpv4, kWrite);
  ASSERT_TRUE(packet);
  EXPECT_EQ(to_text(packet->source), "192.0.2.1");
  EXPECT_EQ(packet->tos, TosByte(Dscp(26), Ecn::ect0));
  EXPECT_EQ(packet->source_port, 0xC002);
  EXPECT_EQ(packet->bth.destination, Qpn(0x12));
  EXPECT_TRUE(packet->bth.ack_request);
  EXPECT_EQ(packet->payload, 16);
  EXPECT_EQ(packet->reth(), (Reth{0x1122334455667788, 0x99AABBCC, 16}));
  EXPECT_EQ(packet->aeth(), std::nullopt);
}

TEST(RocePacket, PayloadLeavesOutThePad) {
  const auto bytes = from_hex(
      "456a0030000040004011b64fc0000201c0000202c00112b7001c00000430ffff0000001180ffffffaa0000004e2a43d9");
  EXPECT_EQ(RocePacket::parse(ether_type::kIpv4, bytes)->payload, 1);
}

TEST(RocePacket, ACutOneKeepsItsLengthsAndTellsWhatIsMissing) {
  const auto packet = RocePacket::parse(ether_type::kIpv4, ConstBytes(kWrite).first(50));
  ASSERT_TRUE(packet);
  EXPECT_TRUE(packet->is_cut());
  EXPECT_EQ(packet->payload, 16);
  EXPECT_EQ(packet->reth(), std::nullopt);
}

TEST(RocePacket, WithoutAWholeBthItIsTruncated) {
  for (std::size_t size = 0; size < 40; ++size) {
    EXPECT_EQ(RocePacket::parse(ether_type::kIpv4, ConstBytes(kWrite).first(size)).error(),
              Malformed::truncated);
  }
}

TEST(RocePacket, LengthsMustAgree) {
  const auto with = [](std::size_t at, int value) {
    auto changed = kWrite;
    changed[at] = static_cast<std::byte>(value);
    return RocePacket::parse(ether_type::kIpv4, changed);
  };
  EXPECT_EQ(with(25, 0x39).error(), Malformed::bad_length);  // UDP longer than IP
  EXPECT_EQ(with(25, 0x17).error(), Malformed::bad_length);  // no room for BTH and ICRC
  EXPECT_EQ(with(25, 0x27).error(), Malformed::bad_length);  // no room for the RETH
  EXPECT_EQ(with(25, 0x07).error(), Malformed::bad_length);
  EXPECT_EQ(with(22, 0x13).error(), Malformed::not_roce);  // port
  EXPECT_EQ(with(9, 6).error(), Malformed::not_roce);      // TCP
}

TEST(RocePacket, OtherEtherTypesAreNotRoce) {
  EXPECT_EQ(RocePacket::parse(ether_type::kLldp, kWrite).error(), Malformed::not_roce);
  EXPECT_EQ(RocePacket::parse(ether_type::kIpv6, kWrite).error(), Malformed::bad_version);
}

TEST(RocePacket, AnUnknownOpcodeIsStillAPacket) {
  auto changed = kWrite;
  changed[28] = std::byte{0xC5};
  const auto packet = RocePacket::parse(ether_type::kIpv4, changed);
  ASSERT_TRUE(packet);
  EXPECT_FALSE(packet->opcode->is_valid());
  EXPECT_EQ(packet->reth(), std::nullopt);
}

}  // namespace
}  // namespace rocetune::wire
