#include "dataplane/transport/soft/hand_off.h"

#include <gtest/gtest.h>

#include <thread>

#include "dataplane/wire/path_headers.h"
#include "tests/dataplane/wire/hex.h"

namespace rocetune::soft {
namespace {

std::vector<std::byte> frame_to(std::uint32_t qpn, bool v6 = false, bool tagged = false) {
  wire::Path path{.source = wire::IpAddress::v4(1), .destination = wire::IpAddress::v4(2)};
  if (v6) path.source = path.destination = {{0xfe, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1}};
  if (tagged) path.vlan = wire::VlanTag{.id = 7};
  const wire::PathHeaders headers(path);
  std::vector<std::byte> frame(headers.size() + wire::Bth::kSize + wire::Aeth::kSize + wire::kIcrcSize);
  headers.emit(frame, wire::Bth::kSize + wire::Aeth::kSize);
  const wire::Bth bth{.destination = wire::Qpn(qpn)};
  bth.emit(wire::fixed<wire::Bth::kSize>(wire::MutableBytes(frame), headers.size()));
  return frame;
}

TEST(DestinationOf, ReadsTheQueuePairBehindEveryKindOfHeader) {
  for (const bool v6 : {false, true}) {
    for (const bool tagged : {false, true}) {
      EXPECT_EQ(destination_of(frame_to(0xABCDEF, v6, tagged)), 0xABCDEFU);
    }
  }
}

TEST(DestinationOf, OtherFramesHaveNone) {
  auto frame = frame_to(17);
  frame[14 + 20 + 2] = std::byte{0};  // another UDP port
  EXPECT_EQ(destination_of(frame), std::nullopt);
  frame = frame_to(17);
  frame[14 + 9] = std::byte{6};  // TCP
  EXPECT_EQ(destination_of(frame), std::nullopt);
  frame = frame_to(17);
  frame[14] = std::byte{0x4F};  // options that reach beyond the frame
  EXPECT_EQ(destination_of(frame), std::nullopt);
  EXPECT_EQ(destination_of(wire::from_hex("ffffffffffff020000000001 0806")), std::nullopt);
}

TEST(DestinationOf, NoLengthOfAFrameIsReadBeyond) {
  const auto whole = frame_to(0xABCDEF, true, true);
  for (std::size_t size = 0; size <= whole.size(); ++size) {
    const std::vector<std::byte> cut(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size));
    const auto qpn = destination_of(cut);
    EXPECT_TRUE(!qpn || *qpn == 0xABCDEF);
  }
}

TEST(HandOff, TheTopBitsOfTheNumberNameTheShard) {
  const HandOff hand_off(3);  // two bits
  EXPECT_EQ(hand_off.owner_of(frame_to(0x000011), 1), 0U);
  EXPECT_EQ(hand_off.owner_of(frame_to(0x400011), 0), 1U);
  EXPECT_EQ(hand_off.owner_of(frame_to(0x800011), 0), 2U);
  EXPECT_EQ(hand_off.owner_of(frame_to(0xC00011), 0), 0U);  // nobody's: stays where it is
}

TEST(HandOff, WhatIsGivenIsTakenInOrder) {
  HandOff hand_off(2);
  for (std::uintptr_t i = 0; i < 5; ++i) EXPECT_TRUE(hand_off.give(0, 1, {{}, i}));
  std::array<port::ReceivedFrame, 3> out;
  EXPECT_EQ(hand_off.take(0, out), 0U);
  ASSERT_EQ(hand_off.take(1, out), 3U);
  EXPECT_EQ(out[2].buffer, 2U);
  ASSERT_EQ(hand_off.take(1, out), 2U);
  EXPECT_EQ(out[1].buffer, 4U);
}

TEST(HandOff, AFullRingSaysSo) {
  HandOff hand_off(2);
  for (std::size_t i = 0; i < HandOff::kRingSize; ++i) ASSERT_TRUE(hand_off.give(1, 0, {{}, i}));
  EXPECT_FALSE(hand_off.give(1, 0, {{}, 0}));
}

TEST(HandOff, TwoThreadsLoseNothing) {
  constexpr std::uintptr_t kFrames = 100'000;
  HandOff hand_off(2);
  std::thread giver([&] {
    for (std::uintptr_t i = 0; i < kFrames;) i += hand_off.give(0, 1, {{}, i}) ? 1 : 0;
  });
  std::uintptr_t next = 0;
  std::array<port::ReceivedFrame, 32> out;
  while (next < kFrames) {
    const std::size_t count = hand_off.take(1, out);
    for (std::size_t i = 0; i < count; ++i) ASSERT_EQ(out[i].buffer, next++);
    if (count == 0) std::this_thread::yield();
  }
  giver.join();
}

}  // namespace
}  // namespace rocetune::soft
