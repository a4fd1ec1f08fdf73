// Asker and answerer over two ports joined by memory, both in this thread.
#include "dataplane/transport/pattern/traffic.h"

#include <gtest/gtest.h>

#include "dataplane/port/memory_port.h"
#include "dataplane/transport/pattern/roles.h"
#include "dataplane/transport/pattern/shard.h"

namespace rocetune::pattern {
namespace {

const wire::IpAddress kClient = wire::IpAddress::v4(0x0A000001);
const wire::IpAddress kServer = wire::IpAddress::v4(0x0A000002);

class Bench {
 public:
  explicit Bench(Plan plan, std::string_view faults = "")
      : plan_(std::move(plan)),
        client_(link_.left(), clock_, options(link_.left(), kClient, faults), 0, plan_.queue_pairs,
                requests()),
        server_(link_.right(), clock_, options(link_.right(), kServer, ""), 0, plan_.queue_pairs,
                requests()) {
    for (Shard* shard : {static_cast<Shard*>(&client_), static_cast<Shard*>(&server_)}) {
      EXPECT_TRUE(shard->reserve_memory(Layout(plan_).size(plan_.queue_pairs)));
      EXPECT_TRUE(shard->create_pairs(plan_.queue_pairs, plan_));
    }
    connect(client_, kClient, link_.left(), server_, kServer, link_.right());
    connect(server_, kServer, link_.right(), client_, kClient, link_.left());
    const Registered& remote = server_.registered();
    asker_.emplace(client_.endpoint(), clock_, plan_, client_.registered(),
                   RemoteRegion{remote.address, remote.key}, 0, client_.pairs());
    answerer_.emplace(server_.endpoint(), plan_, remote, server_.pairs());
    EXPECT_TRUE(asker_->prepare(plan_.sizes.front()));
    EXPECT_TRUE(answerer_->prepare(plan_.sizes.front()));
  }

  // Until at least `messages` are through and nothing is in flight.
  void run(std::uint64_t messages) {
    const Instant end = clock_.now() + seconds(60);
    bool is_open = true;
    while ((is_open || !asker_->is_idle()) && clock_.now() < end) {
      const Instant now = client_.driver().receive();
      auto worked = asker_->work(is_open, client_.driver().counters().pauses);
      ASSERT_TRUE(worked) << worked.error().text();
      client_.driver().transmit(now);
      const Instant later = server_.driver().receive();
      worked = answerer_->work();
      ASSERT_TRUE(worked) << worked.error().text();
      server_.driver().transmit(later);
      is_open = is_open && asker_->completed() < messages;
    }
    EXPECT_TRUE(asker_->is_idle());
  }
  const Answerer& answerer() const { return *answerer_; }
  bool content_is_right() const {
    return asker_->answers_are_right() && answerer_->content_is_right(0, asker_->posted());
  }
  Asker& asker() { return *asker_; }
  Shard& client() { return client_; }
  Shard& server() { return server_; }

 private:
  static ShardOptions options(port::MemoryPort& port, const wire::IpAddress& address,
                              std::string_view faults) {
    ShardOptions options{.mac = port.capabilities().mac, .address = address};
    options.controller.kind = ControllerChoice::Kind::off;
    options.faults = port::parse_fault_plan(faults, "test").value();
    return options;
  }
  std::uint32_t requests() const { return 3 * plan_.window * plan_.queue_pairs; }
  void connect(Shard& from, const wire::IpAddress& source, port::MemoryPort& port, Shard& to,
               const wire::IpAddress& destination, port::MemoryPort& peer) {
    for (std::size_t i = 0; i < from.pairs().size(); ++i) {
      engine::ConnectParameters parameters;
      parameters.path = {.source_mac = port.capabilities().mac,
                         .destination_mac = peer.capabilities().mac,
                         .source = source,
                         .destination = destination};
      parameters.peer = to.pairs()[i];
      parameters.psn = wire::Psn(0xFFFFF0);  // wraps early
      parameters.peer_psn = wire::Psn(0xFFFFF0);
      parameters.mtu = static_cast<engine::PathMtu>(plan_.mtu);
      EXPECT_TRUE(from.endpoint().connect(from.pairs()[i], parameters));
    }
  }

  Plan plan_;
  TickClock clock_;
  port::MemoryLink link_{{.buffers = 512, .largest_frame = Bytes(4096 + 128)}};
  ShardOn<port::MemoryPort> client_;
  ShardOn<port::MemoryPort> server_;
  std::optional<Asker> asker_;
  std::optional<Answerer> answerer_;
};

Plan plan(Pattern pattern, Operation operation, std::int64_t size) {
  return {.pattern = pattern,
          .operation = operation,
          .sizes = {Bytes(size)},
          .mtu = 1024,
          .window = 8,
          .queue_pairs = 2};
}

TEST(Traffic, EveryOperationStreamsRightContent) {
  for (const Operation operation : {Operation::write, Operation::read, Operation::send}) {
    for (const std::int64_t size : {1, 32, 1024, 5000}) {
      Bench bench(plan(Pattern::stream, operation, size));
      bench.run(500);
      EXPECT_GE(bench.asker().completed(), 500U);
      EXPECT_TRUE(bench.content_is_right()) << enum_name(operation) << " " << size;
    }
  }
}

TEST(Traffic, LatencyTimesEveryMessageThatNoPauseFellInto) {
  for (const Operation operation : {Operation::write, Operation::read, Operation::send}) {
    Bench bench(plan(Pattern::latency, operation, 32));
    bench.run(500);
    EXPECT_EQ(bench.asker().latency_ns().count() + bench.asker().not_timed(), bench.asker().completed());
    EXPECT_TRUE(bench.content_is_right()) << enum_name(operation);
  }
}

TEST(Traffic, LossAndReorderingCostFramesNotContent) {
  for (const Operation operation : {Operation::write, Operation::read, Operation::send}) {
    Bench bench(plan(Pattern::stream, operation, 5000), "loss=1% reorder=1%:3 duplicate=1% seed=5");
    bench.run(300);
    EXPECT_TRUE(bench.content_is_right()) << enum_name(operation);
    const SideResult client = bench.client().counts();
    EXPECT_GT(client.faults.at("lost"), 0U);
    EXPECT_GT(bench.client().counts().retransmitted_frames + bench.server().counts().retransmitted_frames +
                  bench.client().counts().drops.size(),
              0U);
  }
}

TEST(Traffic, WrongContentIsNoticed) {
  Bench bench(plan(Pattern::stream, Operation::write, 100));
  bench.run(100);
  ASSERT_TRUE(bench.content_is_right());
  const Layout layout(plan(Pattern::stream, Operation::write, 100));
  bench.server().registered().bytes[layout.target(1, 3) + 99] ^= std::byte{1};
  EXPECT_FALSE(bench.content_is_right());
}

TEST(Traffic, ImpossibleClaimsOfAPeerAreNotBelieved) {
  Bench bench(plan(Pattern::stream, Operation::write, 100));
  bench.run(100);
  const std::vector<MessageRange> posted = bench.asker().posted();
  EXPECT_TRUE(bench.answerer().content_is_right(0, posted));
  EXPECT_FALSE(bench.answerer().content_is_right(0, {posted[0]}));
  EXPECT_FALSE(bench.answerer().content_is_right(1, posted));
  EXPECT_FALSE(bench.answerer().content_is_right(0, {posted[0], {posted[1].end, posted[1].first}}));
}

TEST(Traffic, ASecondRowGoesOnWhereTheFirstEnded) {
  Bench bench(plan(Pattern::stream, Operation::send, 64));
  bench.run(101);
  ASSERT_TRUE(bench.asker().prepare(Bytes(64)));
  EXPECT_EQ(bench.asker().completed(), 0U);
  bench.run(50);
  EXPECT_TRUE(bench.content_is_right());
}

TEST(SideResult, DifferenceAndSumGoByName) {
  const SideResult before{.tx_frames = 3, .drops = {{"bad_icrc", 1}}, .paused_s = 1};
  const SideResult after{.tx_frames = 10, .drops = {{"bad_icrc", 1}, {"truncated", 2}}, .paused_s = 1.5};
  SideResult sum = difference(before, after);
  EXPECT_EQ(sum, (SideResult{.tx_frames = 7, .drops = {{"truncated", 2}}, .paused_s = 0.5}));
  add(sum, after);
  EXPECT_EQ(sum.tx_frames, 17U);
  EXPECT_EQ(sum.drops, (std::map<std::string, std::uint64_t>{{"bad_icrc", 1}, {"truncated", 4}}));
}

}  // namespace
}  // namespace rocetune::pattern
