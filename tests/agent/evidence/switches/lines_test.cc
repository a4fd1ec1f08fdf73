// Lines for a switch are read back as the class map that they were made of.
#include <gtest/gtest.h>

#include "agent/evidence/switches/switch_plan.h"
#include "tests/agent/evidence/switches/texts.h"

namespace rocetune::evidence {
namespace {

SwitchPlan usual_plan() {
  SwitchPlan plan;
  plan.classes = {{"roce", {Dscp(26)}, Priority(3), TrafficClass(3), true, false, 60},
                  {"cnp", {Dscp(48)}, Priority(6), TrafficClass(6), false, true, 0}};
  plan.default_share_percent = 40;
  plan.mark_from = Bytes(150'000);
  plan.mark_all = Bytes(1'500'000);
  plan.mark_percent = 20;
  plan.mtu = Bytes(9214);
  plan.storm_after = milliseconds(200);
  return plan;
}

std::vector<std::string> ports_for(SwitchWriter writer) {
  switch (writer) {
    case SwitchWriter::sonic:
      return {"Ethernet0", "Ethernet4"};
    case SwitchWriter::nvue:
      return {"swp1", "swp2"};
    case SwitchWriter::eos:
      return {"Ethernet1/1", "Ethernet2/1"};
    case SwitchWriter::nxos:
      return {"Ethernet1/1", "Ethernet1/2"};
    case SwitchWriter::junos:
      return {"et-0/0/0", "et-0/0/1"};
  }
  return {};
}

// A queue that does not mark may say so or not; so may a port without PFC.
SwitchSettings comparable(SwitchSettings s) {
  for (auto& [number, queue] : s.queues) {
    if (queue.marks == std::optional(false)) queue.marks.reset();
  }
  if (!s.pfc) s.pfc = PrioritySet();
  return s;
}

void expect_round_trip(SwitchPlan plan, const std::string& what) {
  for (const auto& [writer, name] : EnumNames<SwitchWriter>::names) {
    plan.ports = ports_for(writer);
    const std::string text = lines_of(plan, writer).text;
    const TextReading reading = read_text(text, "lines.txt", switch_formats());
    ASSERT_EQ(reading.documents.size(), 1u) << name << "\n" << text;
    EXPECT_EQ(reading.documents[0].format, "switch-config");
    EXPECT_EQ(reading.report.unread, 0) << name << "\n" << text;
    const auto* read = reading.documents[0].as<SwitchEvidence>();
    ASSERT_NE(read, nullptr);
    EXPECT_EQ(read->model.system, system_of(writer)) << name;
    const SwitchModel wanted = model_of(plan, writer);
    for (const std::string& port : plan.ports) {
      const SwitchSettings a = comparable(read->model.of(port)), b = comparable(wanted.of(port));
      EXPECT_EQ(a.trust, b.trust) << what << " " << name;
      EXPECT_EQ(a.priority_of_dscp, b.priority_of_dscp) << what << " " << name;
      EXPECT_EQ(a.queue_of_priority, b.queue_of_priority) << what << " " << name;
      EXPECT_EQ(a.pfc, b.pfc) << what << " " << name;
      EXPECT_EQ(a.queues, b.queues) << what << " " << name;
      EXPECT_EQ(a.mtu, b.mtu) << what << " " << name;
      EXPECT_EQ(a.watchdog, b.watchdog) << what << " " << name;
      EXPECT_EQ(a, b) << what << " " << name << "\n" << text;
    }
  }
}

TEST(SwitchLines, AreReadBackAsTheyWereMeant) { expect_round_trip(usual_plan(), "usual"); }

TEST(SwitchLines, AClassWithoutPfcThatIsMarked) {
  SwitchPlan plan = usual_plan();
  plan.classes[0].lossless = false;
  plan.classes[0].marks = true;
  plan.storm_after.reset();
  expect_round_trip(plan, "lossy");
  EXPECT_TRUE(model_of(plan, SwitchWriter::eos).common.queues.at(TrafficClass(3)).marks.value_or(false));
  plan.classes[0].lossless = true;
  plan.classes[0].marks = false;
  expect_round_trip(plan, "lossless, not marked");
}

TEST(SwitchLines, TwoLosslessClassesWithQueuesOfOtherNumbers) {
  SwitchPlan plan = usual_plan();
  plan.classes = {{"roce", {Dscp(3), Dscp(26)}, Priority(3), TrafficClass(2), true, false, 30},
                  {"roce-second", {Dscp(4)}, Priority(4), TrafficClass(4), true, false, 30},
                  {"cnp", {Dscp(48)}, Priority(6), TrafficClass(7), false, true, 0}};
  plan.mark_from = Bytes(150'001);  // no whole kilobytes
  expect_round_trip(plan, "two classes");
}

TEST(SwitchLines, LossyAndWithoutTheRest) {
  SwitchPlan plan = usual_plan();
  plan.classes[0].lossless = false;
  plan.mtu.reset();
  plan.storm_after.reset();
  plan.mark_from.reset();
  expect_round_trip(plan, "lossy");
}

TEST(SwitchLines, ByPcp) {
  SwitchPlan plan = usual_plan();
  plan.trust = SwitchTrust::pcp;
  for (PlannedClass& c : plan.classes) c.dscps.clear();
  expect_round_trip(plan, "pcp");
}

TEST(SwitchLines, ProfilesOfAllPortsNeedNoPorts) {
  const std::string text = lines_of(usual_plan(), SwitchWriter::nvue).text;
  EXPECT_EQ(text.find("interface"), std::string::npos);
  EXPECT_EQ(switch_in(text).model.common.pfc, PrioritySet(0x08));
}

}  // namespace
}  // namespace rocetune::evidence
