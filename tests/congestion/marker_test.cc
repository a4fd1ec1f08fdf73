#include "congestion/marker.h"

#include <gtest/gtest.h>

#include "congestion/fixed_point.h"

namespace rocetune {
namespace {

constexpr RedCurve kPaper{Bytes(5'000), Bytes(200'000), Ratio::from_percent(1)};

TEST(RedCurve, IsZeroThenLinearThenOne) {
  EXPECT_EQ(kPaper.probability_at(Bytes(0)), Ratio(0));
  EXPECT_EQ(kPaper.probability_at(Bytes(5'000)), Ratio(0));
  EXPECT_EQ(kPaper.probability_at(Bytes(102'500)), Ratio(5'000'000));
  EXPECT_EQ(kPaper.probability_at(Bytes(200'000)), Ratio::from_percent(1));
  EXPECT_EQ(kPaper.probability_at(Bytes(200'001)), Ratio::one());
}

// The fixed points of the CoNEXT 2016 model for 2 and 10 flows: q* = Kmin + p*(Kmax − Kmin)/Pmax.
TEST(RedCurve, GivesTheFixedPointsOfTheFluidModel) {
  EXPECT_NEAR(kPaper.probability_at(Bytes(20'152)).value(), 0.000777, 1e-6);
  EXPECT_NEAR(kPaper.probability_at(Bytes(122'624)).value(), 0.006032, 1e-6);
}

TEST(RedCurve, MayBeAStep) {
  const RedCurve step{Bytes(1'000), Bytes(1'000), Ratio::one()};
  EXPECT_EQ(step.probability_at(Bytes(1'000)), Ratio(0));
  EXPECT_EQ(step.probability_at(Bytes(1'001)), Ratio::one());
}

TEST(Happens, ComparesTheWholeRangeOfTheRandomWord) {
  EXPECT_FALSE(happens(Ratio(0), 0));
  EXPECT_TRUE(happens(Ratio::one(), UINT64_MAX));
  EXPECT_TRUE(happens(Ratio::from_percent(50), (1ULL << 63) - 1));
  EXPECT_FALSE(happens(Ratio::from_percent(50), 1ULL << 63));
}

TEST(AverageQueue, MovesByItsWeight) {
  AverageQueue queue(2);
  queue.on_packet(Bytes(1'000));
  EXPECT_EQ(queue.average(), Bytes(250));
  queue.on_packet(Bytes(1'000));
  EXPECT_EQ(queue.average(), Bytes(437));  // 437.5
  for (int i = 0; i < 200; ++i) queue.on_packet(Bytes(0));
  EXPECT_EQ(queue.average(), Bytes(0));
}

TEST(Wred, MarksWhatCanBeMarked) {
  Wred wred(WredProfile{.ecn = kPaper, .not_ecn = kPaper});
  EXPECT_EQ(wred.on_packet(Bytes(300'000), Ecn::ect0, UINT64_MAX), MarkVerdict::mark);
  EXPECT_EQ(wred.on_packet(Bytes(300'000), Ecn::ect1, UINT64_MAX), MarkVerdict::mark);
  EXPECT_EQ(wred.on_packet(Bytes(300'000), Ecn::ce, 0), MarkVerdict::pass);
  EXPECT_EQ(wred.on_packet(Bytes(300'000), Ecn::not_ect, 0), MarkVerdict::pass);
}

TEST(Wred, DropsTheRestWhereItIsToldTo) {
  Wred wred(WredProfile{.ecn = kPaper, .not_ecn = kPaper, .drop_not_ecn = true});
  EXPECT_EQ(wred.on_packet(Bytes(300'000), Ecn::not_ect, 0), MarkVerdict::drop);
  EXPECT_EQ(wred.on_packet(Bytes(4'000), Ecn::not_ect, 0), MarkVerdict::pass);
}

TEST(IntegerSqrt, RoundsDown) {
  EXPECT_EQ(integer_sqrt(0), 0);
  EXPECT_EQ(integer_sqrt(15), 3);
  EXPECT_EQ(integer_sqrt(16), 4);
  EXPECT_EQ(integer_sqrt(INT64_MAX), 3'037'000'499);
}

}  // namespace
}  // namespace rocetune
