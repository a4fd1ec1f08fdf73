// Creating, connecting, failing, destroying; payload that is only computed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dataplane/engine/synthetic_memory.h"
#include "tests/dataplane/engine/two_hosts.h"

namespace rocetune::engine {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;

TEST(Control, EveryNumberIsOnceOnlyAndRoomIsCounted) {
  EndpointOptions options;
  options.queue_pairs = 3;
  Host host(1, options);  // has created one
  EXPECT_TRUE(host.endpoint.create({}));
  EXPECT_TRUE(host.endpoint.create({}));
  EXPECT_EQ(host.endpoint.create({}).error().kind(), ErrorKind::conflict);
  ASSERT_TRUE(host.endpoint.destroy(host.qpn));
  EXPECT_NE(host.endpoint.create({}).value(), host.qpn);
  EXPECT_EQ(host.endpoint.state(host.qpn), QueuePairState::unused);
  EXPECT_EQ(host.endpoint.destroy(host.qpn).error().kind(), ErrorKind::absent);
}

TEST(Control, ConnectSaysWhatIsAllowed) {
  Host host(1);
  const auto message = [&](auto change) {
    ConnectParameters p{.path = {.source = host.ip, .destination = host.ip}};
    change(p);
    const auto connected = host.endpoint.connect(host.qpn, p);
    return connected ? std::string("fine") : connected.error().text();
  };
  using P = ConnectParameters;
  EXPECT_THAT(message([](P& p) { p.mtu = static_cast<PathMtu>(1500); }), ::testing::HasSubstr("256, 512"));
  EXPECT_THAT(message([](P& p) { p.ack_timeout = 32; }), ::testing::HasSubstr("0 to 31"));
  EXPECT_THAT(message([](P& p) { p.retry_count = 8; }), ::testing::HasSubstr("0 to 7"));
  EXPECT_THAT(message([](P& p) { p.rnr_retry = 8; }), ::testing::HasSubstr("0 to 7"));
  EXPECT_THAT(message([](P& p) { p.rnr_timer = 32; }), ::testing::HasSubstr("0 to 31"));
  EXPECT_THAT(message([](P& p) { p.responder_resources = 129; }), ::testing::HasSubstr("0 to 128"));
  EXPECT_THAT(message([](P& p) { p.partition = 0x8000; }), ::testing::HasSubstr("partition"));
  EXPECT_THAT(message([](P& p) { p.path.destination = {}; }), ::testing::HasSubstr("two kinds"));
  EXPECT_EQ(host.endpoint.state(host.qpn), QueuePairState::created);
  EXPECT_EQ(message([](P&) {}), "fine");
  EXPECT_EQ(host.endpoint.connect(host.qpn, {}).error().kind(), ErrorKind::conflict);
}

TEST(Control, ResponderResourcesAreReservedAndGivenBack) {
  EndpointOptions options;
  options.responder_resources = 17;
  TwoHosts hosts(options);
  hosts.connect();
  const wire::Qpn second = hosts.a.endpoint.create({}).value();
  const ConnectParameters p{.path = {.source = hosts.a.ip, .destination = hosts.b.ip}};
  EXPECT_EQ(hosts.a.endpoint.connect(second, p).error().kind(), ErrorKind::conflict);
  ASSERT_TRUE(hosts.a.endpoint.destroy(hosts.a.qpn));
  EXPECT_TRUE(hosts.a.endpoint.connect(second, p));
}

TEST(Control, FailFlushesBothQueuesInOrder) {
  TwoHosts hosts;
  hosts.connect();
  for (std::uint64_t i = 0; i < 3; ++i) {
    ASSERT_TRUE(hosts.a.endpoint.post_send(hosts.a.qpn, {.work_id = i}));
    ASSERT_TRUE(hosts.a.endpoint.post_receive(hosts.a.qpn, {10 + i, {}}));
  }
  ASSERT_TRUE(hosts.a.endpoint.fail(hosts.a.qpn));
  const auto done = hosts.a.completions();
  ASSERT_THAT(done, SizeIs(6));
  for (const Completion& completion : done) EXPECT_EQ(completion.status, CompletionStatus::flushed);
  EXPECT_EQ(done[0].work_id, 0);
  EXPECT_EQ(done[2].work_id, 2);
  EXPECT_THAT(hosts.a.take(hosts.now), IsEmpty());
  EXPECT_EQ(hosts.a.endpoint.next_timeout(), Instant::never());
}

TEST(Control, AFlushWaitsForThePortToo) {
  TwoHosts hosts;
  hosts.connect();
  ASSERT_TRUE(hosts.a.endpoint.post_send(hosts.a.qpn, {.local = hosts.a.buffer(0, 100)}));
  hosts.a.take(hosts.now, true);
  ASSERT_TRUE(hosts.a.endpoint.fail(hosts.a.qpn));
  EXPECT_THAT(hosts.a.completions(), IsEmpty());
  hosts.a.endpoint.on_transmitted(1);
  EXPECT_THAT(hosts.a.completions(), SizeIs(1));
}

TEST(Control, DestroyGivesEveryPlaceBack) {
  EndpointOptions options;
  options.queue_pairs = 1;
  options.send_requests = options.receive_requests = 2;
  options.responder_resources = 17;
  Host peer(2);
  Host host(1, options);
  for (int life = 0; life < 20; ++life) {
    ASSERT_TRUE(host.endpoint.connect(host.qpn, {.path = {.source = host.ip, .destination = peer.ip}}));
    for (int i = 0; i < 2; ++i) {
      ASSERT_TRUE(host.endpoint.post_send(host.qpn, {.local = host.buffer(0, 10)})) << life;
      ASSERT_TRUE(host.endpoint.post_receive(host.qpn, {})) << life;
    }
    EXPECT_EQ(host.endpoint.post_send(host.qpn, {}).error(), PostRefusal::endpoint_full);
    host.take(Instant(), life % 2 == 0);
    ASSERT_TRUE(host.endpoint.destroy(host.qpn));
    host.qpn = host.endpoint.create({}).value();
  }
  EXPECT_THAT(host.completions(), IsEmpty());
}

TEST(Control, PostingStopsUntilCompletionsArePolled) {
  EndpointOptions options;
  options.send_requests = options.receive_requests = 4;
  TwoHosts hosts(options);
  hosts.connect();
  int posted = 0;
  for (int i = 0; i < 40; ++i) {
    const auto result = hosts.a.endpoint.post_send(hosts.a.qpn, {.kind = SendKind::write});
    if (!result) {
      EXPECT_EQ(result.error(), PostRefusal::completions_full);
      break;
    }
    ++posted;
    hosts.settle();
  }
  EXPECT_EQ(posted, 16);
  EXPECT_THAT(hosts.a.completions(), SizeIs(16));
  EXPECT_TRUE(hosts.a.endpoint.post_send(hosts.a.qpn, {.kind = SendKind::write}));
}

// A gigabyte between two endpoints of synthetic memory: no byte exists, all are checked.
TEST(Synthetic, AGigabyteOfNothing) {
  struct Side {
    explicit Side(std::uint64_t owner)
        : memory(4, owner),
          endpoint({.memory_regions = 4, .verify_icrc = false, .compute_icrc = false}, memory) {
      key = endpoint.add_region({0, kLongestMessage, kLocalWrite | kRemoteWrite}).value();
      qpn = endpoint.create({}).value();
    }
    SyntheticMemory memory;
    Endpoint endpoint;
    MemoryKey key;
    wire::Qpn qpn;
  };
  Side a(1);
  Side b(2);
  for (const auto& [side, peer, last] : {std::tuple{&a, &b, 1}, std::tuple{&b, &a, 2}}) {
    const auto at = [](int host) {
      return wire::IpAddress::v4(0x0A000000 + static_cast<std::uint32_t>(host));
    };
    ASSERT_TRUE(side->endpoint.connect(side->qpn, {.path = {.source = at(last), .destination = at(3 - last)},
                                                   .peer = peer->qpn,
                                                   .mtu = PathMtu::b4096}));
  }
  b.memory.expect(b.key, 0, a.memory.content_of({a.key, kLongestMessage, 0}));
  ASSERT_TRUE(a.endpoint.post_send(a.qpn, {.kind = SendKind::write,
                                           .local = {0, kLongestMessage, a.key},
                                           .remote_address = 0,
                                           .remote_key = b.key}));
  std::array<TransmitFrame, 64> frames;
  const auto pass = [&](Side& from, Side& to) {
    const std::size_t count = from.endpoint.poll_transmit(Instant(), frames);
    for (std::size_t i = 0; i < count; ++i) {
      const SyntheticContent content = from.memory.content_of(frames[i].payload);
      const ReceivedFrame received{wire::ConstBytes(frames[i].header).first(frames[i].header_size), &content};
      to.endpoint.on_frames(Instant(), {&received, 1});
    }
    if (count > 0) from.endpoint.on_transmitted(frames[count - 1].ticket);
    return count;
  };
  while (pass(a, b) + pass(b, a) > 0) {
  }
  Completion completion;
  ASSERT_TRUE(a.endpoint.poll_completion(completion));
  EXPECT_EQ(completion.status, CompletionStatus::success);
  EXPECT_EQ(b.memory.tally(), (SyntheticMemory::Tally{.right = kLongestMessage}));
}

TEST(Synthetic, BytesInTheWrongPlaceAreSeen) {
  SyntheticMemory source(4, 1);
  SyntheticMemory sink(4, 2);
  const MemoryKey from(0, 1);
  const MemoryKey to(1, 1);
  source.on_region(from, 0, 1000);
  sink.on_region(to, 0, 1000);
  sink.expect(to, 100, source.content_of({from, 500, 20}));
  std::array<std::byte, 50> bytes{};
  const auto place = [&](std::uint64_t source_offset, std::uint64_t sink_offset) {
    source.read({from, 50, source_offset}, bytes);
    const Placement placement{{to, 50, sink_offset}, bytes.data(), nullptr};
    sink.place({&placement, 1});
  };
  place(20, 100);
  EXPECT_EQ(sink.tally(), (SyntheticMemory::Tally{.right = 50}));
  place(20, 150);
  EXPECT_GT(sink.tally().wrong, 40);
  place(20, 99);
  EXPECT_EQ(sink.tally().unexpected, 50);
  source.renew(from);
  const auto right = sink.tally().right;
  place(20, 100);
  EXPECT_LT(sink.tally().right, right + 10);
}

}  // namespace
}  // namespace rocetune::engine
