// Selective repeat between two of ours: only what is missing is sent again.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "dataplane/wire/opcode.h"
#include "tests/dataplane/engine/two_hosts.h"

namespace rocetune::engine {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class SelectiveRepeat : public ::testing::Test {
 protected:
  SelectiveRepeat() {
    hosts.connect([](ConnectParameters& p) {
      p.mtu = PathMtu::b256;
      p.selective_repeat = true;
    });
    hosts.a.fill(0, 256 * 20, 3);
  }
  void write(std::uint32_t packets, std::optional<std::uint32_t> immediate = {}) {
    ASSERT_TRUE(hosts.a.endpoint.post_send(hosts.a.qpn, {.kind = SendKind::write,
                                                         .has_immediate = immediate.has_value(),
                                                         .immediate = immediate.value_or(0),
                                                         .local = hosts.a.buffer(0, 256 * packets),
                                                         .remote_address = Host::kBase,
                                                         .remote_key = hosts.b.key}));
  }
  bool has_arrived(std::uint32_t packets) {
    return std::ranges::equal(hosts.a.bytes(0, 256 * packets), hosts.b.bytes(0, 256 * packets));
  }
  static std::vector<std::uint32_t> psns(const std::vector<Frame>& frames) {
    std::vector<std::uint32_t> all;
    for (const Frame& frame : frames) all.push_back(packet_of(frame).bth.psn.value());
    return all;
  }
  // Frames of `taken` but those at `lost`, to b; b's answers to a.
  void pass(std::vector<Frame> taken, const std::vector<std::size_t>& lost) {
    std::vector<Frame> left;
    for (std::size_t i = 0; i < taken.size(); ++i) {
      if (std::ranges::find(lost, i) == lost.end()) left.push_back(taken[i]);
    }
    hosts.b.give(hosts.now, left);
    hosts.a.give(hosts.now, hosts.b.take(hosts.now));
  }
  TwoHosts hosts;
};

TEST_F(SelectiveRepeat, EveryPacketOfAWriteStandsAlone) {
  write(3);
  for (const Frame& frame : hosts.a.take(hosts.now)) {
    EXPECT_EQ(packet_of(frame).bth.opcode, wire::opcode::kRcWriteOnly);
    EXPECT_EQ(packet_of(frame).reth()->length, 256);
  }
}

TEST_F(SelectiveRepeat, SendsOnlyTheMissingOnesAgain) {
  write(12);
  pass(hosts.a.take(hosts.now), {2, 5, 6});
  const auto again = hosts.a.take(hosts.now);
  EXPECT_THAT(psns(again), ElementsAre(102, 105, 106));
  pass(again, {});
  EXPECT_THAT(hosts.a.completions(), SizeIs(1));
  EXPECT_TRUE(has_arrived(12));
  EXPECT_EQ(hosts.a.endpoint.statistics().retransmitted_frames, 3);
}

TEST_F(SelectiveRepeat, ARepairThatIsLostIsRepairedOnceLaterPacketsShowIt) {
  write(8);
  pass(hosts.a.take(hosts.now), {2});
  EXPECT_THAT(psns(hosts.a.take(hosts.now)), ElementsAre(102));  // and lost
  write(4);
  pass(hosts.a.take(hosts.now), {});
  const auto again = hosts.a.take(hosts.now);
  EXPECT_THAT(psns(again), ElementsAre(102));
  pass(again, {});
  EXPECT_THAT(hosts.a.completions(), SizeIs(2));
}

TEST_F(SelectiveRepeat, TheSameNewsTwiceSendsNothingTwice) {
  write(8);
  auto frames = hosts.a.take(hosts.now);
  pass({frames[0], frames[2]}, {});
  EXPECT_THAT(psns(hosts.a.take(hosts.now)), ElementsAre(101));
  pass({frames[3]}, {});
  EXPECT_THAT(hosts.a.take(hosts.now), IsEmpty());
}

TEST_F(SelectiveRepeat, TheLostEndIsFoundByTimeout) {
  write(4);
  pass(hosts.a.take(hosts.now), {3});
  hosts.advance();
  EXPECT_THAT(hosts.a.completions(), SizeIs(1));
  EXPECT_TRUE(has_arrived(4));
}

TEST_F(SelectiveRepeat, AnImmediateComesLastAndKnowsTheLength) {
  ASSERT_TRUE(hosts.b.endpoint.post_receive(hosts.b.qpn, {4, {}}));
  write(5, 77);
  pass(hosts.a.take(hosts.now), {1});
  EXPECT_THAT(hosts.b.completions(), IsEmpty());
  // The last packet is not placed early: it completes a receive request.
  const auto again = hosts.a.take(hosts.now);
  EXPECT_THAT(psns(again), ElementsAre(101));
  pass(again, {});
  hosts.advance();
  const auto received = hosts.b.completions();
  ASSERT_THAT(received, SizeIs(1));
  EXPECT_EQ(received[0].immediate, 77);
  EXPECT_EQ(received[0].length, 256 * 5);
  EXPECT_TRUE(has_arrived(5));
}

TEST_F(SelectiveRepeat, BadAccessBeyondAGapIsRefusedInItsTurn) {
  write(1);
  ASSERT_TRUE(hosts.a.endpoint.post_send(hosts.a.qpn, {.kind = SendKind::write,
                                                       .local = hosts.a.buffer(0, 4),
                                                       .remote_address = 1,
                                                       .remote_key = hosts.b.key}));
  pass(hosts.a.take(hosts.now), {0});
  EXPECT_EQ(hosts.b.endpoint.state(hosts.b.qpn), QueuePairState::connected);
  hosts.settle();
  const auto done = hosts.a.completions();
  ASSERT_THAT(done, SizeIs(2));
  EXPECT_EQ(done[0].status, CompletionStatus::success);
  EXPECT_EQ(done[1].status, CompletionStatus::remote_access_error);
}

TEST_F(SelectiveRepeat, CostsLessThanGoingBack) {
  const auto repeats = [](bool selective) {
    TwoHosts pair;
    pair.connect([&](ConnectParameters& p) {
      p.mtu = PathMtu::b256;
      p.selective_repeat = selective;
    });
    for (int i = 0; i < 20; ++i) {
      EXPECT_TRUE(pair.a.endpoint.post_send(pair.a.qpn, {.kind = SendKind::write,
                                                         .local = pair.a.buffer(0, 256 * 100),
                                                         .remote_address = Host::kBase,
                                                         .remote_key = pair.b.key}));
    }
    int count = 0;
    const auto drops = [&](const Frame& frame) {
      return packet_of(frame).payload == 256 && ++count % 97 == 0;
    };
    pair.settle(drops);
    while (pair.advance(drops)) {
    }
    EXPECT_THAT(pair.a.completions(), SizeIs(20));
    return pair.a.endpoint.statistics().retransmitted_frames;
  };
  EXPECT_LT(repeats(true) * 5, repeats(false));
}

}  // namespace
}  // namespace rocetune::engine
