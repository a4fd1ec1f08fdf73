#include "dataplane/transport/pattern/plan.h"

#include <gtest/gtest.h>

#include <set>

#include "dataplane/transport/pattern/message.h"

namespace rocetune::pattern {
namespace {

Plan plan() { return {.sizes = {Bytes(100)}, .window = 4, .queue_pairs = 3}; }

TEST(Plan, TheUsualOneIsRight) { EXPECT_TRUE(check(plan())); }

TEST(Plan, SaysAllThatIsOutOfRange) {
  const Plan wrong{.sizes = {Bytes(0), Bytes(32)}, .mtu = 1500, .window = 0, .queue_pairs = 5000};
  const auto checked = check(wrong);
  ASSERT_FALSE(checked);
  EXPECT_EQ(checked.error().kind(), ErrorKind::bad_input);
  EXPECT_EQ(checked.error().text(),
            "window: found 0, allowed: 1 to 4096\n"
            "queue pairs: found 5000, allowed: 1 to 4096\n"
            "mtu: found 1500, allowed: 256, 512, 1024, 2048 or 4096\n"
            "size: found 0B, allowed: 1B to 1GiB");
}

TEST(Plan, RefusesAPathMtuThatThePortDoesNotCarry) {
  Plan large = plan();
  large.mtu = 4096;
  EXPECT_TRUE(check(large));
  const auto checked = check(large, 2048);
  ASSERT_FALSE(checked);
  EXPECT_EQ(checked.error().text(), "mtu: found 4096, allowed: up to 2048, which this port carries");
  large.mtu = 2048;
  EXPECT_TRUE(check(large, 2048));
}

TEST(Plan, RefusesMoreMemoryThanFourGibibytes) {
  const Plan wrong{.sizes = {Bytes(1 << 20)}, .window = 4096, .queue_pairs = 1};
  EXPECT_FALSE(check(wrong));
}

TEST(Plan, RefusesMoreMessagesInFlightThanAnEndpointHolds) {
  const auto checked = check({.sizes = {Bytes(1)}, .window = 4096, .queue_pairs = 4096});
  ASSERT_FALSE(checked);
  EXPECT_EQ(checked.error().text(), "window × queue pairs × clients: found 16777216, allowed: up to 1048576");
}

TEST(Layout, SlotsDoNotOverlapAndFit) {
  const Layout layout(plan());
  std::set<std::uint64_t> places;
  for (std::uint32_t pair = 0; pair < 3; ++pair) {
    for (std::uint64_t message = 0; message < 4; ++message) places.insert(layout.source(pair, message));
    for (std::uint64_t message = 0; message < 8; ++message) places.insert(layout.target(pair, message));
  }
  EXPECT_EQ(places.size(), 36U);
  std::uint64_t last = 0;
  for (const std::uint64_t place : places) {
    EXPECT_TRUE(place == 0 || place - last >= 100) << place;
    last = place;
  }
  EXPECT_LE(last + 100, static_cast<std::uint64_t>(layout.size(3).count()));
}

TEST(Layout, AMessageComesBackToItsSlot) {
  const Layout layout(plan());
  EXPECT_EQ(layout.source(1, 2), layout.source(1, 6));
  EXPECT_NE(layout.target(1, 2), layout.target(1, 6));
  EXPECT_EQ(layout.target(1, 2), layout.target(1, 10));
}

TEST(FillMessage, DiffersBySlotAndQueuePair) {
  std::array<std::byte, 13> a, b, c, again;
  fill_message(a, 1, 2);
  fill_message(b, 1, 3);
  fill_message(c, 2, 2);
  fill_message(again, 1, 2);
  EXPECT_EQ(a, again);
  EXPECT_NE(a, b);
  EXPECT_NE(a, c);
}

TEST(Message, SurvivesTheWire) {
  Message message{.kind = MessageKind::ran, .gid = "fe80::1", .plan = plan(), .size = Bytes(32)};
  message.shards = {{.region_address = 1ULL << 63, .rkey = 0xFFFFFFFF, .pairs = {{17, 0xFFFFFF}}}};
  message.posted = {{{0, 5}, {3, 9}}};
  message.counts = SideResult{.tx_frames = 7, .drops = {{"bad_icrc", 2}}};
  const auto back = parse_message(to_line(message), "peer");
  ASSERT_TRUE(back) << back.error().text();
  EXPECT_EQ(*back, message);
}

TEST(Message, ARefusalIsAnErrorWithItsText) {
  const auto message = parse_message(to_line({.kind = MessageKind::refusal, .text = "no room"}), "peer");
  ASSERT_FALSE(message);
  EXPECT_EQ(message.error().text(), "peer refused: no room");
}

TEST(Message, AnotherVersionIsRefused) {
  const auto message = parse_message(R"({"kind": "hello", "version": 99})", "peer");
  ASSERT_FALSE(message);
  EXPECT_EQ(message.error().text(), "peer: speaks version 99 of the benchmark, this is version 1");
}

TEST(Message, NoJsonIsNoMessage) { EXPECT_FALSE(parse_message("GET / HTTP/1.1", "peer")); }

}  // namespace
}  // namespace rocetune::pattern
