#include "dataplane/tap/decapsulate.h"

#include <gtest/gtest.h>

#include "dataplane/wire/ip.h"
#include "tests/dataplane/tap/frames.h"
#include "tests/dataplane/wire/hex.h"

namespace rocetune::tap {
namespace {

using wire::from_hex;
namespace ether_type = wire::ether_type;

const Frame kInner = Direction{}.send_only(7);
const Frame kInnerIp(kInner.begin() + 14, kInner.end());
const Frame kOuterEthernet = from_hex("020000000002 020000000001 0800");

Frame ipv4(std::uint8_t protocol, const Frame& payload) {
  Frame header(20);
  wire::Ipv4Header{.total_length = static_cast<std::uint16_t>(20 + payload.size()),
                   .protocol = protocol,
                   .source = 1,
                   .destination = 2}
      .emit(header);
  return header + payload;
}
Frame udp(std::uint16_t port, const Frame& payload) {
  Frame header(8);
  wire::UdpHeader{.destination_port = port, .length = static_cast<std::uint16_t>(8 + payload.size())}.emit(
      header);
  return header + payload;
}

std::optional<InnerFrame> inner_of(LinkType link, wire::ConstBytes frame) {
  InnerFrame inner;
  return decapsulate(link, frame, inner) ? std::optional(inner) : std::nullopt;
}
void expect_inner(LinkType link, const Frame& frame, std::uint8_t wrapping) {
  const auto inner = inner_of(link, frame);
  ASSERT_TRUE(inner);
  EXPECT_EQ(inner->type, ether_type::kIpv4);
  EXPECT_EQ(inner->wrapping, wrapping);
  EXPECT_TRUE(std::equal(inner->payload.begin(), inner->payload.end(), kInnerIp.begin(), kInnerIp.end()));
}

TEST(Decapsulate, PlainEthernet) { expect_inner(LinkType::ethernet, kInner, 0); }

TEST(Decapsulate, LinuxCooked) {
  expect_inner(LinkType::linux_cooked, from_hex("0000 0001 0006 020000000001 0000 0800") + kInnerIp, 0);
  expect_inner(LinkType::linux_cooked, from_hex("0000 0001 0006 020000000001 0000 8100 6064 0800") + kInnerIp,
               0);
  expect_inner(LinkType::linux_cooked_v2,
               from_hex("0800 0000 00000002 0001 00 06 0200000000010000") + kInnerIp, 0);
}

TEST(Decapsulate, RawIp) {
  expect_inner(LinkType::raw_ip, kInnerIp, 0);
  expect_inner(LinkType::raw_ipv4, kInnerIp, 0);
}

TEST(Decapsulate, Vxlan) {
  const Frame vxlan = from_hex("08000000 00002a00") + kInner;
  expect_inner(LinkType::ethernet, kOuterEthernet + ipv4(17, udp(4789, vxlan)), kWrapVxlan);
}

TEST(Decapsulate, Gre) {
  expect_inner(LinkType::ethernet, kOuterEthernet + ipv4(47, from_hex("0000 0800") + kInnerIp), kWrapGre);
  expect_inner(LinkType::ethernet, kOuterEthernet + ipv4(47, from_hex("2000 6558 00000001") + kInner),
               kWrapGre);
}

TEST(Decapsulate, ErspanOneTwoAndThree) {
  expect_inner(LinkType::ethernet, kOuterEthernet + ipv4(47, from_hex("0000 88be") + kInner), kWrapErspan1);
  expect_inner(LinkType::ethernet,
               kOuterEthernet + ipv4(47, from_hex("1000 88be 00000001 10010000 00000000") + kInner),
               kWrapErspan2);
  expect_inner(LinkType::ethernet,
               kOuterEthernet + ipv4(47, from_hex("1000 22eb 00000001 20010000 00000000 00000000") + kInner),
               kWrapErspan3);
  expect_inner(
      LinkType::ethernet,
      kOuterEthernet +
          ipv4(47, from_hex("1000 22eb 00000001 20010000 00000000 00000001 0000000000000000") + kInner),
      kWrapErspan3);
}

TEST(Decapsulate, AMirrorOfATunnel) {
  const Frame tunnelled = kOuterEthernet + ipv4(17, udp(4789, from_hex("08000000 00002a00") + kInner));
  expect_inner(LinkType::ethernet,
               kOuterEthernet + ipv4(47, from_hex("1000 88be 00000001 10010000 00000000") + tunnelled),
               kWrapErspan2 | kWrapVxlan);
}

TEST(Decapsulate, WhatCannotBeTakenOffStaysOn) {
  const Frame pptp = kOuterEthernet + ipv4(47, from_hex("2001 880b 00000000"));
  const auto inner = inner_of(LinkType::ethernet, pptp);
  ASSERT_TRUE(inner);
  EXPECT_EQ(inner->wrapping, 0);
  EXPECT_EQ(inner->payload.size(), pptp.size() - 14);
}

TEST(Decapsulate, NestingEnds) {
  Frame frame = kInnerIp;
  for (int i = 0; i < 20; ++i) frame = ipv4(47, from_hex("0000 0800") + frame);
  EXPECT_TRUE(inner_of(LinkType::raw_ip, frame));
}

TEST(Decapsulate, EveryCutIsHarmless) {
  const Frame frame =
      kOuterEthernet +
      ipv4(47, from_hex("1000 22eb 00000001 20010000 00000000 00000001 0000000000000000") + kInner);
  for (const LinkType link :
       {LinkType::ethernet, LinkType::linux_cooked, LinkType::linux_cooked_v2, LinkType::raw_ip}) {
    for (std::size_t size = 0; size < frame.size(); ++size) {
      (void)inner_of(link, wire::ConstBytes(frame).first(size));
    }
  }
  EXPECT_FALSE(inner_of(LinkType::ethernet, wire::ConstBytes(frame).first(13)));
}

}  // namespace
}  // namespace rocetune::tap
