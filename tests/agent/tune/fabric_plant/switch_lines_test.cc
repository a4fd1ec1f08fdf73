// What a plan means for switches, as lines that are read back.
#include "agent/tune/fabric_plant/switch_lines.h"

#include <gmock/gmock.h>

#include "tests/agent/tune/fabric_plant/plant_scenes.h"

namespace rocetune::fabric_plant {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

const SwitchSnippet& of(const std::vector<SwitchSnippet>& all, std::string_view system) {
  const auto found = std::ranges::find(all, system, &SwitchSnippet::system);
  EXPECT_NE(found, all.end()) << system;
  static const SwitchSnippet none;
  return found == all.end() ? none : *found;
}

TEST(SwitchLinesOfAPlan, AreTheWholeClassMapAfterIt) {
  const auto plant = plant_of();
  const auto all = switch_lines_of(
      *plant, candidate_of(*plant, {{"switches.kmin", "50000"}, {"switches.kmax", "200000"}}));
  ASSERT_EQ(all.size(), 5u) << "one of each writer";
  for (const SwitchSnippet& one : all) EXPECT_EQ(one.where, one.system == "junos" ? "" : "all switches");
  const std::string& eos = of(all, "eos").text;
  EXPECT_THAT(eos, HasSubstr("qos map dscp 26 to traffic-class 3"));
  EXPECT_THAT(eos, HasSubstr("priority-flow-control priority 3 no-drop"));
  EXPECT_THAT(eos, HasSubstr("minimum-threshold 50 kbytes maximum-threshold 200 kbytes "
                             "max-mark-probability 20"));
  EXPECT_THAT(eos, HasSubstr("interface PORT"));
  EXPECT_THAT(of(all, "sonic").text, HasSubstr("\"green_min_threshold\": \"50000\""));
  EXPECT_THAT(of(all, "eos").unsaid, IsEmpty());
  // Nobody said that RoCE passes everything else.
  EXPECT_THAT(eos, HasSubstr("uc-tx-queue 3\n      no priority\n      bandwidth percent 50"));
  EXPECT_THAT(eos, HasSubstr("uc-tx-queue 6\n      priority strict"));
  EXPECT_THAT(of(all, "eos").notes,
              ::testing::Contains(HasSubstr("shares of queues are no part of the plan")));
  // Junos has thresholds as shares of the buffer.
  EXPECT_EQ(of(all, "junos").text, "");
  EXPECT_THAT(of(all, "junos").unsaid, ElementsAre("switches.kmin at all switches: 50000 bytes",
                                                   "switches.kmax at all switches: 200000 bytes"));
}

TEST(SwitchLinesOfAPlan, NameWhatNoWriterSays) {
  const auto plant = plant_of();
  for (const SwitchSnippet& one : switch_lines_of(
           *plant, candidate_of(*plant, {{"switches.kmin", "50000"}, {"switches.alpha_exponent", "-1"}})))
    EXPECT_THAT(one.unsaid, ::testing::Contains(HasSubstr("switches.alpha_exponent at all switches: -1")));
}

TEST(SwitchLinesOfAPlan, AreOfTheSwitchThatIsToChange) {
  const auto plant = plant_of("[[switches.own]]\nswitches = [1]\npriority_of_dscp = { 26 = 0 }\n");
  search::Candidate candidate = plant->space().start();
  candidate.values[*plant->space().find("switch1.priority_of_dscp")] = 1;
  const auto all = switch_lines_of(*plant, candidate);
  ASSERT_EQ(all.size(), 5u);
  for (const SwitchSnippet& one : all) {
    EXPECT_EQ(one.where, "switch1") << one.system;
    EXPECT_THAT(one.unsaid, IsEmpty()) << one.system;
  }
}

TEST(SwitchLinesOfAPlan, LossyModeMarksAndDoesNotPause) {
  const auto plant = plant_of();
  const auto all = switch_lines_of(*plant, candidate_of(*plant, {{"classes.lossless", "{}"}}));
  EXPECT_THAT(of(all, "eos").text, HasSubstr("no priority-flow-control"));
  EXPECT_THAT(of(all, "eos").text, HasSubstr("random-detect ecn minimum-threshold 100 kbytes"));
  EXPECT_THAT(of(all, "sonic").text, HasSubstr("\"wred_profile\": \"ROCE_LOSSLESS\""));
  EXPECT_THAT(of(all, "nvue").text, Not(HasSubstr("qos pfc ")));
}

TEST(SwitchLinesOfAPlan, HostsAreNotInThem) {
  const auto plant = plant_of();
  EXPECT_THAT(switch_lines_of(*plant, candidate_of(*plant, {{"hosts.rp_ai_rate", "40"}})), IsEmpty());
  EXPECT_THAT(switch_lines_of(*plant, plant->space().start()), IsEmpty());
}

// What a switch has besides: a lossless priority that nothing leads to, a watchdog, shares.
TEST(SwitchLinesOfAPlan, SayWhatElseTheSwitchHas) {
  const auto plant = plant_of("", with({{"switches.lossless", "[3, 5]"},
                                        {"limit", "\"500ms\""},
                                        {"switches.watchdog.detection", "\"200ms\""},
                                        {"switches.ets", "[20, 0, 0, 80, 0, 0, 0, 0]"}}));
  const auto all = switch_lines_of(*plant, candidate_of(*plant, {{"switches.kmin", "50000"}}));
  const SwitchSnippet& eos = of(all, "eos");
  EXPECT_THAT(eos.text, HasSubstr("watchdog default timeout 0.2"));
  EXPECT_THAT(eos.text, HasSubstr("bandwidth percent 80"));
  EXPECT_THAT(eos.text, HasSubstr("bandwidth percent 20"));
  EXPECT_THAT(eos.notes, Not(::testing::Contains(HasSubstr("no part of the plan"))));
  EXPECT_THAT(eos.unsaid, ElementsAre("PFC of {5}: no DSCP that is used leads there"));
}

}  // namespace
}  // namespace rocetune::fabric_plant
