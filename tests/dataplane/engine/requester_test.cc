// What a requester sends, and what it makes of answers, frame by frame.
#include <gmock/gmock.h>

#include "tests/dataplane/engine/one_requester.h"

namespace rocetune::engine {
namespace {

namespace opcode = wire::opcode;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

TEST_F(RequesterTest, FirstMiddleLastWithOneHeaderAndConsecutiveNumbers) {
  connect();
  post(SendKind::write, 700);
  const auto frames = a.take(hosts.now);
  EXPECT_THAT(opcodes(frames),
              ElementsAre(opcode::kRcWriteFirst, opcode::kRcWriteMiddle, opcode::kRcWriteLast));
  EXPECT_THAT(psns(frames), ElementsAre(100, 101, 102));
  const wire::RocePacket first = packet_of(frames[0]);
  EXPECT_EQ(first.reth(), (wire::Reth{Host::kBase + 4096, b.key.value(), 700}));
  EXPECT_TRUE(first.bth.migration);
  EXPECT_EQ(first.bth.partition, 0xFFFF);
  EXPECT_EQ(first.bth.destination, b.qpn);
  EXPECT_EQ(packet_of(frames[2]).payload, 700 - 512);
}

TEST_F(RequesterTest, PadsToFourBytes) {
  connect();
  post(SendKind::write, 5);
  const auto frames = a.take(hosts.now);
  EXPECT_EQ(packet_of(frames[0]).bth.pad, 3);
  EXPECT_EQ(packet_of(frames[0]).payload, 5);
  EXPECT_EQ(packet_of(frames[0]).icrc_state(), wire::IcrcState::ok);
}

TEST_F(RequesterTest, AsksForAnAcknowledgementAtTheEndAndNowAndThen) {
  connect();
  post(SendKind::write, 256 * 40);
  EXPECT_THAT(asking(a.take(hosts.now)), ElementsAre(15, 31, 39));
}

TEST_F(RequesterTest, OfRequestsWithoutCompletionTheLastOneAsks) {
  connect();
  for (std::uint64_t i = 0; i < 4; ++i) post(SendKind::write, 300, i, i == 1);
  const auto frames = a.take(hosts.now);
  EXPECT_THAT(asking(frames), ElementsAre(3, 7));  // the second's end, and the fourth's
  for (const Frame& frame : frames) EXPECT_EQ(packet_of(frame).icrc_state(), wire::IcrcState::ok);
  b.give(hosts.now, frames);
  hosts.settle();
  EXPECT_THAT(statuses(), ElementsAre(CompletionStatus::success));
}

TEST_F(RequesterTest, WhatStandsBeforeARequestThatMustWaitAsks) {
  connect();
  post(SendKind::read, 4);
  post(SendKind::write, 4, 1, false);
  ASSERT_TRUE(a.endpoint.post_send(a.qpn, {.kind = SendKind::write,
                                           .fenced = true,
                                           .local = a.buffer(0, 4),
                                           .remote_address = Host::kBase + 4096,
                                           .remote_key = b.key}));
  const auto frames = a.take(hosts.now);
  EXPECT_THAT(opcodes(frames), ElementsAre(opcode::kRcReadRequest, opcode::kRcWriteOnly));
  EXPECT_THAT(asking(frames), ElementsAre(1));
}

TEST_F(RequesterTest, ReadTakesAsManyNumbersAsItHasResponses) {
  connect();
  post(SendKind::read, 700);
  post(SendKind::write, 4);
  EXPECT_THAT(psns(a.take(hosts.now)), ElementsAre(100, 103));
}

TEST_F(RequesterTest, AnAcknowledgementCoversAllBeforeIt) {
  connect();
  for (std::uint64_t i = 0; i < 3; ++i) post(SendKind::write, 300, i);
  a.take(hosts.now);
  a.give(hosts.now, ack(104));  // first packet of the third
  EXPECT_THAT(a.completions(), SizeIs(2));
  a.give(hosts.now, ack(105));
  EXPECT_THAT(a.completions(), SizeIs(1));
}

TEST_F(RequesterTest, SequenceNakGoesBackToWhatItNames) {
  connect();
  post(SendKind::write, 256 * 5);
  a.take(hosts.now);
  a.give(hosts.now, ack(102, wire::Aeth::kSequenceError));
  const auto again = a.take(hosts.now);
  EXPECT_THAT(psns(again), ElementsAre(102, 103, 104));
  EXPECT_THAT(opcodes(again),
              ElementsAre(opcode::kRcWriteMiddle, opcode::kRcWriteMiddle, opcode::kRcWriteLast));
  EXPECT_EQ(a.endpoint.statistics().retransmitted_frames, 3);
}

TEST_F(RequesterTest, TheSameNakAgainIsAnEcho) {
  connect();
  post(SendKind::write, 256 * 5);
  a.take(hosts.now);
  a.give(hosts.now, ack(102, wire::Aeth::kSequenceError));
  a.take(hosts.now);
  a.give(hosts.now, ack(102, wire::Aeth::kSequenceError));
  EXPECT_THAT(a.take(hosts.now), IsEmpty());
  EXPECT_EQ(dropped(DropReason::duplicate_response), 1);
}

TEST_F(RequesterTest, TimeoutSendsAgainAndGivesUpAfterRetryCount) {
  connect([](ConnectParameters& p) { p.retry_count = 2; });
  post(SendKind::write, 300);
  post(SendKind::write, 300);
  EXPECT_THAT(a.take(hosts.now), SizeIs(4));
  for (int i = 0; i < 2; ++i) {
    wait(microseconds(4100));
    EXPECT_THAT(a.take(hosts.now), IsEmpty());
    wait(microseconds(200));
    EXPECT_THAT(a.take(hosts.now), SizeIs(4));
  }
  wait(microseconds(4300));
  EXPECT_THAT(statuses(), ElementsAre(CompletionStatus::retries_exceeded, CompletionStatus::flushed));
  EXPECT_EQ(a.endpoint.state(a.qpn), QueuePairState::error);
  EXPECT_EQ(a.endpoint.post_send(a.qpn, {}).error(), PostRefusal::not_connected);
}

TEST_F(RequesterTest, ProgressRenewsTheRetries) {
  connect([](ConnectParameters& p) { p.retry_count = 1; });
  post(SendKind::write, 256 * 3);
  a.take(hosts.now);
  for (std::uint32_t psn : {100U, 101U, 102U}) {
    wait(microseconds(4300));
    a.take(hosts.now);
    a.give(hosts.now, ack(psn));
  }
  EXPECT_THAT(statuses(), ElementsAre(CompletionStatus::success));
}

TEST_F(RequesterTest, WithoutATimeoutItWaitsForEver) {
  connect([](ConnectParameters& p) { p.ack_timeout = 0; });
  post(SendKind::write, 8);
  a.take(hosts.now);
}

TEST_F(RequesterTest, NoTimeoutForWhatThePortHoldsBack) {
  connect([](ConnectParameters& p) { p.retry_count = 0; });
  post(SendKind::write, 256 * 20);
  std::array<TransmitFrame, 1> one;
  ASSERT_EQ(a.endpoint.poll_transmit(hosts.now, one), 1);
  a.give(hosts.now, ack(100));
  wait(milliseconds(50));
  EXPECT_EQ(a.endpoint.state(a.qpn), QueuePairState::connected);
}

TEST_F(RequesterTest, RnrNakWaitsAsLongAsItSays) {
  connect();
  post(SendKind::send, 300);
  a.take(hosts.now);
  a.give(hosts.now, ack(100, wire::Aeth::rnr(14)));  // 1.28 ms
  EXPECT_THAT(a.take(hosts.now), IsEmpty());
  wait(microseconds(1279));
  EXPECT_THAT(a.take(hosts.now), IsEmpty());
  wait(microseconds(2));
  EXPECT_THAT(psns(a.take(hosts.now)), ElementsAre(100, 101));
}

TEST_F(RequesterTest, RnrRetriesAreCounted) {
  connect([](ConnectParameters& p) { p.rnr_retry = 1; });
  post(SendKind::send, 4);
  a.take(hosts.now);
  a.give(hosts.now, ack(100, wire::Aeth::rnr(1)));
  wait(microseconds(20));
  a.take(hosts.now);
  a.give(hosts.now, ack(100, wire::Aeth::rnr(1)));
  EXPECT_THAT(statuses(), ElementsAre(CompletionStatus::rnr_retries_exceeded));
}

TEST_F(RequesterTest, SevenRnrRetriesAreEndless) {
  connect();
  post(SendKind::send, 4);
  for (int i = 0; i < 50; ++i) {
    ASSERT_THAT(a.take(hosts.now), SizeIs(1));
    a.give(hosts.now, ack(100, wire::Aeth::rnr(1)));
    wait(microseconds(20));
  }
  EXPECT_EQ(a.endpoint.state(a.qpn), QueuePairState::connected);
}

TEST_F(RequesterTest, FatalNaksNameTheStatus) {
  for (const auto& [syndrome, status] :
       {std::pair{wire::Aeth::kInvalidRequest, CompletionStatus::remote_invalid_request},
        std::pair{wire::Aeth::kRemoteAccess, CompletionStatus::remote_access_error},
        std::pair{wire::Aeth::kRemoteOperational, CompletionStatus::remote_operational_error}}) {
    TwoHosts fresh;
    fresh.connect();
    for (int i = 0; i < 3; ++i) {
      ASSERT_TRUE(fresh.a.endpoint.post_send(fresh.a.qpn, {.local = fresh.a.buffer(0, 4)}));
    }
    fresh.a.take(fresh.now);
    fresh.a.give(fresh.now, ack(101, syndrome));
    const auto done = fresh.a.completions();
    ASSERT_THAT(done, SizeIs(3));
    EXPECT_EQ(done[0].status, CompletionStatus::success);
    EXPECT_EQ(done[1].status, status);
    EXPECT_EQ(done[2].status, CompletionStatus::flushed);
  }
}

TEST_F(RequesterTest, AReadResponseAcknowledgesWhatCameBefore) {
  connect();
  post(SendKind::write, 300, 1);
  post(SendKind::read, 4, 2);
  a.take(hosts.now);
  a.give(hosts.now, answer(opcode::kRcReadResponseOnly, 102, 0x1F, 4));
  EXPECT_THAT(statuses(), ElementsAre(CompletionStatus::success, CompletionStatus::success));
}

TEST_F(RequesterTest, ALostReadResponseIsAskedAgainFromThere) {
  connect();
  post(SendKind::read, 256 * 4);
  a.take(hosts.now);
  a.give(hosts.now, answer(opcode::kRcReadResponseFirst, 100, 0x1F, 256));
  a.give(hosts.now, answer(opcode::kRcReadResponseMiddle, 102, 0, 256));
  const auto again = a.take(hosts.now);
  ASSERT_THAT(psns(again), ElementsAre(101));
  EXPECT_EQ(packet_of(again[0]).reth(), (wire::Reth{Host::kBase + 4096 + 256, b.key.value(), 256 * 3}));
  EXPECT_EQ(dropped(DropReason::response_gap), 1);
  // The rest of the old responses does not ask once more.
  a.give(hosts.now, answer(opcode::kRcReadResponseLast, 103, 0x1F, 256));
  EXPECT_THAT(a.take(hosts.now), IsEmpty());
}

TEST_F(RequesterTest, AnAcknowledgementBeyondAReadMeansItsAnswerIsLost) {
  connect();
  post(SendKind::read, 4);
  post(SendKind::write, 4);
  a.take(hosts.now);
  a.give(hosts.now, ack(101));
  EXPECT_THAT(a.completions(), IsEmpty());
  EXPECT_THAT(opcodes(a.take(hosts.now)), ElementsAre(opcode::kRcReadRequest, opcode::kRcWriteOnly));
  EXPECT_EQ(a.endpoint.statistics().implied_naks, 1);
}

TEST_F(RequesterTest, ReadResponsesOfWrongLengthOrOrderFailTheQueuePair) {
  for (const auto& [code, length] :
       {std::pair{opcode::kRcReadResponseFirst, 255U}, std::pair{opcode::kRcReadResponseOnly, 256U},
        std::pair{opcode::kRcReadResponseMiddle, 0U}}) {
    TwoHosts fresh;
    fresh.connect([](ConnectParameters& p) { p.mtu = PathMtu::b256; });
    ASSERT_TRUE(fresh.a.endpoint.post_send(fresh.a.qpn, {.kind = SendKind::read,
                                                         .local = fresh.a.buffer(0, 600),
                                                         .remote_address = Host::kBase,
                                                         .remote_key = fresh.b.key}));
    fresh.a.take(fresh.now);
    fresh.a.give(fresh.now, answer(code, 100, 0x1F, length));
    const auto done = fresh.a.completions();
    ASSERT_THAT(done, SizeIs(1));
    EXPECT_EQ(done[0].status, CompletionStatus::bad_response);
  }
}

TEST_F(RequesterTest, AnswersToNothingAreCounted) {
  connect();
  post(SendKind::write, 4);
  a.take(hosts.now);
  a.give(hosts.now, ack(101));
  EXPECT_EQ(dropped(DropReason::unexpected_response), 1);
  a.give(hosts.now, answer(opcode::kRcReadResponseOnly, 100, 0x1F, 4));
  EXPECT_EQ(dropped(DropReason::unexpected_response), 2);
  a.give(hosts.now, ack(100, 0x40));
  EXPECT_EQ(dropped(DropReason::reserved_syndrome), 1);
  a.give(hosts.now, ack(99));
  EXPECT_EQ(dropped(DropReason::duplicate_response), 1);
  EXPECT_THAT(a.completions(), IsEmpty());
  a.give(hosts.now, ack(100));
  EXPECT_THAT(a.completions(), SizeIs(1));
}

}  // namespace
}  // namespace rocetune::engine
