#include "dataplane/port/fault_plan.h"

#include <gtest/gtest.h>

namespace rocetune::port {
namespace {

FaultPlan parsed(std::string_view text) {
  const auto plan = parse_fault_plan(text, "--faults");
  EXPECT_TRUE(plan) << plan.error().text();
  return plan.value_or(FaultPlan());
}
std::string complaint(std::string_view text) {
  const auto plan = parse_fault_plan(text, "--faults");
  return plan ? "accepted" : plan.error().text();
}

std::vector<std::uint64_t> struck(const FaultWhen& when, std::uint64_t frames) {
  Random random(1);
  std::vector<std::uint64_t> out;
  for (std::uint64_t i = 0; i < frames; ++i) {
    if (when.strikes(i, random)) out.push_back(i);
  }
  return out;
}

TEST(FaultPlan, EmptyTextDoesNothing) {
  EXPECT_TRUE(parsed("").is_empty());
  EXPECT_TRUE(parsed("  ").is_empty());
}

TEST(FaultPlan, ReadsEveryFault) {
  const FaultPlan plan = parsed(
      "loss=0.1% duplicate=#4 corrupt=..x reorder=1%:3 delay=50%:20us ce=0.25 rate=10Gbps:64KiB mark=16KiB "
      "seed=7");
  EXPECT_EQ(plan.loss, FaultWhen::with_probability(Ratio(1'000'000)));
  EXPECT_EQ(plan.duplicate, FaultWhen::at({{4, 4}}));
  EXPECT_EQ(plan.corrupt, FaultWhen::repeating({false, false, true}));
  EXPECT_EQ(plan.reorder_frames, 3);
  EXPECT_EQ(plan.delay_time, microseconds(20));
  EXPECT_EQ(plan.ce, FaultWhen::with_probability(Ratio::from_percent(25)));
  EXPECT_EQ(plan.rate, gigabits_per_second(10));
  EXPECT_EQ(plan.rate_queue, Bytes(65536));
  EXPECT_EQ(plan.mark, Bytes(16384));
  EXPECT_EQ(plan.seed, 7U);
  EXPECT_FALSE(plan.is_empty());
}

TEST(FaultPlan, TextParsesBackToThePlan) {
  const FaultPlan plan = parsed(
      "loss=#3,7,10-12 duplicate=xx. corrupt=0.0001% reorder=2%:5 delay=x:3us ce=1% rate=1Gbps mark=1kB "
      "seed=0");
  EXPECT_EQ(parsed(plan.text()), plan);
}

TEST(FaultPlan, FaultThatNeverStrikesLeavesNothingBehind) {
  EXPECT_EQ(parsed("loss=0 delay=0%:20us reorder=0:7"), FaultPlan());
}

TEST(FaultPlan, FrameNumbersStrikeThoseFramesOnly) {
  EXPECT_EQ(struck(parsed("loss=#0,3,5-6").loss, 9), (std::vector<std::uint64_t>{0, 3, 5, 6}));
}

TEST(FaultPlan, PatternRepeats) {
  EXPECT_EQ(struck(parsed("loss=.x.").loss, 8), (std::vector<std::uint64_t>{1, 4, 7}));
}

TEST(FaultPlan, RatioStrikesItsShare) {
  const std::size_t count = struck(parsed("loss=5%").loss, 100'000).size();
  EXPECT_NEAR(static_cast<double>(count), 5000, 300);
}

TEST(FaultPlan, SaysEverythingThatIsWrong) {
  EXPECT_EQ(
      complaint("los=1% delay=5% reorder=1%:0"),
      "--faults: los: found los, allowed: one of loss duplicate corrupt reorder delay ce rate mark seed; "
      "did you mean loss?\n"
      "--faults: delay: found 5%, allowed: WHEN:TIME, a number with a unit (ps ns us ms s min h), such as "
      "55us (not a number)\n"
      "--faults: reorder: found 1%:0, allowed: WHEN:FRAMES with 1 to 256 frames");
}

TEST(FaultPlan, RefusesWhatIsNoWhen) {
  const std::string allowed =
      "allowed: a ratio (0.1%), frame numbers (#7 or #3,10-12) or a repeating pattern (..x)";
  for (const std::string text : {"often", "101%", "-1%", "#", "#5-3", "#1,", "#1,,2", "...", "5"}) {
    EXPECT_EQ(complaint("loss=" + text), "--faults: loss: found " + text + ", " + allowed);
  }
}

TEST(FaultPlan, RefusesAFaultTwice) {
  EXPECT_EQ(complaint("loss=1% loss=2%"), "--faults: loss: found 2%, allowed: each fault once");
}

TEST(FaultPlan, RefusesAFaultWithoutValue) {
  EXPECT_EQ(complaint("loss"), "--faults: loss: found loss, allowed: loss=VALUE");
}

TEST(FaultPlan, MarkNeedsAQueueToLookAt) {
  EXPECT_EQ(complaint("mark=64KiB"),
            "--faults: mark: found 64KiB, allowed: together with rate=, whose queue it looks at");
}

TEST(FaultPlan, RateMustBePositive) {
  EXPECT_EQ(complaint("rate=0bps"), "--faults: rate: found 0bps, allowed: a rate above 0");
}

}  // namespace
}  // namespace rocetune::port
