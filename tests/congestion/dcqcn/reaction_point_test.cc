#include "congestion/dcqcn/reaction_point.h"

#include <gtest/gtest.h>

#include <random>

#include "tests/instants.h"

namespace rocetune::dcqcn {
namespace {

constexpr BitRate k40G = gigabits_per_second(40);
constexpr BitRate k100G = gigabits_per_second(100);
const Parameters kPaper = Parameters::paper();
const Parameters kMlx5 = Parameters::mlx5();
const Parameters kHpcc = Parameters::hpcc();

TEST(ReactionPointPaper, StartsAtLineRateAndIdle) {
  const ReactionPoint rp(kPaper.rp, k40G);
  EXPECT_EQ(rp.rate(), k40G);
  EXPECT_EQ(rp.next_timer(), Instant::never());
  EXPECT_FALSE(rp.is_limiting());
}

// By hand: alpha 1, so the first CNP halves; then five halvings of the gap to 40 Gb/s.
TEST(ReactionPointPaper, FirstCnpHalvesAndFiveStagesRecover) {
  ReactionPoint rp(kPaper.rp, k40G);
  rp.on_cnp(at(0));
  EXPECT_EQ(rp.rate(), gigabits_per_second(20));
  EXPECT_EQ(rp.target_rate(), k40G);
  for (const std::int64_t expected_mbps : {30'000, 35'000, 37'500, 38'750, 39'375}) {
    ASSERT_NE(rp.next_timer(), Instant::never());
    rp.on_timer(rp.next_timer());
    EXPECT_EQ(rp.rate(), megabits_per_second(expected_mbps));
  }
  EXPECT_EQ(rp.next_timer(), at(330));
}

TEST(ReactionPointPaper, SecondCnpUsesTheDecayedAlphaAndClampsTheTarget) {
  ReactionPoint rp(kPaper.rp, k40G);
  rp.on_cnp(at(0));
  rp.on_cnp(at(60));  // the timer of 55 us has raised RC to 30 Gb/s; alpha decayed once to 255/256
  EXPECT_EQ(rp.target_rate(), gigabits_per_second(30));
  EXPECT_EQ(rp.rate(), bits_per_second(30'000'000'000 - 14'941'406'250));  // 30 · 255/512 taken
  EXPECT_EQ(rp.alpha(at(60)), Ratio::of(65'281, 65'536));                  // (255/256)² + 1/256
  EXPECT_EQ(rp.next_timer(), at(115));
}

TEST(ReactionPointPaper, AdditiveIncreaseFollowsFastRecovery) {
  ReactionPoint rp(kPaper.rp, k40G);
  rp.on_cnp(at(0));
  rp.on_cnp(at(1));  // RT 20, RC 10: alpha is still 1
  EXPECT_EQ(rp.target_rate(), gigabits_per_second(20));
  EXPECT_EQ(rp.rate(), gigabits_per_second(10));
  rp.on_timer(at(1 + 5 * 55));
  EXPECT_EQ(rp.target_rate(), gigabits_per_second(20));
  EXPECT_EQ(rp.rate(), bits_per_second(19'687'500'000));
  rp.on_timer(at(1 + 6 * 55));  // sixth: R_AI
  EXPECT_EQ(rp.target_rate(), megabits_per_second(20'040));
  EXPECT_EQ(rp.rate(), bits_per_second(19'863'750'000));
}

TEST(ReactionPointPaper, HyperIncreaseNeedsBothCountersAndGrows) {
  ReactionPoint rp(kPaper.rp, k40G);
  rp.on_cnp(at(0));
  rp.on_cnp(at(1));
  rp.on_timer(at(1 + 7 * 55));  // time stage 7: additive, since no byte stage has passed
  EXPECT_EQ(rp.target_rate(), megabits_per_second(20'080));
  // Byte stages 0..5 see max >= 5 and min <= 5: six more additive steps; stage 6 is hyper with i = 1.
  for (int i = 0; i < 6; ++i) rp.on_bytes_sent(at(390), Bytes(10'000'000));
  EXPECT_EQ(rp.target_rate(), megabits_per_second(20'080 + 6 * 40));
  rp.on_bytes_sent(at(390), Bytes(10'000'000));
  EXPECT_EQ(rp.target_rate(), megabits_per_second(20'320 + 400));
  rp.on_timer(at(1 + 8 * 55));  // min(7, 7) − 5 = 2
  EXPECT_EQ(rp.target_rate(), megabits_per_second(20'720 + 800));
}

TEST(ReactionPointPaper, ReachesLineRateAndLetsTheLimiterGo) {
  ReactionPoint rp(kPaper.rp, k40G);
  rp.on_cnp(at(0));
  rp.on_timer(at(100'000));
  EXPECT_EQ(rp.rate(), k40G);
  EXPECT_FALSE(rp.is_limiting());
  EXPECT_EQ(rp.next_timer(), Instant::never());
}

TEST(ReactionPointPaper, AlphaDecaysToNothingWhileIdle) {
  ReactionPoint rp(kPaper.rp, k40G);
  rp.on_cnp(at(0));
  EXPECT_NEAR(rp.alpha(at(55 * 177)).value(), 0.5002, 0.0001);  // (255/256)^177
  EXPECT_EQ(rp.alpha(at(3'600'000'000)), Ratio(0));
}

// alpha 1023/1024: the cut takes 1023/2048. The target stays, as the timer has not raised the rate.
TEST(ReactionPointMlx5, FirstCnp) {
  ReactionPoint rp(kMlx5.rp, k100G);
  rp.on_cnp(at(0));
  EXPECT_EQ(rp.rate(), bits_per_second(50'048'828'125));
  EXPECT_EQ(rp.target_rate(), k100G);
}

TEST(ReactionPointMlx5, ByteCounterRaisesEvery32767Bytes) {
  ReactionPoint rp(kMlx5.rp, k100G);
  rp.on_cnp(at(0));
  rp.on_bytes_sent(at(1), Bytes(32'766));
  EXPECT_EQ(rp.rate(), bits_per_second(50'048'828'125));
  rp.on_bytes_sent(at(1), Bytes(1));
  EXPECT_EQ(rp.rate(), bits_per_second(75'024'414'063));  // (RT + RC)/2, rounded up
  rp.on_bytes_sent(at(1), Bytes(32'767));
  EXPECT_EQ(rp.rate(), bits_per_second(87'512'207'032));
}

TEST(ReactionPointMlx5, CutsAtMostEveryMonitorPeriod) {
  ReactionPoint rp(kMlx5.rp, k100G);
  rp.on_cnp(at(0));
  rp.on_cnp(at(3));
  EXPECT_EQ(rp.counts().cuts, 1);
  rp.on_cnp(at(4));
  EXPECT_EQ(rp.counts().cuts, 2);
  EXPECT_EQ(rp.counts().cnps, 3);
}

TEST(ReactionPointMlx5, TargetIsClampedOnlyAfterATimerIncrease) {
  ReactionPoint rp(kMlx5.rp, k100G);
  rp.on_cnp(at(0));
  rp.on_bytes_sent(at(5), Bytes(32'767));
  rp.on_cnp(at(10));
  EXPECT_EQ(rp.target_rate(), k100G);  // bytes raised it, the timer did not
  rp.on_timer(at(310));
  const BitRate raised = rp.rate();
  rp.on_cnp(at(320));
  EXPECT_EQ(rp.target_rate(), raised);
}

// With CNPs in every period alpha tends to 1, with one in four to about a quarter.
TEST(ReactionPointMlx5, AlphaMeasuresTheShareOfPeriodsWithACnp) {
  ReactionPoint rp(kMlx5.rp, k100G);
  for (int us = 0; us < 20'000; us += 4) rp.on_cnp(at(us));
  EXPECT_NEAR(rp.alpha(at(20'000)).value(), 0.25, 0.005);
}

TEST(ReactionPointMlx5, MinimumDecreaseFactorAndMinimumRateHold) {
  ReactionPointParameters deep = kMlx5.rp;
  deep.cut_exponent = 10;  // alpha itself: would take all but a thousandth
  ReactionPoint rp(deep, k100G);
  rp.on_cnp(at(0));
  EXPECT_EQ(rp.rate(), gigabits_per_second(50));
  for (int us = 4; us < 4'000; us += 4) rp.on_cnp(at(us));
  EXPECT_GE(rp.rate(), megabits_per_second(1));
}

TEST(ReactionPointMlx5, RateOnFirstCnpReplacesTheFirstCut) {
  ReactionPointParameters p = kMlx5.rp;
  p.rate_on_first_cnp = gigabits_per_second(7);
  ReactionPoint rp(p, k100G);
  rp.on_cnp(at(0));
  EXPECT_EQ(rp.rate(), gigabits_per_second(7));
  rp.on_cnp(at(4));
  EXPECT_LT(rp.rate(), gigabits_per_second(7));
}

TEST(ReactionPointMlx5, MaximumRateIsTheCeiling) {
  ReactionPointParameters p = kMlx5.rp;
  p.maximum_rate = gigabits_per_second(30);
  ReactionPoint rp(p, k100G);
  EXPECT_EQ(rp.rate(), gigabits_per_second(30));
  rp.on_cnp(at(0));
  rp.on_timer(at(1'000'000));
  EXPECT_EQ(rp.rate(), gigabits_per_second(30));
}

// The gate is a grid of 4 us from the first CNP; alpha has decayed four times by then.
TEST(ReactionPointHpcc, CutsAtTheEndOfThePeriod) {
  ReactionPoint rp(kHpcc.rp, k100G);
  rp.on_cnp(at(0));
  EXPECT_EQ(rp.rate(), k100G);
  EXPECT_EQ(rp.next_timer(), at(4));
  rp.on_timer(at(4));
  const double alpha = 255.0 / 256 * 255 / 256 * 255 / 256 * 255 / 256;
  EXPECT_NEAR(double(rp.rate().count()), 100e9 * (1 - alpha / 2), 200);
  rp.on_cnp(at(9));
  EXPECT_EQ(rp.next_timer(), at(12));
}

TEST(ReactionPointHpcc, NoByteCounter) {
  ReactionPoint rp(kHpcc.rp, k100G);
  rp.on_cnp(at(0));
  rp.on_timer(at(4));
  const BitRate before = rp.rate();
  rp.on_bytes_sent(at(5), Bytes(1'000'000'000));
  EXPECT_EQ(rp.rate(), before);
}

// Whatever comes, in whatever grain time passes: rates stay in bounds, and polling changes nothing.
TEST(ReactionPointProperty, BoundsHoldAndSpuriousCallsAreHarmless) {
  for (const Parameters& set : {kPaper, kMlx5, kHpcc}) {
    for (unsigned seed = 1; seed <= 50; ++seed) {
      std::mt19937_64 random(seed);
      ReactionPoint lazy(set.rp, k100G);
      ReactionPoint polled(set.rp, k100G);
      Instant now;
      for (int i = 0; i < 300; ++i) {
        const Instant next = now + nanoseconds(static_cast<std::int64_t>(random() % 200'000));
        for (Instant t = now; t < next; t = t + nanoseconds(7'919)) polled.on_timer(t);
        now = next;
        if (random() % 3 == 0) {
          lazy.on_cnp(now);
          polled.on_cnp(now);
        } else {
          const Bytes sent(static_cast<std::int64_t>(random() % 100'000));
          lazy.on_timer(now);
          lazy.on_bytes_sent(now, sent);
          polled.on_timer(now);
          polled.on_timer(now);
          polled.on_bytes_sent(now, sent);
        }
        ASSERT_EQ(lazy.rate(), polled.rate()) << "seed " << seed << " step " << i;
        ASSERT_EQ(lazy.alpha(now), polled.alpha(now));
        ASSERT_GE(lazy.rate(), set.rp.minimum_rate);
        ASSERT_LE(lazy.rate(), lazy.target_rate());
        ASSERT_LE(lazy.target_rate(), k100G);
        ASSERT_GT(lazy.next_timer(), now);
      }
    }
  }
}

}  // namespace
}  // namespace rocetune::dcqcn
