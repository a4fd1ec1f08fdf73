// Every operation between two endpoints on a perfect wire.
#include "dataplane/engine/endpoint.h"

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

bool same(Host& x, std::uint32_t x_offset, Host& y, std::uint32_t y_offset, std::uint32_t length) {
  return std::ranges::equal(x.bytes(x_offset, length), y.bytes(y_offset, length));
}

// Lengths around every border of segmentation.
class EveryMtu : public ::testing::TestWithParam<std::tuple<PathMtu, int>> {
 protected:
  EveryMtu() {
    hosts.connect([](ConnectParameters& p) { p.mtu = std::get<0>(GetParam()); });
    const auto mtu = static_cast<int>(bytes_of(std::get<0>(GetParam())));
    const std::array lengths{0, 1, 3, 4, mtu - 1, mtu, mtu + 1, 2 * mtu, 5 * mtu + 7};
    length = static_cast<std::uint32_t>(lengths[static_cast<std::size_t>(std::get<1>(GetParam()))]);
    hosts.a.fill(0, length, 11);
    hosts.b.fill(0, length, 22);
  }
  TwoHosts hosts;
  std::uint32_t length = 0;
};

TEST_P(EveryMtu, SendArrivesInTheReceiveBuffer) {
  ASSERT_TRUE(hosts.b.endpoint.post_receive(hosts.b.qpn, {9, hosts.b.buffer(50000, length + 5)}));
  ASSERT_TRUE(hosts.a.endpoint.post_send(hosts.a.qpn, {.work_id = 1, .local = hosts.a.buffer(0, length)}));
  hosts.settle();
  const auto received = hosts.b.completions();
  ASSERT_THAT(received, SizeIs(1));
  EXPECT_EQ(received[0].work_id, 9);
  EXPECT_EQ(received[0].status, CompletionStatus::success);
  EXPECT_EQ(received[0].length, length);
  EXPECT_TRUE(same(hosts.a, 0, hosts.b, 50000, length));
  EXPECT_EQ(hosts.b.storage[50000 + length], std::byte{0});
  const auto sent = hosts.a.completions();
  ASSERT_THAT(sent, SizeIs(1));
  EXPECT_EQ(sent[0].status, CompletionStatus::success);
}

TEST_P(EveryMtu, WriteArrivesWhereItSays) {
  ASSERT_TRUE(hosts.a.endpoint.post_send(hosts.a.qpn, {.work_id = 2,
                                                       .kind = SendKind::write,
                                                       .local = hosts.a.buffer(0, length),
                                                       .remote_address = Host::kBase + 60001,
                                                       .remote_key = hosts.b.key}));
  hosts.settle();
  EXPECT_TRUE(same(hosts.a, 0, hosts.b, 60001, length));
  EXPECT_EQ(hosts.b.storage[60001 + length], std::byte{0});
  EXPECT_EQ(hosts.b.storage[60000], std::byte{0});
  EXPECT_THAT(hosts.b.completions(), IsEmpty());
  EXPECT_THAT(hosts.a.completions(), SizeIs(1));
}

TEST_P(EveryMtu, ReadFetches) {
  ASSERT_TRUE(hosts.a.endpoint.post_send(hosts.a.qpn, {.work_id = 3,
                                                       .kind = SendKind::read,
                                                       .local = hosts.a.buffer(70000, length),
                                                       .remote_address = Host::kBase,
                                                       .remote_key = hosts.b.key}));
  hosts.settle();
  EXPECT_TRUE(same(hosts.b, 0, hosts.a, 70000, length));
  const auto done = hosts.a.completions();
  ASSERT_THAT(done, SizeIs(1));
  EXPECT_EQ(done[0].kind, CompletionKind::read);
  EXPECT_EQ(done[0].length, length);
  EXPECT_EQ(done[0].status, CompletionStatus::success);
}

INSTANTIATE_TEST_SUITE_P(Lengths, EveryMtu,
                         ::testing::Combine(::testing::Values(PathMtu::b256, PathMtu::b512, PathMtu::b1024,
                                                              PathMtu::b2048, PathMtu::b4096),
                                            ::testing::Range(0, 9)));

class Operations : public ::testing::Test {
 protected:
  Operations() { hosts.connect(); }
  TwoHosts hosts;
};

TEST_F(Operations, FetchAddReturnsTheOldValue) {
  hosts.b.set_word(80, 40);
  ASSERT_TRUE(hosts.a.endpoint.post_send(hosts.a.qpn, {.kind = SendKind::fetch_add,
                                                       .local = hosts.a.buffer(8, 8),
                                                       .remote_address = Host::kBase + 80,
                                                       .remote_key = hosts.b.key,
                                                       .swap_or_add = 2}));
  hosts.settle();
  EXPECT_EQ(hosts.b.word(80), 42);
  EXPECT_EQ(hosts.a.word(8), 40);
  const auto done = hosts.a.completions();
  ASSERT_THAT(done, SizeIs(1));
  EXPECT_EQ(done[0].length, 8);
}

TEST_F(Operations, CompareSwapChangesOnlyWhatItExpects) {
  hosts.b.set_word(80, 40);
  for (const std::uint64_t compare : {std::uint64_t{41}, std::uint64_t{40}}) {
    ASSERT_TRUE(hosts.a.endpoint.post_send(hosts.a.qpn, {.kind = SendKind::compare_swap,
                                                         .local = hosts.a.buffer(8, 8),
                                                         .remote_address = Host::kBase + 80,
                                                         .remote_key = hosts.b.key,
                                                         .swap_or_add = 7,
                                                         .compare = compare}));
    hosts.settle();
    EXPECT_EQ(hosts.b.word(80), compare == 40 ? 7 : 40);
    EXPECT_EQ(hosts.a.word(8), 40);
  }
}

TEST_F(Operations, ImmediateComesWithSendAndWrite) {
  for (const SendKind kind : {SendKind::send, SendKind::write}) {
    for (const std::uint32_t length : {0U, 3000U}) {
      ASSERT_TRUE(hosts.b.endpoint.post_receive(hosts.b.qpn, {5, hosts.b.buffer(9000, 3000)}));
      ASSERT_TRUE(hosts.a.endpoint.post_send(hosts.a.qpn, {.kind = kind,
                                                           .solicited = true,
                                                           .has_immediate = true,
                                                           .immediate = 0xCAFE0001,
                                                           .local = hosts.a.buffer(0, length),
                                                           .remote_address = Host::kBase + 20000,
                                                           .remote_key = hosts.b.key}));
      hosts.settle();
      const auto received = hosts.b.completions();
      ASSERT_THAT(received, SizeIs(1));
      EXPECT_TRUE(received[0].has_immediate);
      EXPECT_TRUE(received[0].is_solicited);
      EXPECT_EQ(received[0].immediate, 0xCAFE0001);
      EXPECT_EQ(received[0].length, length);
      EXPECT_EQ(received[0].kind,
                kind == SendKind::send ? CompletionKind::receive : CompletionKind::receive_immediate);
    }
  }
}

TEST_F(Operations, SendWithInvalidateTakesTheKeyAway) {
  const MemoryKey key = hosts.b.endpoint
                            .add_region({.address = 0,
                                         .length = 64,
                                         .access = kLocalWrite | kRemoteWrite,
                                         .location = HostMemory::location_of(hosts.b.storage.data())})
                            .value();
  ASSERT_TRUE(hosts.b.endpoint.post_receive(hosts.b.qpn, {5, hosts.b.buffer(9000, 3000)}));
  ASSERT_TRUE(hosts.a.endpoint.post_send(
      hosts.a.qpn, {.has_invalidate = true, .invalidate = key, .local = hosts.a.buffer(0, 2000)}));
  hosts.settle();
  const auto received = hosts.b.completions();
  ASSERT_THAT(received, SizeIs(1));
  EXPECT_TRUE(received[0].has_invalidated);
  EXPECT_EQ(received[0].invalidated, key);
  ASSERT_TRUE(hosts.a.endpoint.post_send(
      hosts.a.qpn,
      {.kind = SendKind::write, .local = hosts.a.buffer(0, 4), .remote_address = 0, .remote_key = key}));
  hosts.settle();
  EXPECT_EQ(hosts.a.completions().back().status, CompletionStatus::remote_access_error);
}

TEST_F(Operations, CompletionsComeInTheOrderOfPosting) {
  ASSERT_TRUE(hosts.b.endpoint.post_receive(hosts.b.qpn, {5, hosts.b.buffer(9000, 3000)}));
  for (const SendKind kind : {SendKind::read, SendKind::send, SendKind::fetch_add, SendKind::write}) {
    ASSERT_TRUE(hosts.a.endpoint.post_send(hosts.a.qpn, {.work_id = static_cast<std::uint64_t>(kind),
                                                         .kind = kind,
                                                         .local = hosts.a.buffer(0, 8),
                                                         .remote_address = Host::kBase,
                                                         .remote_key = hosts.b.key}));
  }
  hosts.settle();
  std::vector<CompletionKind> kinds;
  for (const Completion& done : hosts.a.completions()) {
    EXPECT_EQ(done.status, CompletionStatus::success);
    kinds.push_back(done.kind);
  }
  EXPECT_THAT(kinds, ElementsAre(CompletionKind::read, CompletionKind::send, CompletionKind::fetch_add,
                                 CompletionKind::write));
}

TEST_F(Operations, UnsignaledRequestsCompleteSilently) {
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(hosts.a.endpoint.post_send(hosts.a.qpn, {.work_id = static_cast<std::uint64_t>(i),
                                                         .kind = SendKind::write,
                                                         .signaled = i == 2,
                                                         .local = hosts.a.buffer(0, 8),
                                                         .remote_address = Host::kBase,
                                                         .remote_key = hosts.b.key}));
  }
  hosts.settle();
  const auto done = hosts.a.completions();
  ASSERT_THAT(done, SizeIs(1));
  EXPECT_EQ(done[0].work_id, 2);
}

TEST_F(Operations, CompletesOnlyWhenThePortHasLetGo) {
  ASSERT_TRUE(hosts.a.endpoint.post_send(hosts.a.qpn, {.kind = SendKind::write,
                                                       .local = hosts.a.buffer(0, 3000),
                                                       .remote_address = Host::kBase,
                                                       .remote_key = hosts.b.key}));
  const auto frames = hosts.a.take(hosts.now, true);
  ASSERT_THAT(frames, SizeIs(3));
  hosts.b.give(hosts.now, frames);
  hosts.a.give(hosts.now, hosts.b.take(hosts.now));
  EXPECT_TRUE(hosts.a.endpoint.is_referenced(hosts.a.key));
  EXPECT_THAT(hosts.a.completions(), IsEmpty());
  hosts.a.endpoint.on_transmitted(2);
  EXPECT_THAT(hosts.a.completions(), IsEmpty());
  hosts.a.endpoint.on_transmitted(3);
  EXPECT_THAT(hosts.a.completions(), SizeIs(1));
  EXPECT_FALSE(hosts.a.endpoint.is_referenced(hosts.a.key));
}

TEST_F(Operations, FenceWaitsForReads) {
  ASSERT_TRUE(hosts.a.endpoint.post_send(hosts.a.qpn, {.kind = SendKind::read,
                                                       .local = hosts.a.buffer(0, 8),
                                                       .remote_address = Host::kBase,
                                                       .remote_key = hosts.b.key}));
  ASSERT_TRUE(hosts.a.endpoint.post_send(hosts.a.qpn, {.kind = SendKind::write,
                                                       .fenced = true,
                                                       .local = hosts.a.buffer(0, 8),
                                                       .remote_address = Host::kBase,
                                                       .remote_key = hosts.b.key}));
  const auto first = hosts.a.take(hosts.now);
  ASSERT_THAT(first, SizeIs(1));
  hosts.b.give(hosts.now, first);
  hosts.a.give(hosts.now, hosts.b.take(hosts.now));
  const auto second = hosts.a.take(hosts.now);
  ASSERT_THAT(second, SizeIs(1));
  EXPECT_EQ(packet_of(second[0]).bth.opcode, wire::opcode::kRcWriteOnly);
}

TEST_F(Operations, InitiatorDepthLimitsReads) {
  TwoHosts shallow;
  shallow.connect([](ConnectParameters& p) { p.initiator_depth = p.responder_resources = 2; });
  for (int i = 0; i < 5; ++i) {
    ASSERT_TRUE(shallow.a.endpoint.post_send(shallow.a.qpn, {.kind = SendKind::read,
                                                             .local = shallow.a.buffer(0, 8),
                                                             .remote_address = Host::kBase,
                                                             .remote_key = shallow.b.key}));
  }
  EXPECT_THAT(shallow.a.take(shallow.now), SizeIs(2));
}

TEST_F(Operations, WorksOverIpv6AndVlan) {
  TwoHosts v6;
  v6.a.ip = {{0x20, 1, 0xd, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1}};
  v6.b.ip = {{0x20, 1, 0xd, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2}};
  v6.connect([](ConnectParameters& p) { p.path.vlan = wire::VlanTag{.pcp = Priority(3), .id = 7}; });
  v6.a.fill(0, 5000, 3);
  ASSERT_TRUE(v6.a.endpoint.post_send(v6.a.qpn, {.kind = SendKind::write,
                                                 .local = v6.a.buffer(0, 5000),
                                                 .remote_address = Host::kBase,
                                                 .remote_key = v6.b.key}));
  v6.settle();
  EXPECT_TRUE(same(v6.a, 0, v6.b, 0, 5000));
}

TEST_F(Operations, SequenceNumbersWrap) {
  TwoHosts near_end;
  near_end.connect([](ConnectParameters& p) {
    const bool is_a = p.psn == wire::Psn(100);
    p.psn = wire::Psn(is_a ? 0xFFFFFE : 0xFFFFFD);
    p.peer_psn = wire::Psn(is_a ? 0xFFFFFD : 0xFFFFFE);
  });
  near_end.a.fill(0, 9000, 5);
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(near_end.a.endpoint.post_send(near_end.a.qpn, {.kind = SendKind::write,
                                                               .local = near_end.a.buffer(0, 9000),
                                                               .remote_address = Host::kBase,
                                                               .remote_key = near_end.b.key}));
  }
  near_end.settle();
  EXPECT_THAT(near_end.a.completions(), SizeIs(3));
  EXPECT_TRUE(same(near_end.a, 0, near_end.b, 0, 9000));
}

}  // namespace
}  // namespace rocetune::engine
