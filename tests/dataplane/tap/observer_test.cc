#include "dataplane/tap/observer.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/dataplane/tap/frames.h"
#include "tests/instants.h"

namespace rocetune::tap {
namespace {

struct Tap {
  Observer observer{ObserverOptions{}};
  void see(std::int64_t us, const Frame& frame, std::uint32_t original = 0) {
    observer.observe(LinkType::ethernet, frame,
                     original ? original : static_cast<std::uint32_t>(frame.size()), at(us));
  }
};
constexpr Direction kForward{.from = 1, .to = 2, .qp = 0x11};
constexpr Direction kBack{.from = 2, .to = 1, .qp = 0x22};

TEST(Observer, PairsDirectionsByAcknowledgedNumbers) {
  Tap tap;
  tap.see(0, kForward.send_only(100));
  tap.see(10, kBack.ack(100));
  const TapFacts f = tap.observer.facts();
  ASSERT_EQ(f.queue_pairs.size(), 2U);
  EXPECT_EQ(f.queue_pairs[0].peer, 1);
  EXPECT_EQ(f.queue_pairs[1].peer, 0);
  ASSERT_TRUE(f.queue_pairs[0].rtt);
  EXPECT_DOUBLE_EQ(f.queue_pairs[0].rtt->min_us, 10);
  EXPECT_EQ(f.ack_packets, 1);
  EXPECT_EQ(f.icrc_ok, 2);
}

TEST(Observer, TwoQueuePairsBetweenTheSameHostsFindTheirOwnAnswers) {
  Tap tap;
  const Direction other{.from = 1, .to = 2, .qp = 0x33};
  const Direction other_back{.from = 2, .to = 1, .qp = 0x44};
  for (std::uint32_t i = 0; i < 3; ++i) {
    tap.see(i * 100, kForward.send_only(100 + i));
    tap.see(i * 100 + 1, other.send_only(5'000 + i));
    tap.see(i * 100 + 20, other_back.ack(5'000 + i));
    tap.see(i * 100 + 50, kBack.ack(100 + i));
  }
  const TapFacts f = tap.observer.facts();
  ASSERT_EQ(f.queue_pairs.size(), 4U);
  const auto row = [&](std::int64_t qp) {
    return *std::ranges::find(f.queue_pairs, qp, &QueuePairFacts::destination_qp);
  };
  EXPECT_EQ(f.queue_pairs[static_cast<std::size_t>(*row(0x11).peer)].destination_qp, 0x22);
  EXPECT_EQ(f.queue_pairs[static_cast<std::size_t>(*row(0x33).peer)].destination_qp, 0x44);
  EXPECT_NEAR(row(0x33).rtt->median_us, 19, 1);
}

TEST(Observer, WhatNobodyAnswersStaysUnpaired) {
  Tap tap;
  tap.see(0, kForward.send_only(100));
  tap.see(1, kBack.ack(7'777));
  const TapFacts f = tap.observer.facts();
  EXPECT_EQ(f.queue_pairs[0].peer, std::nullopt);
  EXPECT_EQ(f.queue_pairs[0].rtt, std::nullopt);
}

// First, two middles and a last of 1024 B; the second and third are sent again after a NAK.
TEST(Observer, CountsGoBackNWaste) {
  Tap tap;
  tap.see(0, kForward.write_first(10, 1024, 4096));
  tap.see(1, kForward.packet(wire::opcode::kRcWriteMiddle, 11, 1024));
  tap.see(2, kForward.packet(wire::opcode::kRcWriteMiddle, 12, 1024));
  tap.see(3, kBack.ack(11, 0x60));
  tap.see(4, kForward.packet(wire::opcode::kRcWriteMiddle, 11, 1024));
  tap.see(5, kForward.packet(wire::opcode::kRcWriteMiddle, 12, 1024));
  tap.see(6, kForward.packet(wire::opcode::kRcWriteLast, 13, 1024));
  tap.see(20, kBack.ack(13));
  const TapFacts f = tap.observer.facts();
  const QueuePairFacts& q = f.queue_pairs[0];
  EXPECT_EQ(f.retransmitted_packets, 2);
  EXPECT_EQ(q.retransmitted_bytes, 2048);
  EXPECT_EQ(q.payload_bytes, 6 * 1024);
  EXPECT_EQ(f.queue_pairs[1].naks.at("sequence"), 1);
  EXPECT_EQ(f.nak_packets.at("sequence"), 1);
  EXPECT_EQ(q.path_mtu_bytes, 1024);
  EXPECT_EQ(q.messages.count, 1);
  EXPECT_EQ(q.messages.bytes, 4096);
  EXPECT_EQ(q.messages.by_size.at("<=4096"), 1);
  ASSERT_TRUE(q.messages.latency);
  EXPECT_DOUBLE_EQ(q.messages.latency->max_us, 20);
}

TEST(Observer, ARetransmittedPacketGivesNoRoundTripTime) {
  Tap tap;
  tap.see(0, kForward.send_only(1));
  tap.see(100, kForward.send_only(1));
  tap.see(110, kBack.ack(1));
  EXPECT_EQ(tap.observer.facts().queue_pairs[0].rtt, std::nullopt);
}

TEST(Observer, TheSameNumberAfterAWrapIsNew) {
  Tap tap;
  for (std::uint64_t psn = 0; psn <= 0x1000000 + 10; psn += 4'000) {
    tap.see(static_cast<std::int64_t>(psn), kForward.send_only(psn & 0xFFFFFF, 4));
  }
  tap.see(0x1000010, kForward.send_only(0, 4));
  EXPECT_EQ(tap.observer.facts().retransmitted_packets, 0);
}

TEST(Observer, ReadsLastFromRequestToLastResponse) {
  Tap tap;
  Frame aeth(4);
  tap.see(0, kForward.read_request(10, 2048));
  tap.see(30, kBack.packet(wire::opcode::kRcReadResponseFirst, 10, 1024, aeth));
  tap.see(40, kBack.packet(wire::opcode::kRcReadResponseLast, 11, 1024, aeth));
  const TapFacts f = tap.observer.facts();
  EXPECT_EQ(f.queue_pairs[0].messages.bytes, 2048);
  EXPECT_DOUBLE_EQ(f.queue_pairs[0].messages.latency->max_us, 40);
  EXPECT_EQ(f.queue_pairs[1].path_mtu_bytes, 1024);
  EXPECT_EQ(f.data_flows, 2);
}

TEST(Observer, MeasuresFromTheFirstMarkToTheCnp) {
  Tap tap;
  Direction marked = kForward;
  marked.ecn = Ecn::ce;
  tap.see(0, kForward.send_only(1));
  tap.see(5, kBack.ack(1));
  tap.see(10, marked.send_only(2));
  tap.see(12, marked.send_only(3));
  tap.see(14, kBack.cnp());
  const TapFacts f = tap.observer.facts();
  EXPECT_EQ(f.ce_packets, 2);
  EXPECT_EQ(f.cnp_packets, 1);
  ASSERT_TRUE(f.queue_pairs[0].cnp_reaction);
  EXPECT_DOUBLE_EQ(f.queue_pairs[0].cnp_reaction->max_us, 4);
  EXPECT_EQ(f.queue_pairs[1].cnps, 1);
  EXPECT_EQ(f.dscps.front().ce_packets, 2);
}

TEST(Observer, ACnpIsNeitherDataNorDscp) {
  Tap tap;
  tap.see(0, kBack.cnp());
  const TapFacts f = tap.observer.facts();
  EXPECT_EQ(f.data_flows, 0);
  EXPECT_TRUE(f.dscps.empty());
  EXPECT_EQ(f.queue_pairs[0].service, "CNP");
}

TEST(Observer, RnrAndOtherNaksHaveTheirKinds) {
  Tap tap;
  tap.see(0, kBack.ack(1, 0x2C));
  tap.see(1, kBack.ack(1, 0x62));
  const TapFacts f = tap.observer.facts();
  EXPECT_EQ(f.ack_packets, 0);
  EXPECT_EQ(f.nak_packets.at("rnr"), 1);
  EXPECT_EQ(f.nak_packets.at("remote_access"), 1);
}

TEST(Observer, AnAcknowledgedPacketThatIsMissingMeansAnIncompleteCapture) {
  Tap tap;
  tap.see(0, kForward.send_only(1));
  tap.see(1, kBack.ack(1));
  tap.see(2, kForward.send_only(5));  // 2, 3 and 4 are missing
  tap.see(3, kBack.ack(5));
  const TapFacts f = tap.observer.facts();
  EXPECT_EQ(f.queue_pairs[0].acknowledged_unseen, 3);
  ASSERT_EQ(f.notes.size(), 1U);
  EXPECT_NE(f.notes[0].find("incomplete capture"), std::string::npos);
}

TEST(Observer, AReadTakesNumbersThatNoRequestCarries) {
  Tap tap;
  tap.see(0, kForward.read_request(1, 4096));
  tap.see(1, kForward.send_only(5));
  tap.see(2, kBack.ack(5));
  tap.see(3, kForward.send_only(6));
  tap.see(4, kBack.ack(6));
  EXPECT_EQ(tap.observer.facts().queue_pairs[0].acknowledged_unseen, 0);
}

TEST(Observer, ABadIcrcIsCountedAndTheRestStillRead) {
  Tap tap;
  Frame frame = kForward.send_only(1);
  frame[frame.size() - 6] ^= std::byte{1};
  tap.see(0, frame);
  EXPECT_EQ(tap.observer.facts().icrc_bad, 1);
  EXPECT_EQ(tap.observer.facts().queue_pairs.size(), 1U);
}

TEST(Observer, MalformedRoceIsRoceThatIsMalformed) {
  Tap tap;
  Frame frame = kForward.send_only(1);
  frame[14 + 20 + 5] = std::byte{9};  // UDP length
  tap.see(0, frame);
  const TapFacts f = tap.observer.facts();
  EXPECT_EQ(f.roce_packets, 1);
  EXPECT_EQ(f.malformed.at("bad_length"), 1);
}

TEST(Observer, CountsTheTimeAxis) {
  Tap tap;
  for (int i = 0; i < 2'000; ++i) tap.see(i, kForward.send_only(static_cast<std::uint32_t>(i)));
  const TimelineFacts t = tap.observer.facts().timeline;
  EXPECT_DOUBLE_EQ(t.bin_s, 4'194'304e-12);  // 2^22 ps
  EXPECT_EQ(t.bytes.size(), 477U);           // 1999 us
  std::int64_t sum = 0;
  for (const std::int64_t n : t.bytes) sum += n;
  EXPECT_EQ(sum, 2'000 * static_cast<std::int64_t>(kForward.send_only(0).size()));
}

TEST(Observer, TimeMayRunBackwards) {
  Tap tap;
  tap.see(100, kForward.send_only(1));
  tap.see(50, kBack.ack(1));
  const TapFacts f = tap.observer.facts();
  EXPECT_DOUBLE_EQ(f.duration_s, 50e-6);
  EXPECT_DOUBLE_EQ(f.queue_pairs[0].rtt->max_us, 0);
}

}  // namespace
}  // namespace rocetune::tap
