#include "agent/diagnose/engine.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/agent/diagnose/host_builder.h"

namespace rocetune::diagnose {
namespace {

int count_passed(const Report& report, const std::string& subject) {
  int out = 0;
  for (const Passed& p : report.passed) out += p.subject == subject;
  return out;
}

std::string reason_of(const Report& report, const std::string& rule, const std::string& subject) {
  for (const NotChecked& n : report.not_checked) {
    if (n.rule == rule && n.subject == subject) return n.reason;
  }
  return "(checked)";
}

TEST(Engine, EveryRuleGivesOneOutcomePerSubject) {
  Scenario s = healthy();
  s.map(26, 2);
  const Report report = s.report();
  for (const Rule* rule : all_rules()) {
    if (rule->scope() == Scope::capture || rule->scope() == Scope::dossier) continue;  // there is none
    const std::vector<std::string> subjects = rule->scope() == Scope::host
                                                  ? std::vector<std::string>{"host"}
                                                  : std::vector<std::string>{"eth0", "eth1"};
    for (const std::string& subject : subjects) {
      int outcomes = 0;
      bool found = false;
      for (const Finding& f : report.findings) found |= f.rule == rule->id && f.subject.starts_with(subject);
      for (const Passed& p : report.passed) outcomes += p.rule == rule->id && p.subject == subject;
      for (const NotChecked& n : report.not_checked) outcomes += n.rule == rule->id && n.subject == subject;
      EXPECT_EQ(outcomes + found, 1) << rule->id << " on " << subject;
    }
  }
}

TEST(Engine, AFirmwareAgentThatMakesTheDriverRefuseIsToldByItsCommand) {
  Scenario s = healthy();
  s.port().nic = "irdma";
  s.dcb().dcbx = host::DcbxMode{.host = false, .lld_managed = true, .ieee = true};
  const Report report = s.report();
  const auto found = std::find_if(report.findings.begin(), report.findings.end(),
                                  [](const Finding& f) { return f.rule == "PFC-2" && f.subject == "eth0"; });
  ASSERT_NE(found, report.findings.end());
  EXPECT_TRUE(found->fix.text.starts_with("ethtool --set-priv-flags eth0 fw-lldp-agent off"))
      << found->fix.text;
  EXPECT_TRUE(found->fix.changes.empty());  // a write that the driver would refuse
}

TEST(Engine, TheClassOfABondIsItsMembers) {
  Scenario s = healthy();
  host::Port bond = s.port();
  bond.name = "bond0";
  bond.role = host::PortRole::bond;
  bond.dcb = {};
  s.host.ports.push_back(bond);
  const Report report = s.report();
  EXPECT_EQ(std::count(report.classes.begin(), report.classes.end(), "bond0: see its members"), 1);
}

TEST(Engine, AnUnknownNicNeverPasses) {
  Scenario s = healthy();
  s.port().nic = "unknown";
  s.port().driver = "acme_nic";
  const Report report = s.report();
  EXPECT_EQ(alarms(report), std::vector<std::string>{});
  int passed = 0;
  for (const Passed& p : report.passed) {
    // Two rules say what the port is, not that it is well.
    if (p.subject == "eth0") ++passed;
  }
  EXPECT_EQ(passed, 0);
  EXPECT_NE(reason_of(report, "PFC-3", "eth0").find("acme_nic"), std::string::npos);
  EXPECT_NE(reason_of(report, "MTU-1", "eth0").find("no pass on it"), std::string::npos);
  EXPECT_GT(count_passed(report, "eth1"), 20);
}

TEST(Engine, AnUnknownNicStillShowsWhatTheKernelDefines) {
  Scenario s = healthy();
  s.port().nic = "unknown";
  s.port().mtu = Bytes(1500);
  EXPECT_EQ(alarms(s.report()), std::vector<std::string>{"MTU-1"});
}

TEST(Engine, InfiniBandWithholdsEthernetAdvice) {
  Scenario s = healthy();
  s.rdma().link_layer = host::LinkLayer::infiniband;
  s.map(26, 2);
  s.port().mtu = Bytes(2044);
  s.port().pause = host::GlobalPause{false, true, true};
  for (host::Gid& gid : s.rdma().gids) gid.type = host::GidType::ib;
  const Report report = s.report();
  EXPECT_EQ(alarms(report), std::vector<std::string>{});
  EXPECT_NE(reason_of(report, "MAP-5", "eth0").find("NET-3"), std::string::npos);
}

TEST(Engine, AVirtualFunctionIsSentToItsOwner) {
  Scenario s = healthy();
  s.port().role = host::PortRole::virtual_function;
  s.port().physical_function = "eth9";
  s.dcb() = host::Dcb{};
  const Report report = s.report();
  EXPECT_EQ(alarms(report), std::vector<std::string>{});
  EXPECT_NE(reason_of(report, "PFC-1", "eth0").find("eth9"), std::string::npos);
}

TEST(Engine, PortsWithoutRdmaAreSkippedUnlessAskedFor) {
  Scenario s = healthy();
  s.port().rdma = absent("no RDMA device on this netdev");
  const Report report = s.report();
  ASSERT_EQ(report.skipped.size(), 1u);
  EXPECT_EQ(report.skipped[0].subject, "eth0");
  EXPECT_EQ(reason_of(report, "GID-1", "eth0"), "(checked)");

  s.only_ports = {"eth0"};
  const Report asked = s.report();
  ASSERT_EQ(asked.skipped.size(), 1u);
  EXPECT_EQ(asked.skipped[0].subject, "eth1");
  EXPECT_NE(reason_of(asked, "GID-1", "eth0").find("no RDMA device"), std::string::npos);
  EXPECT_EQ(alarms(asked), std::vector<std::string>{});
}

TEST(Engine, AMemberOfARoceBondIsJudged) {
  Scenario s = healthy();
  s.port(0).bond = s.port(1).bond = "bond0";
  s.port(0).rdma = absent("no RDMA device on this netdev");
  s.set_pfc({});
  EXPECT_TRUE(s.report().skipped.empty());
  EXPECT_EQ(alarms(s.report()), std::vector<std::string>{"MAP-3"});
}

TEST(Engine, AnIdlePortGetsNoVerdictFromItsCounters) {
  Scenario s = healthy();
  s.make_idle();
  const Report report = s.report();
  EXPECT_EQ(alarms(report), std::vector<std::string>{});
  for (const char* rule :
       {"PFC-5", "PFC-6", "PFC-7", "ECN-3", "MAP-6", "LOSS-1", "LOSS-2", "LOSS-4", "LINK-1"}) {
    EXPECT_NE(reason_of(report, rule, "eth0").find("idle"), std::string::npos) << rule;
  }
}

TEST(Engine, WithoutCountersNoRuleThatNeedsThemSpeaks) {
  Scenario s = healthy();
  s.sampled = false;
  const Report report = s.report();
  for (const Rule* rule : all_rules()) {
    if (rule->scope() != Scope::traffic) continue;
    EXPECT_EQ(reason_of(report, std::string(rule->id), "eth0"), "no counters were sampled") << rule->id;
  }
}

TEST(Engine, TheWorstComesFirstAndTheFirstStepNamesIt) {
  Scenario s = healthy();
  s.port().pfc_prevention_ms = std::uint16_t{0};
  s.host.boot_unit_installed = false;
  s.map(26, 2);
  const Report report = s.report();
  ASSERT_EQ(report.findings.size(), 3u);
  EXPECT_EQ(report.findings[0].rule, "MAP-5");
  EXPECT_EQ(report.findings[1].rule, "PFC-4");
  EXPECT_EQ(report.findings[2].rule, "OPS-1");
  EXPECT_EQ(report.first_step(), "MAP-5 on eth0: Map DSCP 26 to priority 3.");
  EXPECT_TRUE(report.has_finding_at_least(Severity::critical));
}

TEST(Engine, NothingJudgedIsNotAllWell) {
  Scenario s = healthy();
  s.host.ports.clear();
  s.host.hypervisor = not_read();
  s.host.boot_unit_installed = not_read();
  s.host.gpus = not_read();
  const Report report = s.report();
  EXPECT_TRUE(report.passed.empty());
  EXPECT_NE(report.first_step().find("nothing could be judged"), std::string::npos);
}

using EngineDeathTest = testing::Test;

TEST(EngineDeathTest, AVerdictWithoutEvidenceCannotBeMade) {
  EXPECT_DEATH((void)Outcome::passed({}), "evidence");
  EXPECT_DEATH((void)Outcome::not_checked(""), "reason");
  EXPECT_DEATH((void)Outcome::found(std::vector<Finding>{}), "findings");
  Finding without_evidence;
  without_evidence.cause = "because";
  without_evidence.fix.text = "do";
  EXPECT_DEATH((void)Outcome::found(without_evidence), "evidence");
}

}  // namespace
}  // namespace rocetune::diagnose
