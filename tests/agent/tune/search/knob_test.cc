#include "agent/tune/search/knob.h"

#include <gtest/gtest.h>

#include "agent/tune/search/constraint.h"
#include "agent/tune/search/space.h"

namespace rocetune::search {
namespace {

Knob rate() {
  Knob knob;
  knob.name = "dcqcn.ai";
  knob.min = 1;
  knob.max = 1000;
  knob.step = 1;
  knob.scale = Scale::logarithmic;
  knob.unit = "mbps";
  knob.start = 5;
  return knob;
}

Knob mode() {
  Knob knob;
  knob.name = "controller";
  knob.kind = KnobKind::categorical;
  knob.choices = {"dcqcn", "swift", "off"};
  knob.safe_choices = {0, 2};
  return knob;
}

TEST(Knob, PositionsAreOnItsScale) {
  const Knob knob = rate();
  EXPECT_EQ(knob.count(), 1000);
  EXPECT_DOUBLE_EQ(knob.at_position(0), 1);
  EXPECT_DOUBLE_EQ(knob.at_position(1), 1000);
  EXPECT_DOUBLE_EQ(knob.at_position(0.5), 32);  // sqrt(1000), to the step
  EXPECT_NEAR(knob.position(10), 1.0 / 3, 1e-12);
  Knob linear = rate();
  linear.scale = Scale::linear;
  linear.step = 100;
  EXPECT_DOUBLE_EQ(linear.at_position(0.52), 501);
}

TEST(Knob, SafeSetIsWithinTheRangeAndOnTheGrid) {
  Knob knob = rate();
  knob.safe_min = 10;
  knob.safe_max = 100;
  EXPECT_FALSE(knob.is_safe(9));
  EXPECT_TRUE(knob.is_safe(10));
  EXPECT_FALSE(knob.is_safe(10.5));
  EXPECT_FALSE(knob.is_safe(101));
  EXPECT_TRUE(knob.is_safe(5)) << "what was found is no doing of ours";
  EXPECT_DOUBLE_EQ(knob.nearest_safe(4), 10);
  EXPECT_DOUBLE_EQ(knob.nearest_safe(1e9), 100);
  EXPECT_DOUBLE_EQ(knob.at_position(0), 10);

  const Knob choice = mode();
  EXPECT_TRUE(choice.is_safe(0));
  EXPECT_FALSE(choice.is_safe(1));
  EXPECT_TRUE(choice.is_safe(2));
  EXPECT_FALSE(choice.is_safe(3));
}

TEST(Knob, TextsGoBothWays) {
  EXPECT_EQ(rate().text(5), "5 mbps");
  EXPECT_EQ(rate().value_of("5 mbps").value(), 5);
  EXPECT_EQ(rate().value_of("7").value(), 7);
  EXPECT_EQ(mode().text(2), "off");
  EXPECT_EQ(mode().value_of("off").value(), 2);
  EXPECT_EQ(rate().value_of("fast").error().text(),
            "dcqcn.ai: found \"fast\", allowed: a number from 1 to 1000 mbps");
  EXPECT_EQ(mode().value_of("dcqn").error().text(),
            "controller: found \"dcqn\", allowed: dcqcn, swift, off; did you mean dcqcn?");
}

TEST(Space, RefusesKnobsThatAreNone) {
  Knob twin = rate();
  Knob backwards = rate();
  backwards.name = "backwards";
  backwards.min = 2000;
  Knob zero = rate();
  zero.name = "zero";
  zero.min = 0;
  Knob orphan = rate();
  orphan.name = "orphan";
  orphan.lives_while = Knob::Life{9, {0}};
  const auto space = Space::of({rate(), twin, backwards, zero, orphan});
  ASSERT_FALSE(space.has_value());
  EXPECT_EQ(
      space.error().text(),
      "knob 1 (dcqcn.ai): another knob has this name; knob 2 (backwards): min is above max; knob 3 (zero): a "
      "logarithmic scale needs min above 0; knob 4 (orphan): lives by a knob that does not stand before it");
}

TEST(Space, ADeadKnobIsAtItsStart) {
  Knob ai = rate();
  ai.lives_while = Knob::Life{0, {0}};
  const Space space = Space::of({mode(), ai}).value();
  Candidate off{{2, 80}};
  EXPECT_FALSE(space.is_alive(1, off));
  EXPECT_EQ(space.canonical(off), (Candidate{{2, 5}}));
  EXPECT_EQ(space.canonical(Candidate{{0, 80}}), (Candidate{{0, 80}}));
  EXPECT_EQ(space.text(space.difference(space.start(), Candidate{{2, 80}})),
            "controller=off, dcqcn.ai=80 mbps");
  EXPECT_EQ(space.setting("dcqcn.a", "3").error().text(), "no knob dcqcn.a; did you mean dcqcn.ai?");
  EXPECT_EQ(space.setting("dcqcn.ai", "3").value(), (Setting{1, 3}));
}

TEST(Constraint, WhatWasFoundBrokenDoesNotForbidOtherKnobs) {
  Knob kmax = rate();
  kmax.name = "kmax";
  kmax.start = 900;
  Knob other = rate();
  other.name = "other";
  const Space space = Space::of({rate(), kmax, other}).value();
  const std::vector<Constraint> constraints{
      {"ecn", "Kmax below 500", "test", {1}, [](const Candidate& c) -> std::optional<std::string> {
         if (c.values[1] < 500) return std::nullopt;
         return fmt::format("{} is not", c.values[1]);
       }}};
  EXPECT_FALSE(broken(constraints, space, space.start()));
  EXPECT_FALSE(broken(constraints, space, Candidate{{5, 900, 77}}));
  EXPECT_FALSE(broken(constraints, space, Candidate{{5, 400, 5}}));
  const auto why = broken(constraints, space, Candidate{{5, 800, 5}});
  ASSERT_TRUE(why);
  EXPECT_EQ(why->why, "800 is not");
}

}  // namespace
}  // namespace rocetune::search
