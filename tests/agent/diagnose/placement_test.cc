// HOST-2: what the finding says, of which GPU, and which ports count.
#include <gtest/gtest.h>

#include "tests/agent/diagnose/host_builder.h"

namespace rocetune::diagnose {
namespace {

constexpr const char* kNear = "0000:05:00.0";  // healthy()'s GPU, on eth0's switch
constexpr const char* kFar = "0000:85:00.0";

void add_gpu_across_sockets(Scenario& s) {
  s.host.gpus->push_back({kFar, "GPU", 1});
  for (const char* port : {"eth0", "eth1"})
    s.host.affinity->push_back({port, kFar, host::PciDistance::cross_numa});
}

std::vector<Finding> findings_of(const Report& report) {
  std::vector<Finding> out;
  for (const Finding& finding : report.findings) {
    if (finding.rule == "HOST-2") out.push_back(finding);
  }
  return out;
}

TEST(Placement, AGpuAcrossSocketsIsNamedWithItsNearestPortAndTheOtherIsNot) {
  Scenario s = healthy();
  add_gpu_across_sockets(s);
  const auto found = findings_of(s.report());
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].severity, Severity::info);
  EXPECT_EQ(found[0].subject, std::string("host ") + kFar);
  EXPECT_EQ(
      found[0].cause,
      "The nearest RoCE port of GPU 0000:85:00.0 is on another NUMA node: its traffic crosses sockets.");
  ASSERT_EQ(found[0].evidence.size(), 1u);
  EXPECT_EQ(found[0].evidence[0].name, "nearest RoCE port of GPU 0000:85:00.0");
  EXPECT_EQ(found[0].evidence[0].value, "eth0 (cross_numa)");
}

TEST(Placement, OneNearPortIsEnough) {
  Scenario s = healthy();
  add_gpu_across_sockets(s);
  s.host.affinity->back().distance = host::PciDistance::same_numa;
  EXPECT_TRUE(findings_of(s.report()).empty());
}

// A NIC next to the GPU that carries no RoCE is no help to it.
TEST(Placement, APortThatIsNotJudgedIsNoNearPort) {
  Scenario s = healthy();
  add_gpu_across_sockets(s);
  s.host.affinity->push_back({"eth9", kFar, host::PciDistance::same_switch});
  EXPECT_EQ(findings_of(s.report()).size(), 1u);
}

TEST(Placement, AGpuWithoutADistanceIsNoFinding) {
  Scenario s = healthy();
  s.host.gpus->push_back({kFar, "GPU", 1});
  EXPECT_TRUE(findings_of(s.report()).empty());
  s.host.affinity->clear();
  bool said = false;
  for (const NotChecked& n : s.report().not_checked) {
    said |= n.rule == "HOST-2" && n.reason == "no distance between a GPU and a RoCE port is known";
  }
  EXPECT_TRUE(said);
}

}  // namespace
}  // namespace rocetune::diagnose
