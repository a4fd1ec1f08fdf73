#include <gtest/gtest.h>

#include <random>
#include <set>

#include "dataplane/wire/ethernet.h"
#include "dataplane/wire/ip.h"
#include "dataplane/wire/opcode.h"
#include "dataplane/wire/transport_headers.h"
#include "tests/dataplane/wire/hex.h"

namespace rocetune::wire {
namespace {

// ---- link layer
TEST(Ethernet, ReadsQinqWithTheOuterPriority) {
  const auto frame = from_hex("0180c2000001 020000000010 88a8 a064 8100 6005 0800");
  const auto header = EthernetHeader::parse(frame);
  ASSERT_TRUE(header);
  EXPECT_EQ(header->tag_count, 2U);
  EXPECT_EQ(header->pcp(), Priority(5));
  EXPECT_EQ(header->tags[0].id, 100);
  EXPECT_EQ(header->tags[1].pcp, Priority(3));
  EXPECT_EQ(header->type, ether_type::kIpv4);
  EXPECT_EQ(to_text(header->source), "02:00:00:00:00:10");
  std::array<std::byte, 22> out{};
  EXPECT_EQ(header->emit(out), frame.size());
  EXPECT_TRUE(std::equal(frame.begin(), frame.end(), out.begin()));
}

TEST(Ethernet, WithoutATagThereIsNoPriority) {
  EXPECT_EQ(EthernetHeader::parse(from_hex("0180c2000001 020000000010 0800"))->pcp(), std::nullopt);
}

TEST(Ethernet, EveryShorterFrameIsTruncated) {
  const auto frame = from_hex("0180c2000001 020000000010 8100 6005 0800");
  for (std::size_t size = 0; size < frame.size(); ++size) {
    EXPECT_EQ(EthernetHeader::parse(ConstBytes(frame).first(size)).error(), Malformed::truncated) << size;
  }
}

// ---- network layer
TEST(Ipv4, RejectsWhatRoceNeverIs) {
  const auto good = from_hex("456a0030000040004011b64fc0000201c0000202");
  ASSERT_TRUE(Ipv4Header::parse(good));
  const auto with = [&](std::size_t at, int value) {
    auto changed = good;
    changed[at] = static_cast<std::byte>(value);
    return Ipv4Header::parse(changed).error();
  };
  EXPECT_EQ(with(0, 0x65), Malformed::bad_version);
  EXPECT_EQ(with(0, 0x44), Malformed::bad_length);
  EXPECT_EQ(with(0, 0x46), Malformed::truncated);
  EXPECT_EQ(with(3, 0x13), Malformed::bad_length);
  EXPECT_EQ(with(6, 0x20), Malformed::fragment);
  EXPECT_EQ(with(7, 0x01), Malformed::fragment);
}

TEST(Ipv4, EmitsWhatItParsed) {
  const auto good = from_hex("456a0030000040004011b64fc0000201c0000202");
  std::array<std::byte, 20> out{};
  Ipv4Header::parse(good)->emit(out);
  EXPECT_TRUE(std::equal(good.begin(), good.end(), out.begin()));
}

TEST(Ipv6, EmitsWhatItParsed) {
  const auto good =
      from_hex("66a12345001c114020010db800000000000000000000000120010db8000000000000000000000002");
  const auto header = Ipv6Header::parse(good);
  ASSERT_TRUE(header);
  EXPECT_EQ(header->traffic_class, TosByte(Dscp(26), Ecn::ect0));
  EXPECT_EQ(header->flow_label, 0x12345U);
  std::array<std::byte, 40> out{};
  header->emit(out);
  EXPECT_TRUE(std::equal(good.begin(), good.end(), out.begin()));
}

TEST(IpAddress, TextIsRfc5952) {
  EXPECT_EQ(to_text(IpAddress::v4(0xC0000201)), "192.0.2.1");
  EXPECT_EQ(to_text(IpAddress{{0x20, 1, 0xD, 0xB8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1}}), "2001:db8::1");
  EXPECT_EQ(to_text(IpAddress{{0xFE, 0x80, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 2, 0, 3}}), "fe80::1:0:2:3");
  EXPECT_EQ(to_text(IpAddress{}), "::");
}

// verbs.h of rdma-core maps the 20-bit flow label to a port like this.
TEST(Udp, SourcePortOfAFlowLabel) {
  EXPECT_EQ(source_port_of_flow_label(0), 0xC000);
  EXPECT_EQ(source_port_of_flow_label(0x3FFF), 0xFFFF);
  EXPECT_EQ(source_port_of_flow_label(0xFC000), 0xC03F);
}

// ---- transport
TEST(Psn, WrapsAndMeasuresAroundTheCircle) {
  EXPECT_EQ(Psn(0xFFFFFF) + 1, Psn(0));
  EXPECT_EQ(Psn(0) - 1, Psn(0xFFFFFF));
  EXPECT_EQ(Psn::distance(Psn(0xFFFFFE), Psn(1)), 3);
  EXPECT_EQ(Psn::distance(Psn(1), Psn(0xFFFFFE)), -3);
  EXPECT_EQ(Psn::distance(Psn(0), Psn(0x800000)), -(1 << 23));
  EXPECT_EQ(Psn::distance(Psn(0), Psn(0x7FFFFF)), (1 << 23) - 1);
}

template <class Header>
void round_trip(unsigned seed, unsigned char first_byte_mask = 0xFF) {
  std::mt19937_64 random(seed);
  for (int i = 0; i < 100; ++i) {
    std::array<std::byte, Header::kSize> in{};
    for (std::byte& b : in) b = static_cast<std::byte>(random());
    in[0] &= static_cast<std::byte>(first_byte_mask);
    std::array<std::byte, Header::kSize> out{};
    const Header header = Header::parse(in);
    header.emit(out);
    EXPECT_EQ(Header::parse(out), header);
    EXPECT_EQ(in, out);
  }
}
TEST(TransportHeaders, EmitIsTheInverseOfParse) {
  round_trip<Reth>(1);
  round_trip<Aeth>(2);
  round_trip<ImmDt>(3);
  round_trip<AtomicEth>(4);
  round_trip<AtomicAckEth>(5);
  round_trip<Ieth>(6);
  round_trip<Xrceth>(7, 0);
}

TEST(TransportHeaders, BthAndDethKeepReservedBitsZero) {
  std::mt19937_64 random(8);
  for (int i = 0; i < 1'000; ++i) {
    std::array<std::byte, Bth::kSize> in{};
    for (std::byte& b : in) b = static_cast<std::byte>(random());
    std::array<std::byte, Bth::kSize> out{};
    Bth::parse(in).emit(out);
    EXPECT_EQ(Bth::parse(out), Bth::parse(in));
    EXPECT_EQ(out[4] & std::byte{0x3F}, std::byte{0});
    EXPECT_EQ(out[8] & std::byte{0x7F}, std::byte{0});
  }
  std::array<std::byte, Deth::kSize> deth{};
  Deth{.qkey = 0x11111111, .source = Qpn(0xABCDEF)}.emit(deth);
  EXPECT_EQ(Deth::parse(deth).source, Qpn(0xABCDEF));
  EXPECT_EQ(deth[4], std::byte{0});
}

TEST(Bth, FieldsAreWhereTheSpecificationPutsThem) {
  const auto bytes = from_hex("0ab0ffff40000118 80a788bc");
  const Bth bth = Bth::parse(fixed<Bth::kSize>(bytes));
  EXPECT_EQ(bth, (Bth{.opcode = 0x0A,
                      .solicited = true,
                      .pad = 3,
                      .becn = true,
                      .destination = Qpn(0x118),
                      .ack_request = true,
                      .psn = Psn(0xA788BC)}));
}

TEST(Aeth, SyndromesByTheTable) {
  const auto kind = [](int syndrome) { return Aeth{.syndrome = static_cast<std::uint8_t>(syndrome)}.kind(); };
  EXPECT_EQ(kind(0x00), AckKind::ack);
  EXPECT_EQ(kind(0x1F), AckKind::ack);
  EXPECT_EQ(kind(0x20), AckKind::rnr_nak);
  EXPECT_EQ(kind(0x3F), AckKind::rnr_nak);
  EXPECT_EQ(kind(0x40), AckKind::reserved);
  EXPECT_EQ(kind(0x60), AckKind::nak_sequence);
  EXPECT_EQ(kind(0x61), AckKind::nak_invalid_request);
  EXPECT_EQ(kind(0x62), AckKind::nak_remote_access);
  EXPECT_EQ(kind(0x63), AckKind::nak_remote_operational);
  EXPECT_EQ(kind(0x64), AckKind::nak_invalid_rd_request);
  EXPECT_EQ(kind(0x65), AckKind::reserved);
  EXPECT_EQ(kind(0xFF), AckKind::reserved);
}

TEST(Aeth, RnrTimersAndCredits) {
  EXPECT_EQ(rnr_wait(0), microseconds(655'360));
  EXPECT_EQ(rnr_wait(1), microseconds(10));
  EXPECT_EQ(rnr_wait(12), microseconds(640));
  EXPECT_EQ(rnr_wait(14), microseconds(1'280));
  EXPECT_EQ(rnr_wait(31), microseconds(491'520));
  for (const auto& [code, expected] : {std::pair{0, 0U},
                                       {1, 1U},
                                       {2, 2U},
                                       {3, 3U},
                                       {4, 4U},
                                       {5, 6U},
                                       {6, 8U},
                                       {7, 12U},
                                       {8, 16U},
                                       {9, 24U},
                                       {13, 96U},
                                       {30, 32768U}}) {
    EXPECT_EQ(credits(static_cast<std::uint8_t>(code)), expected) << code;
  }
}

// ---- opcodes
TEST(Opcode, HeadersFollowTheSpecification) {
  EXPECT_EQ(info_of(0x06).extended, kReth);
  EXPECT_EQ(info_of(0x0B).extended, kReth | kImmDt);
  EXPECT_EQ(info_of(0x0B).extended_size, 20);
  EXPECT_EQ(info_of(0x0D).extended, kAeth);
  EXPECT_EQ(info_of(0x0E).extended, 0);  // READ response middle has no AETH
  EXPECT_EQ(info_of(0x12).extended, kAeth | kAtomicAckEth);
  EXPECT_EQ(info_of(0x13).extended_size, 28);
  EXPECT_EQ(info_of(0x17).extended, kIeth);
  EXPECT_EQ(info_of(0x64).extended, kDeth);
  EXPECT_EQ(info_of(0x65).offset_of(kImmDt), 8U);
  EXPECT_EQ(info_of(0xA6).extended, kXrceth | kReth);
  EXPECT_EQ(info_of(0xA6).offset_of(kReth), 4U);
  EXPECT_EQ(info_of(0xB1).extended, kAeth);
  EXPECT_EQ(info_of(0x44).extended, kRdeth | kDeth);
  EXPECT_EQ(info_of(0x51).extended, kRdeth | kAeth);
  EXPECT_EQ(info_of(0x81).extended_size, 16);
}

TEST(Opcode, UnknownOnesAreNotValid) {
  for (const int code : {0x15, 0x18, 0x1F, 0x2C, 0x31, 0x36, 0x60, 0x66, 0x80, 0x82, 0xC0, 0xFF}) {
    EXPECT_FALSE(info_of(static_cast<std::uint8_t>(code)).is_valid()) << code;
  }
  EXPECT_TRUE(info_of(0x55).is_valid());  // RD RESYNC
}

TEST(Opcode, RequestsAndResponses) {
  EXPECT_TRUE(info_of(0x00).is_request());
  EXPECT_TRUE(info_of(0x0C).is_request());
  EXPECT_FALSE(info_of(0x10).is_request());
  EXPECT_FALSE(info_of(0x11).is_request());
  EXPECT_FALSE(info_of(0x81).is_request());
  EXPECT_FALSE(info_of(0xFF).is_request());
  EXPECT_TRUE(info_of(0x0E).is_read_response());
}

}  // namespace
}  // namespace rocetune::wire
