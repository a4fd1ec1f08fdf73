#include "agent/diagnose/roce_class.h"

#include <gtest/gtest.h>

#include "tests/agent/diagnose/host_builder.h"

namespace rocetune::diagnose {
namespace {

std::optional<RoceClass> infer(Scenario& s) { return class_of(s.port(), s.declared, test_policy().plan); }

// As a driver that lists all 64 DSCPs shows them: the hardware's reset map, unless somebody chose otherwise.
void list_all_dscps(Scenario& s) {
  const std::vector<host::AppEntry> chosen = *s.dcb().app;
  for (int dscp = 0; dscp < 64; ++dscp) s.map(dscp, dscp >> 3);
  for (const host::AppEntry& entry : chosen) s.map(entry.protocol, entry.priority.value());
}

TEST(RoceClass, IsThePriorityWithPfc) {
  Scenario s = healthy();
  s.map(26, 4);
  s.set_pfc(PrioritySet(0x10));
  const auto c = infer(s);
  ASSERT_TRUE(c);
  EXPECT_EQ(c->priority, Priority(4));
  EXPECT_EQ(c->dscp, Dscp(26));
  EXPECT_EQ(c->confidence, Confidence::high);
}

TEST(RoceClass, TakesTheDscpThatSomebodyMapped) {
  Scenario s = healthy();
  s.dcb().app->clear();
  s.map(24, 3);
  s.map(48, 6);
  EXPECT_EQ(infer(s)->dscp, Dscp(24));
}

TEST(RoceClass, SeesThroughAFullTable) {
  Scenario s = healthy();
  list_all_dscps(s);
  EXPECT_EQ(infer(s)->dscp, Dscp(26));
  EXPECT_EQ(alarms(s.report()), std::vector<std::string>{});

  s.map(26, 2);  // chosen against the reset map, although 24 still leads to priority 3
  EXPECT_EQ(infer(s)->dscp, Dscp(26));
  EXPECT_EQ(alarms(s.report()), std::vector<std::string>{"MAP-5"});
}

TEST(RoceClass, WithoutPfcIsThePriorityThatWasSetApart) {
  Scenario s = healthy();
  s.map(26, 2);
  s.set_pfc({});
  const auto c = infer(s);
  ASSERT_TRUE(c);
  EXPECT_EQ(c->priority, Priority(3));
  EXPECT_EQ(c->confidence, Confidence::medium);
}

TEST(RoceClass, DataAndCnpsInOnePriorityAreBothSeen) {
  Scenario s = healthy();
  s.map(48, 3);
  EXPECT_EQ(infer(s)->priority, Priority(3));
  EXPECT_EQ(alarms(s.report()), std::vector<std::string>{"MAP-7"});
}

TEST(RoceClass, AnUntouchedNicShowsNone) {
  Scenario s = healthy();
  s.dcb().app->clear();
  s.dcb().trust = host::Trust::pcp;
  s.set_pfc({});
  s.dcb().buffers->buffer_of_priority.fill(0);
  EXPECT_FALSE(infer(s));
  EXPECT_EQ(alarms(s.report()), (std::vector<std::string>{"MAP-1", "MAP-3"}));
}

TEST(RoceClass, TheOperatorsWordCounts) {
  Scenario s = healthy();
  s.declared = Intent{.dscp = Dscp(34), .priority = Priority(5), .origin = "--dscp and --priority"};
  const auto c = infer(s);
  ASSERT_TRUE(c);
  EXPECT_EQ(c->priority, Priority(5));
  EXPECT_EQ(c->dscp, Dscp(34));
  EXPECT_TRUE(c->declared);
}

TEST(Intent, TwoLosslessPrioritiesPassWhereAProfileDeclaresThem) {
  Scenario s = healthy();
  s.dcb().app->clear();
  s.map(3, 3);
  s.map(4, 4);
  s.map(48, 6);
  s.set_pfc(PrioritySet(0x18));
  s.declared.origin = "profile sonic";
  s.declared.lossless = PrioritySet(0x18);
  s.dcb().buffers->buffer_of_priority[4] = 1;
  s.rdma().cm_default_tos = TosByte(Dscp(3), Ecn::ect0);
  s.only_ports = {"eth0"};
  EXPECT_EQ(alarms(s.report()), std::vector<std::string>{});
  s.set_pfc(PrioritySet(0x08));
  EXPECT_EQ(alarms(s.report()), std::vector<std::string>{"MAP-3"});
}

TEST(Intent, LossyOperationIsNotNaggedAbout) {
  Scenario s = healthy();
  s.declared.lossy = true;
  s.declared.origin = "--lossy";
  for (std::size_t i = 0; i < 2; ++i) s.port(i).dcb.pfc->enabled = PrioritySet();
  s.count("out_of_sequence", 400);
  EXPECT_EQ(alarms(s.report()), std::vector<std::string>{});
}

TEST(Intent, AdaptiveRetransmissionShowsLossyOperation) {
  Scenario s = healthy();
  s.set_pfc({});
  s.count("adaptive_retransmissions", 5);
  EXPECT_EQ(alarms(s.report()), std::vector<std::string>{});
}

TEST(Intent, PfcInDeclaredLossyOperationIsAFinding) {
  Scenario s = healthy();
  s.declared.lossy = true;
  s.declared.origin = "--lossy";
  EXPECT_EQ(alarms(s.report()), std::vector<std::string>{"MAP-3"});
}

TEST(Intent, PcpIsLegalWhereItIsDeclared) {
  Scenario s = healthy();
  s.declared.trust = host::Trust::pcp;
  s.declared.origin = "profile pcp";
  for (std::size_t i = 0; i < 2; ++i) {
    s.port(i).dcb.trust = host::Trust::pcp;
    s.port(i).dcb.app->clear();
  }
  EXPECT_EQ(alarms(s.report()), std::vector<std::string>{});
}

TEST(Intent, PcpOnAVlanIsWorthKnowingOnly) {
  Scenario s = healthy();
  s.dcb().trust = host::Trust::pcp;
  s.dcb().app->clear();
  s.port().uppers = {"eth0.100"};
  for (host::Gid& gid : s.rdma().gids) gid.netdev = "eth0.100";
  EXPECT_EQ(alarms(s.report()), std::vector<std::string>{});
}

}  // namespace
}  // namespace rocetune::diagnose
