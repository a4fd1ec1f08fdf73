// What configurations of switches are read as: one model for all makers.
#include <gtest/gtest.h>

#include "tests/agent/evidence/switches/texts.h"

namespace rocetune::evidence {
namespace {

SwitchModel model(const std::string& name) { return switch_fixture("switch-config/" + name).model; }

// DSCP 26 in lossless priority 3 and CNPs in 6, in whatever words.
void expect_usual_class(const SwitchModel& m, const std::string& port) {
  const SwitchSettings s = m.of(port);
  EXPECT_EQ(s.trust, SwitchTrust::dscp);
  EXPECT_EQ(s.priority_of_dscp.at(Dscp(26)), Priority(3));
  EXPECT_EQ(s.priority_of_dscp.at(Dscp(48)), Priority(6));
  EXPECT_EQ(s.pfc, PrioritySet(0x08));
}

TEST(SonicConfig, TablesAreFollowedToPorts) {
  const SwitchModel m = model("sonic.config_db.json");
  EXPECT_EQ(m.system, SwitchSystem::sonic);
  EXPECT_EQ(m.name, "leaf1");
  for (const char* port : {"Ethernet0", "Ethernet4"}) {
    const SwitchSettings s = m.of(port);
    EXPECT_EQ(s.trust, SwitchTrust::dscp);
    EXPECT_EQ(s.priority_of_dscp.at(Dscp(26)), Priority(1)) << "the stock map";
    EXPECT_EQ(s.pfc, PrioritySet(0x18));
    EXPECT_EQ(s.queues.at(TrafficClass(3)).mark_from, Bytes(1048576));
    EXPECT_EQ(s.queues.at(TrafficClass(3)).mark_percent, 5);
    EXPECT_EQ(s.buffers.at(Priority(3)).headroom, Bytes(18432));
    EXPECT_EQ(s.buffers.at(Priority(3)).pool, Bytes(33004032));
  }
  EXPECT_EQ(m.of("Ethernet0").queues.at(TrafficClass(3)).share_percent, 34) << "15 of 44";
  EXPECT_EQ(m.of("Ethernet0").queues.at(TrafficClass(0)).marks, false) << "its row names no profile";
  EXPECT_EQ(m.of("Ethernet4").cable, Metres(300));
  EXPECT_EQ(m.of("Ethernet0").watchdog->detection, milliseconds(200));
  EXPECT_FALSE(m.of("Ethernet4").watchdog);
}

TEST(SonicConfig, TablesCutOutOfTheFileAreReadAsFarAsTheyGo) {
  const SwitchModel m = model("sonic.parts.txt");
  EXPECT_EQ(m.of("Ethernet0").priority_of_dscp.at(Dscp(26)), Priority(3));
  EXPECT_EQ(m.of("Ethernet0").pfc, PrioritySet(0x08));
}

TEST(SonicConfig, AMapThatNoPortNamesIsForAll) {
  const SwitchModel m =
      switch_in(R"({"DSCP_TO_TC_MAP": {"AZURE": {"26": "3", "99": "1", "5": "9", "x": "1"}}})").model;
  EXPECT_EQ(m.common.priority_of_dscp.at(Dscp(26)), Priority(3));
  EXPECT_EQ(m.common.priority_of_dscp.size(), 1u) << "what is out of range is not there";
}

TEST(SonicConfig, ShowPfcPriority) {
  const SwitchModel m = model("sonic.show-pfc-priority.txt");
  EXPECT_EQ(m.ports.at("Ethernet0").pfc, PrioritySet(0x18));
  EXPECT_EQ(m.ports.at("Ethernet4").pfc, PrioritySet());
  const SwitchModel wred = switch_in(
                               "Profile: AZURE_LOSSLESS\n-----------------------  -------\n"
                               "ecn                      ecn_all\ngreen_max_threshold      2097152\n"
                               "green_min_threshold      1048576\n-----------------------  -------\n")
                               .model;
  EXPECT_EQ(wred.common.queues.at(TrafficClass(3)).mark_from, Bytes(1048576));
}

TEST(NvueConfig, ProfilesCountWhereTheyAreBound) {
  const SwitchModel m = model("nvue.txt");
  EXPECT_EQ(m.name, "leaf1");
  expect_usual_class(m, "swp1");
  EXPECT_EQ(m.of("swp2").mtu, Bytes(9216));
  EXPECT_EQ(m.of("swp3").pfc, PrioritySet(0x20)) << "a profile of its own";
  EXPECT_EQ(m.of("swp1").watchdog->detection, milliseconds(150)) << "50 ms, three times";
  EXPECT_FALSE(m.of("swp2").watchdog);
  EXPECT_EQ(m.common.queues.at(TrafficClass(3)).share_percent, 60);
  EXPECT_TRUE(m.common.queues.at(TrafficClass(6)).strict.value());
  EXPECT_EQ(m.line_of("dscp 26"), 3);
}

TEST(NvueConfig, OneWordStandsForTheDefaults) {
  const SwitchModel m = model("nvue-roce.txt");
  EXPECT_EQ(m.common.priority_of_dscp.at(Dscp(26)), Priority(3));
  EXPECT_EQ(m.common.pfc, PrioritySet(0x08));
  EXPECT_EQ(m.common.queues.at(TrafficClass(3)).mark_from, Bytes(150'000));
  EXPECT_EQ(switch_in("nv set qos roce mode lossy\n").model.common.pfc, PrioritySet());
  EXPECT_EQ(
      switch_in("nv set qos pfc default-global switch-priority 3\nnv set qos pfc default-global tx disable\n")
          .model.common.pfc,
      PrioritySet())
      << "one direction alone is no PFC";
}

TEST(EosConfig, ProfilesGoToTheirInterfaces) {
  const SwitchModel m = model("eos.txt");
  EXPECT_EQ(m.system, SwitchSystem::eos);
  EXPECT_EQ(m.name, "leaf1");
  expect_usual_class(m, "Ethernet1/1");
  expect_usual_class(m, "Ethernet1/2");
  EXPECT_EQ(m.of("Ethernet1/2").mtu, Bytes(9214));
  EXPECT_EQ(m.of("Ethernet3").pfc, PrioritySet()) << "no priority-flow-control";
  const SwitchQueue& queue = m.of("Ethernet1/1").queues.at(TrafficClass(3));
  EXPECT_EQ(queue.share_percent, 60);
  EXPECT_EQ(queue.mark_from, Bytes(150'000));
  EXPECT_EQ(queue.mark_percent, 20);
  EXPECT_EQ(m.common.watchdog->detection, milliseconds(200));
  EXPECT_EQ(m.common.watchdog->action, "drop");
}

TEST(EosConfig, LostIndentationDoesNoHarm) {
  const SwitchModel m = model("eos-policy-flat.txt");
  EXPECT_EQ(m.of("Ethernet1").priority_of_dscp.at(Dscp(24)), Priority(3));
  EXPECT_EQ(m.of("Ethernet1").pfc, PrioritySet(0x08));
  EXPECT_EQ(m.of("Ethernet1").queues.at(TrafficClass(3)).mark_all, Bytes(3'000'000));
  EXPECT_TRUE(m.of("Ethernet1").queues.at(TrafficClass(5)).strict.value());
}

TEST(EosConfig, PrioritiesWithoutOnCountOnlyInAFragment) {
  EXPECT_EQ(switch_in("interface Ethernet1\n   priority-flow-control priority 3 no-drop\n")
                .model.of("Ethernet1")
                .pfc,
            PrioritySet(0x08));
  EXPECT_EQ(
      switch_in(
          "interface Ethernet1\n   priority-flow-control priority 3 no-drop\n"
          "interface Ethernet2\n   priority-flow-control on\n   priority-flow-control priority 3 no-drop\n")
          .model.of("Ethernet1")
          .pfc,
      PrioritySet());
}

TEST(NxosConfig, GroupsLeadFromDscpToPfc) {
  const SwitchModel m = model("nxos.txt");
  EXPECT_EQ(m.system, SwitchSystem::nxos);
  const SwitchSettings s = m.of("Ethernet1/1");
  EXPECT_EQ(s.trust, SwitchTrust::dscp);
  EXPECT_EQ(s.priority_of_dscp.at(Dscp(26)), Priority(3));
  EXPECT_EQ(s.priority_of_dscp.at(Dscp(48)), Priority(7)) << "the CNP group";
  EXPECT_EQ(s.pfc, PrioritySet(0x08));
  EXPECT_EQ(s.queues.at(TrafficClass(3)).share_percent, 50);
  EXPECT_TRUE(s.queues.at(TrafficClass(3)).marks.value());
  EXPECT_TRUE(s.queues.at(TrafficClass(7)).strict.value());
  EXPECT_EQ(m.of("Ethernet1/2").pfc, PrioritySet());
  EXPECT_FALSE(m.of("Ethernet1/3").pfc) << "auto: DCBX decides";
  EXPECT_EQ(s.watchdog->detection, milliseconds(100));
}

TEST(NxosConfig, ASessionWithPromptsAndAGroupThatMissesTheLosslessOne) {
  const SwitchModel m = model("nxos-session.txt");
  EXPECT_EQ(m.common.priority_of_dscp.at(Dscp(26)), Priority(3)) << "AF31";
  EXPECT_EQ(m.common.pfc, PrioritySet(0x10));
}

TEST(JunosConfig, SetLinesAndBraces) {
  const SwitchModel m = model("junos-set.txt");
  expect_usual_class(m, "et-0/0/0");
  EXPECT_EQ(m.common.queue_of_priority.at(Priority(3)), TrafficClass(4));
  const SwitchSettings s = m.of("et-0/0/0");
  EXPECT_EQ(s.queues.at(TrafficClass(4)).share_percent, 60);
  EXPECT_TRUE(s.queues.at(TrafficClass(4)).marks.value());
  EXPECT_TRUE(s.queues.at(TrafficClass(6)).strict.value());
  EXPECT_EQ(s.mtu, Bytes(9216));
  const SwitchModel braces = model("junos-braces.txt");
  EXPECT_EQ(braces.common.pfc, PrioritySet(0x08));
  EXPECT_EQ(braces.common.priority_of_dscp.at(Dscp(27)), Priority(3));
  EXPECT_EQ(braces.common.priority_of_dscp.at(Dscp(48)), Priority(3)) << "queue 3, by its number";
  EXPECT_TRUE(braces.common.watchdog.has_value());
}

TEST(RouterosConfig, ProfilesAndPorts) {
  const SwitchModel m = model("routeros.txt");
  expect_usual_class(m, "qsfp28-1-1");
  EXPECT_EQ(m.of("qsfp28-1-2").trust, SwitchTrust::none);
  EXPECT_TRUE(m.common.queues.at(TrafficClass(3)).marks.value()) << "behind a line that goes on";
  EXPECT_TRUE(m.common.queues.at(TrafficClass(6)).strict.value());
  const SwitchModel inline_form =
      switch_in(
          "/interface ethernet switch qos profile add name=roce dscp=26 traffic-class=3\n"
          "/interface ethernet switch qos tx-manager queue set [find where tx-manager=default and "
          "traffic-class=3] schedule=high-priority-group ecn=yes\n")
          .model;
  EXPECT_EQ(inline_form.common.priority_of_dscp.at(Dscp(26)), Priority(3));
  EXPECT_TRUE(inline_form.common.queues.at(TrafficClass(3)).marks.value());
}

}  // namespace
}  // namespace rocetune::evidence
