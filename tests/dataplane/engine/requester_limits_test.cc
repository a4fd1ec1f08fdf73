// What holds a requester back: credits, what it refuses to take, memory that is gone.
#include <gmock/gmock.h>

#include "tests/dataplane/engine/one_requester.h"

namespace rocetune::engine {
namespace {

using ::testing::ElementsAre;
using ::testing::SizeIs;

TEST_F(RequesterTest, CreditsLimitWhatTakesAReceiveRequest) {
  connect([](ConnectParameters& p) { p.end_to_end_credits = true; });
  for (int i = 0; i < 5; ++i) post(SendKind::send, 4);
  EXPECT_THAT(psns(a.take(hosts.now)), ElementsAre(100));  // the probe
  a.give(hosts.now, ack(100, 2));                          // MSN 1, two more
  EXPECT_THAT(psns(a.take(hosts.now)), ElementsAre(101, 102));
  a.give(hosts.now, ack(102, 0));  // MSN 1 again: none beyond what was said
  EXPECT_THAT(psns(a.take(hosts.now)), ElementsAre(103));
}

TEST_F(RequesterTest, CreditsDoNotLimitWrites) {
  connect([](ConnectParameters& p) { p.end_to_end_credits = true; });
  for (int i = 0; i < 5; ++i) post(SendKind::write, 4);
  EXPECT_THAT(a.take(hosts.now), SizeIs(5));
}

TEST_F(RequesterTest, CreditsFlowBetweenTwoOfOurs) {
  connect([](ConnectParameters& p) { p.end_to_end_credits = true; });
  for (std::uint64_t i = 0; i < 8; ++i) {
    ASSERT_TRUE(b.endpoint.post_receive(b.qpn, {i, b.buffer(0, 600)}));
    post(SendKind::send, 600, i);
  }
  hosts.settle();
  EXPECT_THAT(a.completions(), SizeIs(8));
  EXPECT_EQ(b.endpoint.statistics().rnr_naks_sent, 0);
}

TEST_F(RequesterTest, PostRefusals) {
  connect();
  const auto refusal = [&](SendRequest request) { return a.endpoint.post_send(a.qpn, request).error(); };
  EXPECT_EQ(refusal({.local = {Host::kBase, 4, MemoryKey(77)}}), PostRefusal::bad_local_key);
  EXPECT_EQ(refusal({.local = a.buffer(Host::kSize - 3, 4)}), PostRefusal::bad_local_key);
  EXPECT_EQ(refusal({.kind = SendKind::fetch_add, .local = a.buffer(0, 8), .remote_address = 4}),
            PostRefusal::misaligned);
  EXPECT_EQ(refusal({.kind = SendKind::compare_swap, .local = a.buffer(0, 4)}), PostRefusal::misaligned);
  EXPECT_EQ(refusal({.local = {Host::kBase, kLongestMessage + 1, a.key}}), PostRefusal::too_long);
  EXPECT_EQ(refusal({.kind = SendKind::read, .has_immediate = true, .local = a.buffer(0, 4)}),
            PostRefusal::not_supported);
  EXPECT_EQ(a.endpoint.post_send(wire::Qpn(0x123456), {}).error(), PostRefusal::unknown_queue_pair);
  for (int i = 0; i < 256; ++i) post(SendKind::write, 4);
  EXPECT_EQ(refusal({.local = a.buffer(0, 4)}), PostRefusal::queue_full);
}

TEST_F(RequesterTest, ASourceWhoseRegionIsGoneFailsTheRequest) {
  connect();
  const MemoryKey key =
      a.endpoint
          .add_region({.address = 0, .length = 64, .location = HostMemory::location_of(a.storage.data())})
          .value();
  post(SendKind::write, 4, 1, false);  // what stands before it is done first, without waiting for a timeout
  ASSERT_TRUE(a.endpoint.post_send(a.qpn, {.work_id = 2,
                                           .kind = SendKind::write,
                                           .local = {0, 64, key},
                                           .remote_address = Host::kBase,
                                           .remote_key = b.key}));
  ASSERT_TRUE(a.endpoint.remove_region(key));
  hosts.settle();
  hosts.settle();
  EXPECT_THAT(statuses(), ElementsAre(CompletionStatus::local_protection_error));
  EXPECT_EQ(a.endpoint.statistics().ack_timeouts, 0u);
}

}  // namespace
}  // namespace rocetune::engine
