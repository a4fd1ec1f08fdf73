#include <gtest/gtest.h>

#include "congestion/controllers/any_controller.h"

namespace rocetune {
namespace {

Instant at(std::int64_t us) { return Instant(microseconds(us)); }
constexpr BitRate k100G = gigabits_per_second(100);
AckSample sample(std::int64_t rtt_us, std::int64_t bytes = 1024) {
  return {.rtt = microseconds(rtt_us), .acked = Bytes(bytes)};
}

// ---- Swift, with a window that starts at 100 Gb/s × 25 us = 312 500 B = 305.2 packets of 1024 B.
TEST(Swift, StartsWithTheBandwidthDelayProduct) {
  const SwiftParameters parameters;
  const Swift swift(parameters, k100G);
  EXPECT_NEAR(double(swift.window()->count()), 312'500, 2);
  EXPECT_NEAR(double(swift.rate().count()), 100e9, 1e6);
}

TEST(Swift, TargetGrowsAsTheWindowShrinks) {
  const SwiftParameters parameters;
  Swift swift(parameters, k100G);
  EXPECT_EQ(swift.target_delay(), microseconds(30));  // 25 + 5 hops; above 100 packets no flow scaling
  for (int i = 0; i < 40; ++i) swift.on_loss(at(i * 1'000));
  EXPECT_EQ(swift.target_delay(), microseconds(130));  // the whole scaling range at 0.1 packets and below
}

TEST(Swift, AddsOnePacketPerRoundTrip) {
  SwiftParameters parameters;
  parameters.packet = Bytes(1000);
  Swift swift(parameters, gigabits_per_second(8));  // 25 packets
  const std::int64_t before = swift.window_scaled();
  for (int i = 0; i < 25; ++i) swift.on_ack(at(i), sample(20, 1000));
  EXPECT_NEAR(double(swift.window_scaled() - before) / (1 << Swift::kWindowFraction), 1.0, 0.03);
}

// 60 us against a target of 30: keeps 1 − 0.8·(30/60) = 0.6, once per round trip.
TEST(Swift, CutsByTheExcessOncePerRoundTrip) {
  const SwiftParameters parameters;
  Swift swift(parameters, k100G);
  const double before = double(swift.window_scaled());
  swift.on_ack(at(0), sample(60));
  EXPECT_NEAR(double(swift.window_scaled()) / before, 0.6, 1e-5);
  swift.on_ack(at(30), sample(60));
  EXPECT_NEAR(double(swift.window_scaled()) / before, 0.6, 1e-5);
  swift.on_ack(at(60), sample(60));
  EXPECT_NEAR(double(swift.window_scaled()) / before, 0.36, 1e-5);
}

TEST(Swift, NeverCutsMoreThanHalfAtOnce) {
  const SwiftParameters parameters;
  Swift swift(parameters, k100G);
  const double before = double(swift.window_scaled());
  swift.on_ack(at(0), sample(10'000));
  EXPECT_NEAR(double(swift.window_scaled()) / before, 0.5, 1e-5);
}

TEST(Swift, BelowOnePacketThePaceDoesTheRest) {
  const SwiftParameters parameters;
  Swift swift(parameters, k100G);
  for (int i = 0; i < 12; ++i) swift.on_loss(at(i * 1'000));  // 305 / 4096 packets
  EXPECT_EQ(swift.window(), Bytes(1024));
  EXPECT_NEAR(double(swift.rate().count()), 100e9 / 4096, 1e5);
}

TEST(Swift, AnUntrustedSampleChangesNothing) {
  const SwiftParameters parameters;
  Swift swift(parameters, k100G);
  const std::int64_t before = swift.window_scaled();
  swift.on_ack(at(0), AckSample{.rtt = std::nullopt, .acked = Bytes(1024)});
  EXPECT_EQ(swift.window_scaled(), before);
}

// ---- TIMELY
TEST(Timely, AboveHighItBacksOffByTheExcess) {
  const TimelyParameters parameters;
  Timely timely(parameters, k100G);
  timely.on_ack(at(0), sample(1'000));
  timely.on_ack(at(1), sample(1'000));  // 1 − 0.8·(1 − 500/1000) = 0.6
  EXPECT_EQ(timely.rate(), gigabits_per_second(60));
}

TEST(Timely, GradientDecidesBetweenTheThresholds) {
  const TimelyParameters parameters;
  Timely timely(parameters, k100G);
  timely.on_ack(at(0), sample(100));
  timely.on_ack(at(1), sample(108));  // 0.875·8 us / 20 us = 0.35; factor 1 − 0.8·0.35 = 0.72
  EXPECT_EQ(timely.gradient(), Ratio(350'000'000));
  EXPECT_EQ(timely.rate(), gigabits_per_second(72));
  timely.on_ack(at(2), sample(100));  // falling: + 0.1 % of the line rate
  EXPECT_EQ(timely.rate(), megabits_per_second(72'100));
}

// 100 us more in one sample are a gradient of 4.4 and, by algorithm 1, a factor of -2.5: an incast would take
// every sender to the floor at once, and 1000 samples to come back.
TEST(Timely, OneSampleTakesAtMostHalf) {
  const TimelyParameters parameters;
  Timely timely(parameters, k100G);
  timely.on_ack(at(0), sample(60));
  timely.on_ack(at(1), sample(160));
  EXPECT_EQ(timely.rate(), gigabits_per_second(50));
  timely.on_ack(at(2), sample(100'000));  // 1 - 0.8 * (1 - 0.5/100) = 0.2
  EXPECT_EQ(timely.rate(), gigabits_per_second(25));
}

TEST(Timely, NeverFallsBelowItsFloor) {
  const TimelyParameters parameters;
  Timely timely(parameters, k100G);
  for (int i = 0; i < 20; ++i) timely.on_ack(at(i), sample(10'000));
  EXPECT_EQ(timely.rate(), megabits_per_second(100));
}

TEST(Timely, FiveFallingSamplesMakeItHyperactive) {
  const TimelyParameters parameters;
  Timely timely(parameters, k100G);
  timely.on_ack(at(0), sample(1'000));
  timely.on_ack(at(1), sample(1'000));  // 60 Gb/s; difference 0 counts as falling once
  for (int i = 0; i < 3; ++i) timely.on_ack(at(2 + i), sample(400 - i));
  EXPECT_EQ(timely.rate(), megabits_per_second(60'300));
  timely.on_ack(at(6), sample(390));
  EXPECT_EQ(timely.rate(), megabits_per_second(60'800));
}

TEST(Timely, BelowLowItAlwaysIncreases) {
  const TimelyParameters parameters;
  Timely timely(parameters, k100G);
  timely.on_ack(at(0), sample(1'000));
  timely.on_ack(at(1), sample(1'000));
  timely.on_ack(at(2), sample(10));
  timely.on_ack(at(3), sample(49));  // rising, yet below T_low
  EXPECT_EQ(timely.rate(), megabits_per_second(60'200));
}

// ---- choosing
TEST(AnyController, IsMadeFromAWord) {
  for (const std::string_view word : {"off", "fixed", "dcqcn", "swift", "timely"}) {
    ControllerChoice choice{.kind = parse_controller_kind(word).value()};
    EXPECT_EQ(to_text(choice.kind), word);
    AnyController controller = choice.make(k100G);
    const BitRate rate = std::visit([](const auto& c) { return c.rate(); }, controller);
    EXPECT_GT(rate, BitRate(0)) << word;
    EXPECT_LE(rate, k100G) << word;
  }
  const auto wrong = parse_controller_kind("cubic");
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.error().allowed, "off, fixed, dcqcn, swift or timely");
}

TEST(AnyController, OffIgnoresEverything) {
  AnyController controller = ControllerChoice{.kind = ControllerChoice::Kind::off}.make(k100G);
  std::visit(
      [](auto& c) {
        c.on_cnp(at(0));
        c.on_ack(at(1), sample(100'000));
        c.on_loss(at(2));
        EXPECT_EQ(c.rate(), k100G);
        EXPECT_EQ(c.next_timer(), Instant::never());
      },
      controller);
}

}  // namespace
}  // namespace rocetune
