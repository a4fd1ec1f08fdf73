#include <gmock/gmock.h>

#include "agent/tune/fabric_plant/advice.h"
#include "agent/tune/fabric_plant/switch_names.h"
#include "tests/agent/tune/fabric_plant/plant_scenes.h"

namespace rocetune::fabric_plant {
namespace {

using search::Objective;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Half of the hosts are another tenant, in a class above that of the first.
constexpr const char* kTenants = R"(
[[hosts.own]]
hosts = "2-3"
dscp = 34
priority_of_dscp = { 34 = 4 }
lossless = [3, 4]
[[hosts.own]]
hosts = "0-1"
lossless = [3, 4]
[[switches.own]]
switches = [0, 1, 2]
priority_of_dscp = { 34 = 4 }
lossless = [3, 4]
[[flows]]
pattern = "pair"
from = 1
to = 0
bytes = "20MB"
[[flows]]
pattern = "pair"
from = 2
to = 0
bytes = "20MB"
)";

std::string why_left_out(const FabricPlant& plant, std::string_view knob) {
  const auto out = std::ranges::find(plant.left_out(), knob, &LeftOut::knob);
  return out == plant.left_out().end() ? "" : out->why;
}

TEST(EtsKnobs, AreOfFabricsWithDataInSeveralClasses) {
  const auto one = plant_of();
  EXPECT_FALSE(one->space().find("switches.ets"));
  EXPECT_THAT(why_left_out(*one, "switches.ets"), HasSubstr("all data are of one class"));
  EXPECT_THAT(why_left_out(*one, "hosts.ets"), HasSubstr("of one class"));

  const auto two = plant_of(kTenants);
  const auto knob = two->space().find("switches.ets");
  ASSERT_TRUE(knob);
  EXPECT_THAT(two->space()[*knob].choices,
              ElementsAre("strict", "0=5%, 3=10%, 4=85%", "0=5%, 3=25%, 4=70%", "0=5%, 3=50%, 4=45%",
                          "0=5%, 3=70%, 4=25%", "0=5%, 3=85%, 4=10%"));
  EXPECT_EQ(two->space()[*knob].start, 0);
}

TEST(EtsKnobs, WhatTheFileSharesMayBeTakenBack) {
  const auto plant = plant_of("", with({{"switches.ets", "[0, 0, 0, 90, 0, 0, 10, 0]"},
                                        {"hosts.traffic_classes", "[0, 0, 0, 3, 0, 0, 3, 0]"}}));
  const search::Knob& switches = plant->space()[*plant->space().find("switches.ets")];
  EXPECT_THAT(switches.choices, ElementsAre("3=90%, 6=10%", "strict"));
  EXPECT_EQ(switches.text(switches.start), "3=90%, 6=10%");
  const search::Knob& hosts = plant->space()[*plant->space().find("hosts.ets")];
  EXPECT_THAT(hosts.text(hosts.start), HasSubstr("priority 6 in class 3"));
  const fabric::Scenario to =
      changed(*plant, candidate_of(*plant, {{"switches.ets", "strict"}, {"hosts.ets", "strict"}}));
  for (std::uint32_t i = 0; i < to.topology.switches; ++i)
    EXPECT_EQ(to.options.own_switch.at(i).ets, EtsConfig());
  EXPECT_EQ(to.options.own_host.at(3).class_of, a_class_each());
}

TEST(EtsKnobs, AHostThatSharesOtherwiseDeviates) {
  const auto plant = plant_of("[[hosts.own]]\nhosts = 1\nets = [0, 0, 0, 100, 0, 0, 0, 0]\n");
  const auto knob = plant->space().find("h1.ets");
  ASSERT_TRUE(knob);
  EXPECT_THAT(plant->space()[*knob].choices, ElementsAre("as found: 3=100%", "as the others: strict"));
}

// A tenant that another one's strict class starves gets its share.
TEST(EtsKnobs, GiveATenantItsShare) {
  auto plant = plant_of(kTenants);
  const auto fairness = [&](const char* ets) {
    const auto seen = plant->observe({.candidate = candidate_of(*plant, {{"switches.ets", ets}})}, {});
    EXPECT_TRUE(seen);
    return seen ? seen->objectives[Objective::fairness].value_or(0) : 0;
  };
  const double strict = fairness("strict");
  EXPECT_GT(fairness("0=5%, 3=50%, 4=45%"), strict + 0.2);
}

TEST(EtsKnobs, HaveWordsForSwitches) {
  const auto plant = plant_of(kTenants);
  const search::Candidate candidate = candidate_of(*plant, {{"switches.ets", "0=5%, 3=50%, 4=45%"}});
  const auto names = switch_names_of(*plant, candidate);
  ASSERT_EQ(names.size(), 1u);
  EXPECT_THAT(names[0].sonic, HasSubstr("QUEUE|PORT|3 scheduler: SCHEDULER type DWRR weight 50"));
  EXPECT_THAT(names[0].sonic, HasSubstr("QUEUE|PORT|6 scheduler: SCHEDULER type STRICT"));
  EXPECT_THAT(names[0].nvue,
              HasSubstr("egress-scheduler default-global traffic-class 4 mode dwrr; bw-percent 45"));
  EXPECT_THAT(names[0].eos, HasSubstr("uc-tx-queue 3: no priority; bandwidth percent 50"));
  EXPECT_THAT(steps_of(*plant, candidate).front().how, HasSubstr("SCHEDULER"));
}

}  // namespace
}  // namespace rocetune::fabric_plant
