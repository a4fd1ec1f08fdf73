// What a responder answers, frame by frame.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dataplane/wire/opcode.h"
#include "tests/dataplane/engine/two_hosts.h"

namespace rocetune::engine {
namespace {

namespace opcode = wire::opcode;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class ResponderTest : public ::testing::Test {
 protected:
  void connect(const std::function<void(ConnectParameters&)>& change = {}) {
    hosts.connect([&](ConnectParameters& p) {
      p.mtu = PathMtu::b256;
      if (change) change(p);
    });
  }
  // Frames of requests posted at a.
  std::vector<Frame> request(SendRequest request) {
    if (request.local.length == 0) request.local = a.buffer(0, 4);
    if (request.remote_key == MemoryKey()) request.remote_key = b.key;
    if (request.remote_address == 0) request.remote_address = Host::kBase + 4096;
    EXPECT_TRUE(a.endpoint.post_send(a.qpn, request));
    return a.take(hosts.now);
  }
  std::vector<Frame> write(std::uint32_t length) {
    return request({.kind = SendKind::write, .local = a.buffer(0, length)});
  }
  // b's answers to these frames, given as one burst.
  std::vector<Frame> answers(const std::vector<Frame>& frames) {
    b.give(hosts.now, frames);
    return b.take(hosts.now);
  }
  static std::uint8_t syndrome(const Frame& frame) { return packet_of(frame).aeth()->syndrome; }
  static std::uint32_t psn(const Frame& frame) { return packet_of(frame).bth.psn.value(); }
  std::uint64_t dropped(DropReason reason) { return b.endpoint.statistics().dropped(reason); }
  // Changes the BTH or what follows, and seals again.
  static Frame changed(Frame frame, std::size_t byte_of_transport, std::uint8_t value) {
    const std::size_t at = frame.size() - (packet_of(frame).bytes.size() - packet_of(frame).transport);
    frame[at + byte_of_transport] = std::byte{value};
    reseal(frame);
    return frame;
  }
  void expect_fatal(const std::vector<Frame>& frames, std::uint8_t expected) {
    const auto nak = answers(frames);
    ASSERT_THAT(nak, SizeIs(1));
    EXPECT_EQ(syndrome(nak[0]), expected);
    EXPECT_EQ(b.endpoint.state(b.qpn), QueuePairState::error);
  }

  TwoHosts hosts;
  Host& a = hosts.a;
  Host& b = hosts.b;
};

TEST_F(ResponderTest, OneAcknowledgementForABurst) {
  connect();
  std::vector<Frame> burst;
  for (int i = 0; i < 5; ++i) {
    for (Frame& frame : write(300)) burst.push_back(std::move(frame));
  }
  const auto acks = answers(burst);
  ASSERT_THAT(acks, SizeIs(1));
  EXPECT_EQ(psn(acks[0]), 109);
  EXPECT_EQ(packet_of(acks[0]).aeth(), (wire::Aeth{0x1F, 5}));
}

TEST_F(ResponderTest, NoAcknowledgementUnlessAsked) {
  connect();
  auto frames = write(700);
  frames.pop_back();
  EXPECT_THAT(answers(frames), IsEmpty());
}

TEST_F(ResponderTest, OneNakPerGap) {
  connect();
  auto frames = write(256 * 5);
  const auto first = answers({frames[0], frames[2]});
  ASSERT_THAT(first, SizeIs(1));
  EXPECT_EQ(syndrome(first[0]), wire::Aeth::kSequenceError);
  EXPECT_EQ(psn(first[0]), 101);
  EXPECT_THAT(answers({frames[3], frames[4]}), IsEmpty());
  EXPECT_EQ(dropped(DropReason::out_of_sequence), 3);
  EXPECT_THAT(answers({frames[1]}), IsEmpty());
  const auto second = answers({frames[3]});
  ASSERT_THAT(second, SizeIs(1));
  EXPECT_EQ(psn(second[0]), 102);
}

TEST_F(ResponderTest, ANakNotYetSentForgetsAGapThatClosed) {
  connect();
  auto frames = write(300);
  const auto reply = answers({frames[1], frames[0], frames[1]});
  ASSERT_THAT(reply, SizeIs(1));
  EXPECT_EQ(syndrome(reply[0]), 0x1F);
  EXPECT_EQ(psn(reply[0]), 101);
}

TEST_F(ResponderTest, ADuplicateWriteIsAcknowledgedAgainAndNotWritten) {
  connect();
  const auto frames = write(8);
  EXPECT_THAT(answers(frames), SizeIs(1));
  b.fill(4096, 8, 77);
  const std::uint64_t word = b.word(4096);
  const auto again = answers(frames);
  ASSERT_THAT(again, SizeIs(1));
  EXPECT_EQ(psn(again[0]), 100);
  EXPECT_EQ(b.word(4096), word);
  EXPECT_EQ(dropped(DropReason::duplicate_request), 1);
}

TEST_F(ResponderTest, ADuplicateReadIsCarriedOutAgain) {
  connect();
  const auto frames = request({.kind = SendKind::read, .local = a.buffer(0, 600)});
  EXPECT_THAT(answers(frames), SizeIs(3));
  b.set_word(4096, 99);
  const auto again = answers(frames);
  ASSERT_THAT(again, SizeIs(3));
  EXPECT_EQ(psn(again[0]), 100);
  std::uint64_t word = 0;
  const wire::RocePacket first = packet_of(again[0]);
  std::memcpy(&word, first.bytes.data() + first.transport + wire::Bth::kSize + wire::Aeth::kSize, 8);
  EXPECT_EQ(word, 99);
}

TEST_F(ResponderTest, ADuplicateReadMayAskForAPart) {
  connect();
  auto frames = request({.kind = SendKind::read, .local = a.buffer(0, 600)});
  EXPECT_THAT(answers(frames), SizeIs(3));
  // PSN 101, 256 bytes further, 344 bytes.
  Frame part = changed(changed(frames[0], 11, 101), 12 + 7, 0x00);
  const std::size_t reth = frames[0].size() - wire::kIcrcSize - wire::Reth::kSize;
  wire::Reth{Host::kBase + 4096 + 256, b.key.value(), 344}.emit(
      wire::fixed<wire::Reth::kSize>(wire::MutableBytes(part), reth));
  reseal(part);
  const auto again = answers({part});
  ASSERT_THAT(again, SizeIs(2));
  EXPECT_EQ(packet_of(again[0]).bth.opcode, opcode::kRcReadResponseFirst);
  EXPECT_EQ(psn(again[0]), 101);
  EXPECT_EQ(packet_of(again[1]).payload, 88);
}

TEST_F(ResponderTest, ADuplicateAtomicGetsItsOldResult) {
  connect();
  b.set_word(4096, 5);
  const auto frames = request({.kind = SendKind::fetch_add, .local = a.buffer(0, 8), .swap_or_add = 1});
  EXPECT_THAT(answers(frames), SizeIs(1));
  b.set_word(4096, 50);
  const auto again = answers(frames);
  ASSERT_THAT(again, SizeIs(1));
  EXPECT_EQ(packet_of(again[0]).atomic_ack()->original, 5);
  EXPECT_EQ(b.word(4096), 50);
}

TEST_F(ResponderTest, OldResultsAreForgottenBeyondTheGrantedResources) {
  connect([](ConnectParameters& p) { p.initiator_depth = p.responder_resources = 2; });
  std::vector<Frame> first;
  for (int i = 0; i < 3; ++i) {
    auto frames = request({.kind = SendKind::fetch_add, .local = a.buffer(0, 8), .swap_or_add = 1});
    if (i == 0) first = frames;
    a.give(hosts.now, answers(frames));
  }
  EXPECT_THAT(answers(first), IsEmpty());
  EXPECT_EQ(dropped(DropReason::atomic_forgotten), 1);
  EXPECT_EQ(b.word(4096), 3);
}

// The first result is asked for again, and while it waits to be sent a third request comes: it is the first
// that the peer must have had by then, not the second.
TEST_F(ResponderTest, AResultThatIsSentAgainPushesOutNoNewerOne) {
  connect([](ConnectParameters& p) { p.initiator_depth = p.responder_resources = 2; });
  std::vector<std::vector<Frame>> requests;
  std::vector<std::vector<Frame>> results;
  for (int i = 0; i < 2; ++i) {
    requests.push_back(request({.kind = SendKind::fetch_add, .local = a.buffer(0, 8), .swap_or_add = 1}));
    results.push_back(answers(requests.back()));
  }
  for (const auto& result : results) a.give(hosts.now, result);
  b.give(hosts.now, requests[0]);  // an old copy; nothing is fetched yet
  const auto third = request({.kind = SendKind::fetch_add, .local = a.buffer(0, 8), .swap_or_add = 1});
  EXPECT_THAT(answers(third), SizeIs(1));
  const auto again = answers(requests[1]);
  ASSERT_THAT(again, SizeIs(1));
  EXPECT_EQ(packet_of(again[0]).atomic_ack()->original, 1);
  EXPECT_EQ(dropped(DropReason::atomic_forgotten), 0);
  EXPECT_EQ(b.word(4096), 3);
}

TEST_F(ResponderTest, AnswersComeInTheOrderOfRequests) {
  connect();
  std::vector<Frame> burst;
  for (const SendKind kind : {SendKind::write, SendKind::read, SendKind::fetch_add, SendKind::write}) {
    for (Frame& frame : request({.kind = kind, .local = a.buffer(0, 8)})) burst.push_back(std::move(frame));
  }
  std::vector<std::uint8_t> opcodes;
  for (const Frame& frame : answers(burst)) opcodes.push_back(packet_of(frame).bth.opcode);
  EXPECT_THAT(opcodes,
              ElementsAre(opcode::kRcReadResponseOnly, opcode::kRcAtomicAcknowledge, opcode::kRcAcknowledge));
}

TEST_F(ResponderTest, ReadResponsesCarryAethAtBothEnds) {
  connect();
  const auto responses = answers(request({.kind = SendKind::read, .local = a.buffer(0, 256 * 3)}));
  ASSERT_THAT(responses, SizeIs(3));
  EXPECT_TRUE(packet_of(responses[0]).aeth());
  EXPECT_FALSE(packet_of(responses[1]).aeth());
  EXPECT_TRUE(packet_of(responses[2]).aeth());
}

TEST_F(ResponderTest, RnrNakForWhatHasNoReceiveRequest) {
  connect();
  for (const bool is_write : {false, true}) {
    const auto frames = request({.kind = is_write ? SendKind::write : SendKind::send,
                                 .has_immediate = true,
                                 .local = a.buffer(0, 4)});
    const auto nak = answers(frames);
    ASSERT_THAT(nak, SizeIs(1));
    EXPECT_EQ(syndrome(nak[0]), wire::Aeth::rnr(12));
    ASSERT_TRUE(b.endpoint.post_receive(b.qpn, {1, b.buffer(0, 4)}));
    const auto ack = answers(frames);
    ASSERT_THAT(ack, SizeIs(1));
    EXPECT_EQ(syndrome(ack[0]), 0x1F);
  }
  EXPECT_THAT(b.completions(), SizeIs(2));
}

TEST_F(ResponderTest, SilentBeyondAnRnrNak) {
  connect();
  auto frames = request({.kind = SendKind::send});
  for (Frame& frame : write(4)) frames.push_back(std::move(frame));
  EXPECT_THAT(answers(frames), SizeIs(1));
  EXPECT_EQ(dropped(DropReason::receiver_not_ready), 1);
  EXPECT_EQ(dropped(DropReason::out_of_sequence), 1);
}

TEST_F(ResponderTest, RemoteAccessErrors) {
  const MemoryKey wrong(0x12345678);
  for (const auto& bad :
       {SendRequest{.kind = SendKind::write, .remote_key = wrong},
        SendRequest{.kind = SendKind::read, .remote_key = wrong},
        SendRequest{.kind = SendKind::write, .remote_address = Host::kBase + Host::kSize - 3},
        SendRequest{.kind = SendKind::read, .remote_address = Host::kBase - 1}}) {
    TwoHosts fresh;
    fresh.connect();
    SendRequest request = bad;
    request.local = fresh.a.buffer(0, 4);
    if (request.remote_key == MemoryKey()) request.remote_key = fresh.b.key;
    ASSERT_TRUE(fresh.a.endpoint.post_send(fresh.a.qpn, request));
    fresh.settle();
    const auto done = fresh.a.completions();
    ASSERT_THAT(done, SizeIs(1));
    EXPECT_EQ(done[0].status, CompletionStatus::remote_access_error);
    EXPECT_EQ(fresh.b.endpoint.state(fresh.b.qpn), QueuePairState::error);
    EXPECT_EQ(fresh.b.endpoint.statistics().dropped(DropReason::remote_access), 1);
  }
}

TEST_F(ResponderTest, EveryAccessBitIsAsked) {
  for (const auto& [kind, access] :
       {std::pair{SendKind::write, kLocalWrite | kRemoteRead | kRemoteAtomic},
        std::pair{SendKind::read, kLocalWrite | kRemoteWrite | kRemoteAtomic},
        std::pair{SendKind::fetch_add, kLocalWrite | kRemoteRead | kRemoteWrite}}) {
    TwoHosts fresh;
    fresh.connect();
    const MemoryKey key = fresh.b.endpoint
                              .add_region({.address = 0,
                                           .length = 64,
                                           .access = static_cast<std::uint8_t>(access),
                                           .location = HostMemory::location_of(fresh.b.storage.data())})
                              .value();
    ASSERT_TRUE(fresh.a.endpoint.post_send(
        fresh.a.qpn, {.kind = kind, .local = fresh.a.buffer(0, 8), .remote_address = 0, .remote_key = key}));
    fresh.settle();
    EXPECT_EQ(fresh.a.completions().at(0).status, CompletionStatus::remote_access_error);
  }
}

TEST_F(ResponderTest, AnEmptyWriteNeedsNoKey) {
  connect();
  ASSERT_TRUE(a.endpoint.post_send(a.qpn, {.kind = SendKind::write, .remote_key = MemoryKey(0x999)}));
  hosts.settle();
  EXPECT_EQ(a.completions().at(0).status, CompletionStatus::success);
}

TEST_F(ResponderTest, AMessageLongerThanItsBufferFailsBoth) {
  connect();
  ASSERT_TRUE(b.endpoint.post_receive(b.qpn, {1, b.buffer(0, 299)}));
  ASSERT_TRUE(b.endpoint.post_receive(b.qpn, {2, b.buffer(0, 299)}));
  expect_fatal(request({.local = a.buffer(0, 300)}), wire::Aeth::kInvalidRequest);
  const auto received = b.completions();
  ASSERT_THAT(received, SizeIs(2));
  EXPECT_EQ(received[0].status, CompletionStatus::local_length_error);
  EXPECT_EQ(received[1].status, CompletionStatus::flushed);
}

TEST_F(ResponderTest, AReceiveBufferWhoseRegionIsGoneIsAnOperationalError) {
  connect();
  const MemoryKey key = b.endpoint
                            .add_region({.address = 0,
                                         .length = 64,
                                         .access = kLocalWrite,
                                         .location = HostMemory::location_of(b.storage.data())})
                            .value();
  ASSERT_TRUE(b.endpoint.post_receive(b.qpn, {1, {0, 64, key}}));
  ASSERT_TRUE(b.endpoint.remove_region(key));
  expect_fatal(request({}), wire::Aeth::kRemoteOperational);
  EXPECT_EQ(b.completions().at(0).status, CompletionStatus::local_protection_error);
}

TEST_F(ResponderTest, OpcodesOutOfOrderAreInvalid) {
  connect();
  auto frames = write(256 * 3);
  expect_fatal({frames[0], changed(frames[1], 0, opcode::kRcSendMiddle)}, wire::Aeth::kInvalidRequest);
}

TEST_F(ResponderTest, AMiddleWithoutAFirstIsInvalid) {
  connect();
  expect_fatal({changed(write(256 * 3)[1], 11, 100)}, wire::Aeth::kInvalidRequest);
}

TEST_F(ResponderTest, APartLongerThanAnnouncedIsInvalid) {
  connect();
  auto frames = write(256 * 2);
  // Announces 256 + 1 bytes.
  Frame first = frames[0];
  wire::Reth{Host::kBase, b.key.value(), 257}.emit(wire::fixed<wire::Reth::kSize>(
      wire::MutableBytes(first), first.size() - wire::kIcrcSize - 256 - wire::Reth::kSize));
  reseal(first);
  expect_fatal({first, frames[1]}, wire::Aeth::kInvalidRequest);
}

TEST_F(ResponderTest, AMisalignedAtomicIsInvalid) {
  connect();
  const auto frames = request({.kind = SendKind::fetch_add, .local = a.buffer(0, 8)});
  expect_fatal({changed(frames[0], wire::Bth::kSize + 7, 4)}, wire::Aeth::kInvalidRequest);
}

TEST_F(ResponderTest, MoreReadsThanGrantedAreInvalid) {
  connect([](ConnectParameters& p) {
    p.initiator_depth = 4;
    p.responder_resources = 2;
  });
  std::vector<Frame> burst;
  for (int i = 0; i < 3; ++i) {
    for (Frame& frame : request({.kind = SendKind::read, .local = a.buffer(0, 600)})) burst.push_back(frame);
  }
  const auto replies = answers(burst);
  ASSERT_THAT(replies, SizeIs(7));
  EXPECT_EQ(syndrome(replies[6]), wire::Aeth::kInvalidRequest);
}

TEST_F(ResponderTest, AReadWhoseRegionGoesAwayEndsInANak) {
  connect();
  const MemoryKey key = b.endpoint
                            .add_region({.address = 0,
                                         .length = 4096,
                                         .access = kRemoteRead,
                                         .location = HostMemory::location_of(b.storage.data())})
                            .value();
  b.give(
      hosts.now,
      request({.kind = SendKind::read, .local = a.buffer(0, 600), .remote_address = 1, .remote_key = key}));
  std::array<TransmitFrame, 1> one;
  ASSERT_EQ(b.endpoint.poll_transmit(hosts.now, one), 1);
  ASSERT_TRUE(b.endpoint.remove_region(key));
  const auto rest = b.take(hosts.now);
  ASSERT_THAT(rest, SizeIs(1));
  EXPECT_EQ(syndrome(rest[0]), wire::Aeth::kRemoteAccess);
  EXPECT_EQ(psn(rest[0]), 101);
}

TEST_F(ResponderTest, AfterAFatalNakNothingIsTaken) {
  connect();
  const auto bad = request({.kind = SendKind::write, .remote_key = MemoryKey(0x777)});
  const auto good = write(4);
  b.give(hosts.now, bad);
  b.give(hosts.now, good);
  EXPECT_EQ(b.endpoint.state(b.qpn), QueuePairState::connected);  // its NAK has not left
  EXPECT_THAT(b.take(hosts.now), SizeIs(1));
  EXPECT_EQ(b.endpoint.state(b.qpn), QueuePairState::error);
  EXPECT_THAT(answers(good), IsEmpty());
  EXPECT_EQ(dropped(DropReason::not_ready), 2);
}

}  // namespace
}  // namespace rocetune::engine
