#include "agent/tune/fabric_plant/switch_names.h"

#include <gmock/gmock.h>

#include "tests/agent/tune/fabric_plant/plant_scenes.h"

namespace rocetune::fabric_plant {
namespace {

using ::testing::HasSubstr;

const SwitchNames* names_of(const std::vector<SwitchNames>& all, std::string_view knob) {
  for (const SwitchNames& one : all) {
    if (one.knob == knob) return &one;
  }
  ADD_FAILURE() << knob;
  return nullptr;
}

TEST(SwitchNames, HaveTheNewValueInTheWordsOfEachSystem) {
  const auto plant = plant_of("[[switches.own]]\nswitches = [1]\npriority_of_dscp = { 26 = 0 }\n");
  search::Candidate candidate =
      candidate_of(*plant, {{"switches.kmin", "50000"}, {"switches.kmax", "200000"}, {"switches.alpha_exponent", "-2"}});
  candidate.values[*plant->space().find("switch1.priority_of_dscp")] = 1;
  const auto all = switch_names_of(*plant, candidate);
  ASSERT_EQ(all.size(), 4u);
  const SwitchNames& kmin = *names_of(all, "switches.kmin");
  EXPECT_EQ(kmin.where, "all switches");
  EXPECT_EQ(kmin.value, "50000 bytes");
  EXPECT_EQ(kmin.sonic, "ecnconfig -p AZURE_LOSSLESS -gmin 50000");
  EXPECT_EQ(kmin.nvue, "nv set qos congestion-control default-global traffic-class 3 min-threshold 50000");
  // What EOS says in one line has all that the candidate changes.
  EXPECT_THAT(kmin.eos, HasSubstr("minimum-threshold 50000 bytes maximum-threshold 200000 bytes max-mark-probability 20"));
  EXPECT_EQ(names_of(all, "switches.kmax")->eos, kmin.eos);
  const SwitchNames& map = *names_of(all, "switch1.priority_of_dscp");
  EXPECT_EQ(map.where, "switch1");
  EXPECT_THAT(map.sonic, HasSubstr("DSCP_TO_TC_MAP|AZURE \"26\": \"3\""));
  EXPECT_THAT(map.nvue, HasSubstr("nv set qos mapping default-global dscp 26 switch-priority 3"));
  EXPECT_THAT(map.eos, HasSubstr("qos map dscp 26 to traffic-class 3"));
  EXPECT_EQ(names_of(all, "switches.alpha_exponent")->nvue, "");
}

TEST(SwitchNames, HostsAreNotAmongThem) {
  const auto plant = plant_of();
  EXPECT_TRUE(switch_names_of(*plant, candidate_of(*plant, {{"hosts.rp_ai_rate", "40"}})).empty());
  EXPECT_TRUE(switch_names_of(*plant, plant->space().start()).empty());
}

TEST(SwitchNames, ThePrioritiesWithPfc) {
  const auto plant = plant_of();
  const search::Knob& knob = plant->space()[*plant->space().find("classes.lossless")];
  search::Candidate candidate = plant->space().start();
  for (std::size_t i = 0; i < knob.choices.size(); ++i) {
    if (knob.choices[i] == "{}") candidate.values[*plant->space().find("classes.lossless")] = static_cast<double>(i);
  }
  ASSERT_NE(candidate, plant->space().start());
  const auto all = switch_names_of(*plant, candidate);
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].sonic, "PORT_QOS_MAP|PORT pfc_enable \"\"");
  EXPECT_EQ(all[0].eos, "no priority-flow-control");
}

}  // namespace
}  // namespace rocetune::fabric_plant
