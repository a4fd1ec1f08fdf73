// Frames that must not reach a queue pair, each under its reason; and the services without acknowledgements.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "dataplane/engine/synthetic_memory.h"
#include "dataplane/wire/opcode.h"
#include "tests/dataplane/engine/two_hosts.h"

namespace rocetune::engine {
namespace {

namespace opcode = wire::opcode;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class Validation : public ::testing::Test {
 protected:
  Validation() { hosts.connect(); }
  Frame good() {
    EXPECT_TRUE(hosts.a.endpoint.post_send(hosts.a.qpn, {.kind = SendKind::write,
                                                         .local = hosts.a.buffer(0, 8),
                                                         .remote_address = Host::kBase,
                                                         .remote_key = hosts.b.key}));
    return hosts.a.take(hosts.now).at(0);
  }
  void expect_dropped(const Frame& frame, DropReason reason) {
    const std::uint64_t before = hosts.b.endpoint.statistics().dropped(reason);
    hosts.b.give(hosts.now, frame);
    EXPECT_EQ(hosts.b.endpoint.statistics().dropped(reason), before + 1) << enum_name(reason);
    EXPECT_THAT(hosts.b.take(hosts.now), IsEmpty());
  }
  // IPv4 without options: where IP and the BTH begin.
  static constexpr std::size_t kIp = 14, kBth = 14 + 20 + 8;
  Frame changed(std::size_t at, std::uint8_t value) {
    Frame frame = good();
    frame[at] = std::byte{value};
    reseal(frame);
    return frame;
  }
  TwoHosts hosts;
};

TEST_F(Validation, EachReason) {
  Frame arp = good();
  arp[12] = std::byte{0x08};
  arp[13] = std::byte{0x06};
  expect_dropped(arp, DropReason::not_roce);
  expect_dropped(Frame(5), DropReason::truncated);
  Frame cut = good();
  cut.resize(cut.size() - 5);
  expect_dropped(cut, DropReason::truncated);
  Frame version = good();
  version[kIp] = std::byte{0x65};
  expect_dropped(version, DropReason::bad_version);
  Frame fragment = good();
  fragment[kIp + 6] = std::byte{0x20};
  expect_dropped(fragment, DropReason::fragment);
  Frame length = good();
  length[kIp + 2] = std::byte{0};
  length[kIp + 3] = std::byte{10};
  expect_dropped(length, DropReason::bad_length);
  Frame damaged = good();
  damaged[damaged.size() - 6] ^= std::byte{1};
  expect_dropped(damaged, DropReason::bad_icrc);
  expect_dropped(changed(kBth, 0xFF), DropReason::unknown_opcode);
  expect_dropped(changed(kBth + 1, 0x01), DropReason::bad_version);
  expect_dropped(changed(kBth + 2, 0x12), DropReason::wrong_partition);
  expect_dropped(changed(kBth + 7, 0x77), DropReason::unknown_queue_pair);
  Frame special = good();
  special[kBth + 5] = special[kBth + 6] = std::byte{0};
  special[kBth + 7] = std::byte{1};
  reseal(special);
  expect_dropped(special, DropReason::special_queue_pair);
  expect_dropped(changed(kBth, 0x2A), DropReason::wrong_service);  // UC WRITE Only
  expect_dropped(changed(kIp + 15, 9), DropReason::wrong_peer);
}

TEST_F(Validation, NotReadyBeforeConnectAndAfterAnError) {
  const Frame frame = good();
  ASSERT_TRUE(hosts.b.endpoint.fail(hosts.b.qpn));
  expect_dropped(frame, DropReason::not_ready);
  TwoHosts apart;
  apart.b.give(apart.now, frame);
  EXPECT_EQ(apart.b.endpoint.statistics().dropped(DropReason::not_ready), 1);
}

TEST_F(Validation, AFormerLifeOfAQueuePairGetsNothing) {
  const Frame frame = good();
  ASSERT_TRUE(hosts.b.endpoint.destroy(hosts.b.qpn));
  for (std::uint32_t i = 0; i < EndpointOptions{}.queue_pairs; ++i) {
    ASSERT_TRUE(hosts.b.endpoint.create({}));
  }
  expect_dropped(frame, DropReason::unknown_queue_pair);
}

TEST_F(Validation, TheIcrcIsNotAskedWhereThePortHasChecked) {
  EndpointOptions options;
  options.verify_icrc = false;
  TwoHosts trusting(options);
  trusting.connect();
  ASSERT_TRUE(trusting.a.endpoint.post_send(trusting.a.qpn, {.kind = SendKind::write,
                                                             .local = trusting.a.buffer(0, 8),
                                                             .remote_address = Host::kBase,
                                                             .remote_key = trusting.b.key}));
  Frame frame = trusting.a.take(trusting.now).at(0);
  frame.back() ^= std::byte{1};
  trusting.b.give(trusting.now, frame);
  EXPECT_THAT(trusting.b.take(trusting.now), SizeIs(1));
}

TEST_F(Validation, LimitedPartitionMembersMeetFullOnes) {
  for (const auto& [ours, theirs, works] :
       {std::tuple{0xFFFF, 0x7FFF, true}, std::tuple{0x7FFF, 0xFFFF, true},
        std::tuple{0x7FFF, 0x7FFF, false}}) {
    TwoHosts pair;
    pair.connect([&](ConnectParameters& p) {
      p.partition = static_cast<std::uint16_t>(p.psn == wire::Psn(100) ? ours : theirs);
    });
    ASSERT_TRUE(pair.a.endpoint.post_send(pair.a.qpn, {.kind = SendKind::write}));
    pair.settle();
    EXPECT_EQ(pair.a.completions().size(), works ? 1 : 0);
  }
}

// Frames of other services, made from a reliable connection's.
class Unreliable : public ::testing::Test {
 protected:
  Unreliable() {
    sender.connect([](ConnectParameters& p) { p.mtu = PathMtu::b256; });
    sender.a.fill(0, 2000, 8);
  }
  wire::Qpn create(wire::Service service) {
    const wire::Qpn qpn = receiver.endpoint.create({.service = service, .queue_key = 0x11}).value();
    if (service == wire::Service::uc) {
      EXPECT_TRUE(receiver.endpoint.connect(qpn, {.path = {.source = receiver.ip, .destination = sender.a.ip},
                                                  .peer = sender.a.qpn,
                                                  .peer_psn = wire::Psn(100),
                                                  .mtu = PathMtu::b256,
                                                  .responder_resources = 0}));
    }
    return qpn;
  }
  std::vector<Frame> unreliable(wire::Qpn to, const SendRequest& request) {
    EXPECT_TRUE(sender.a.endpoint.post_send(sender.a.qpn, request));
    auto frames = sender.a.take(sender.now);
    for (Frame& frame : frames) {
      frame[42] |= std::byte{0x20};
      wire::store24(frame, 42 + 5, to.value());
      reseal(frame);
    }
    return frames;
  }
  Frame datagram(wire::Qpn to, std::uint32_t queue_key, std::uint32_t payload) {
    const wire::PathHeaders headers({.source = sender.a.ip, .destination = receiver.ip});
    const std::size_t size = wire::Bth::kSize + wire::Deth::kSize + payload;
    Frame frame(headers.size() + size + wire::kIcrcSize);
    headers.emit(frame, size);
    wire::Bth{.opcode = opcode::kUdSendOnly, .destination = to}.emit(
        wire::fixed<wire::Bth::kSize>(wire::MutableBytes(frame), headers.size()));
    wire::Deth{queue_key, wire::Qpn(0x42)}.emit(
        wire::fixed<wire::Deth::kSize>(wire::MutableBytes(frame), headers.size() + wire::Bth::kSize));
    frame[headers.size() + wire::Bth::kSize + wire::Deth::kSize] = std::byte{0x5A};
    reseal(frame);
    return frame;
  }
  std::uint64_t dropped(DropReason reason) { return receiver.endpoint.statistics().dropped(reason); }

  TwoHosts sender;
  Host receiver{7};
};

TEST_F(Unreliable, ConnectionReceivesSendAndWriteWithoutAnswering) {
  const wire::Qpn qpn = create(wire::Service::uc);
  ASSERT_TRUE(receiver.endpoint.post_receive(qpn, {1, receiver.buffer(0, 1000)}));
  receiver.give(sender.now, unreliable(qpn, {.local = sender.a.buffer(0, 700)}));
  EXPECT_TRUE(std::ranges::equal(receiver.bytes(0, 700), sender.a.bytes(0, 700)));
  receiver.give(sender.now, unreliable(qpn, {.kind = SendKind::write,
                                             .local = sender.a.buffer(0, 700),
                                             .remote_address = Host::kBase + 5000,
                                             .remote_key = receiver.key}));
  EXPECT_TRUE(std::ranges::equal(receiver.bytes(5000, 700), sender.a.bytes(0, 700)));
  EXPECT_THAT(receiver.completions(), SizeIs(1));
  EXPECT_THAT(receiver.take(sender.now), IsEmpty());
}

TEST_F(Unreliable, ABrokenMessageIsDroppedWholeAndTheNextOneArrives) {
  const wire::Qpn qpn = create(wire::Service::uc);
  ASSERT_TRUE(receiver.endpoint.post_receive(qpn, {1, receiver.buffer(0, 1000)}));
  auto broken = unreliable(qpn, {.local = sender.a.buffer(0, 700)});
  broken.erase(broken.begin() + 1);
  receiver.give(sender.now, broken);
  EXPECT_EQ(dropped(DropReason::message_broken), 1);
  EXPECT_THAT(receiver.completions(), IsEmpty());
  receiver.give(sender.now, unreliable(qpn, {.local = sender.a.buffer(64, 100)}));
  const auto received = receiver.completions();
  ASSERT_THAT(received, SizeIs(1));
  EXPECT_EQ(received[0].length, 100);
  EXPECT_EQ(received[0].work_id, 1);
}

TEST_F(Unreliable, ConnectionWithoutReceiveRequestOrAccess) {
  const wire::Qpn qpn = create(wire::Service::uc);
  receiver.give(sender.now, unreliable(qpn, {.local = sender.a.buffer(0, 100)}));
  EXPECT_EQ(dropped(DropReason::no_receive_request), 1);
  receiver.give(sender.now, unreliable(qpn, {.kind = SendKind::write,
                                             .local = sender.a.buffer(0, 100),
                                             .remote_key = MemoryKey(5)}));
  EXPECT_EQ(dropped(DropReason::remote_access), 1);
  EXPECT_EQ(receiver.endpoint.state(qpn), QueuePairState::connected);
}

TEST_F(Unreliable, DatagramComesBehindItsNetworkHeader) {
  const wire::Qpn qpn = create(wire::Service::ud);
  ASSERT_TRUE(receiver.endpoint.post_receive(qpn, {1, receiver.buffer(0, 140)}));
  receiver.give(sender.now, datagram(qpn, 0x11, 100));
  const auto received = receiver.completions();
  ASSERT_THAT(received, SizeIs(1));
  EXPECT_EQ(received[0].length, 140);
  EXPECT_EQ(received[0].source, wire::Qpn(0x42));
  EXPECT_EQ(receiver.storage[20], std::byte{0x45});  // IPv4 in the last 20 of the 40 bytes
  EXPECT_EQ(receiver.storage[40], std::byte{0x5A});
}

TEST_F(Unreliable, DatagramReasons) {
  const wire::Qpn qpn = create(wire::Service::ud);
  receiver.give(sender.now, datagram(qpn, 0x11, 100));
  EXPECT_EQ(dropped(DropReason::no_receive_request), 1);
  ASSERT_TRUE(receiver.endpoint.post_receive(qpn, {1, receiver.buffer(0, 139)}));
  receiver.give(sender.now, datagram(qpn, 0x12, 100));
  EXPECT_EQ(dropped(DropReason::bad_queue_key), 1);
  receiver.give(sender.now, datagram(qpn, 0x11, 100));
  EXPECT_EQ(dropped(DropReason::invalid_request), 1);
  EXPECT_EQ(receiver.endpoint.post_send(qpn, {}).error(), PostRefusal::not_supported);
}

}  // namespace
}  // namespace rocetune::engine
