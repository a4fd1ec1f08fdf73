// Every planted fault is found, and its cure is a setting of the one that is wrong.
#include <gmock/gmock.h>

#include "agent/tune/fabric_plant/constraints.h"
#include "agent/tune/fabric_plant/tuning.h"
#include "tests/agent/tune/fabric_plant/plant_scenes.h"

namespace rocetune::fabric_plant {
namespace {

using ::testing::HasSubstr;

std::string cure_of(const FabricPlant& plant, const FabricFinding* finding) {
  return finding == nullptr ? "no finding" : plant.space().text(finding->settings);
}

// Idle counters say nothing: hosts need some traffic.
constexpr std::string_view kMore = R"(
[[flows]]
pattern = "permutation"
shift = 2
bytes = "8MB"
)";

TEST(Diagnosis, OfARightFabricIsEmpty) {
  const auto plant = plant_of();
  for (const FabricFinding& finding : plant->diagnosis().findings)
    ADD_FAILURE() << finding.rule << " " << finding.where << ": " << finding.cause;
}

TEST(Diagnosis, FindsTheSwitchWithAnotherMap) {
  const auto plant = plant_of("[[switches.own]]\nswitches = [1]\npriority_of_dscp = { 26 = 0 }\n");
  EXPECT_EQ(cure_of(*plant, finding_of(*plant, "MAP-5", "switch1")),
            "switch1.priority_of_dscp=as the others: 26=3, 48=6");
}

TEST(Diagnosis, FindsASwitchWhoseClassHasNoPfc) {
  const auto plant = plant_of("[[switches.own]]\nswitches = [0]\nlossless = [4]\n");
  EXPECT_EQ(cure_of(*plant, finding_of(*plant, "MAP-5", "switch0")), "switch0.lossless=as the others: {3}");
}

TEST(Diagnosis, FindsSwitchesThatPutTheDataElsewhereThanHosts) {
  const auto plant = plant_of("[[switches.own]]\nswitches = [0, 1, 2]\npriority_of_dscp = { 26 = 4 }\n");
  EXPECT_EQ(cure_of(*plant, finding_of(*plant, "MAP-5", "switch0-2")), "switches.data_priority=3");
}

TEST(Diagnosis, FindsEcnAboveXoff) {
  const auto plant = plant_of("", with({{"switches.kmin", "\"3MB\""}, {"switches.kmax", "\"3500kB\""}}));
  const FabricFinding* finding = finding_of(*plant, "ECN-1");
  ASSERT_NE(finding, nullptr);
  EXPECT_EQ(finding->severity, diagnose::Severity::critical);
  const auto cured = plant->space().with(plant->space().start(), finding->settings);
  EXPECT_FALSE(search::broken(plant->constraints(), plant->space(), cured));
}

TEST(Diagnosis, FindsEcnOffInTheClass) {
  const auto plant = plant_of("", with({{"switches.marked", "[4]"}}));
  EXPECT_EQ(cure_of(*plant, finding_of(*plant, "ECN-2", "switch0-2")), "switches.marked={3}");
}

TEST(Diagnosis, FindsCnpsInTheLosslessClass) {
  const auto plant = plant_of("", with({{"hosts.cnp_priority", "3"}}));
  EXPECT_EQ(cure_of(*plant, finding_of(*plant, "MAP-7", "switch0-2")), "switches.cnp_priority=6");
  EXPECT_EQ(cure_of(*plant, finding_of(*plant, "MAP-7", "h0-h3")), "hosts.cnp_priority=6");
}

TEST(Diagnosis, FindsHeadroomThatIsTooSmall) {
  const auto plant = plant_of("", with({{"switches.headroom", "\"20kB\""}}));
  const FabricFinding* finding = finding_of(*plant, "PFC-3");
  ASSERT_NE(finding, nullptr);
  EXPECT_THAT(finding->cause, HasSubstr("20000B of headroom"));
  ASSERT_EQ(finding->settings.size(), 1u);
  const auto cured = plant->space().with(plant->space().start(), finding->settings);
  EXPECT_FALSE(search::broken(plant->constraints(), plant->space(), cured));
}

TEST(Diagnosis, RepairsTheHostThatIsWrong) {
  const auto plant = plant_of("[[hosts.own]]\nhosts = [2]\npriority_of_dscp = { 26 = 0 }\n");
  EXPECT_EQ(cure_of(*plant, finding_of(*plant, "MAP-5", "h2")), "h2.priority_of_dscp=as the others: 26=3, 48=6");
}

TEST(Diagnosis, OfAllHostsIsOneFinding) {
  const auto plant = plant_of("", with({{"hosts.mtu", "1024"}}));
  EXPECT_EQ(cure_of(*plant, finding_of(*plant, "MTU-1", "h0-h3")), "hosts.mtu=4096");
}

TEST(Diagnosis, NamesWhoeverIsSetUpOtherwise) {
  const auto plant = plant_of("[[hosts.own]]\nhosts = [1, 2]\nrp_ai_rate = \"1Gbps\"\n");
  EXPECT_EQ(cure_of(*plant, finding_of(*plant, "SAME-1", "h1-h2")), "h1-h2.rp_ai_rate=as the others: 5Mbps");
}

// No setting makes a slow host fast: the verdict says so.
TEST(Diagnosis, KnowsASlowReceiverForHardware) {
  const auto plant = plant_of("[[hosts.own]]\nhosts = [0]\nreceive_rate = \"10Gbps\"\n" + std::string(kMore));
  const FabricFinding* finding = finding_of(*plant, "PFC-6", "h0");
  ASSERT_NE(finding, nullptr);
  EXPECT_TRUE(finding->is_hardware);
  EXPECT_TRUE(finding->settings.empty());
  const auto unrepaired = unrepaired_of(*plant);
  ASSERT_EQ(unrepaired.size(), 1u);
  EXPECT_EQ(unrepaired[0].where, "h0");
  EXPECT_THAT(unrepaired[0].advice, HasSubstr("No setting repairs it"));
}

TEST(Diagnosis, IsTriedFirst) {
  const auto plant = plant_of("[[switches.own]]\nswitches = [1]\npriority_of_dscp = { 26 = 0 }\n");
  ASSERT_FALSE(plant->suggestions().empty());
  EXPECT_EQ(plant->suggestions().front().kind, search::Suggestion::Kind::remedy);
  EXPECT_EQ(plant->suggestions().front().id, "MAP-5 switch1");
  for (const search::Suggestion& suggestion : plant->suggestions()) {
    const auto candidate = plant->space().with(plant->space().start(), suggestion.settings);
    EXPECT_TRUE(plant->space().is_safe(candidate)) << suggestion.id;
    EXPECT_NE(candidate, plant->space().start()) << suggestion.id;
  }
}

}  // namespace
}  // namespace rocetune::fabric_plant
