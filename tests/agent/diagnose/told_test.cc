// Rules over texts pass, find and abstain on their fixtures.
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/agent/diagnose/told_fixtures.h"

namespace rocetune::diagnose {
namespace {

// A row over texts says its subject without a port in front: of those of the rows about hosts only findings
// with the wanted words count.
TEST(RulesOverTexts, EveryFixtureHasItsOutcome) {
  for (const TextFixture& fixture : told_fixtures()) {
    const Report report = report_of_texts(fixture.texts);
    const std::string where =
        fmt::format("{} on {}: {}", fixture.rule, fixture.texts.front().name, fixture.says);
    std::string text;
    bool found = false, right_severity = false, passed = false, not_checked = false;
    for (const Finding& f : report.findings) {
      if (f.rule != fixture.rule) continue;
      text += fmt::format("found {} {}: {}\n", enum_name(f.severity), f.subject, f.cause);
      if (f.cause.find(fixture.says) == std::string::npos) continue;
      found = true;
      right_severity |= f.severity == fixture.severity;
    }
    for (const Passed& p : report.passed) passed |= p.rule == fixture.rule && p.subject == "inputs";
    for (const NotChecked& n : report.not_checked) {
      if (n.rule != fixture.rule || n.subject != "inputs") continue;
      text += "not checked: " + n.reason + "\n";
      not_checked |= n.reason.find(fixture.says) != std::string::npos;
    }
    EXPECT_EQ(found, fixture.kind == Kind::found) << where << "\n" << text;
    if (fixture.kind == Kind::found) EXPECT_TRUE(right_severity) << where << "\n" << text;
    if (fixture.kind == Kind::passed) EXPECT_TRUE(passed) << where << "\n" << text;
    if (fixture.kind == Kind::not_checked) EXPECT_TRUE(not_checked) << where << "\n" << text;
  }
}

TEST(RulesOverTexts, EvidenceSaysFileAndLine) {
  const Report report = report_of_texts({{"e.before.txt", "rx_prio0_packets: 1\nrx_discards_phy: 0\n"},
                                         {"e.after.txt", "rx_prio0_packets: 9\nrx_discards_phy: 700\n"}});
  const auto finding = std::find_if(report.findings.begin(), report.findings.end(),
                                    [](const Finding& f) { return f.rule == "LOSS-4"; });
  ASSERT_NE(finding, report.findings.end());
  EXPECT_EQ(finding->evidence.at(0).name, "rx_discards_phy");
  EXPECT_EQ(finding->evidence.at(0).value, "700");
  EXPECT_EQ(finding->evidence.at(0).source, "e.after.txt:2, since e.before.txt");
}

// What one dump has counted since boot is nothing beside its rise.
TEST(RulesOverTexts, ATotalOfAPairIsNotJudgedAgain) {
  const std::string pause = "tx_global_pause: 500000\nrx_discards_phy: 0\n";
  const Report report =
      report_of_texts({{"e.before.txt", pause}, {"e.after60s.txt", pause}, {"e.txt", pause}});
  for (const Finding& f : report.findings) EXPECT_NE(f.rule, "PFC-6") << f.cause;
}

TEST(RulesOverTexts, NothingAboveInfoOnWhatIsHealthy) {
  const Report report =
      report_of_texts({text_fixture("bonding/lacp-up.txt"), text_fixture("ethtool-pause/off.txt"),
                       text_fixture("ethtool-stats/virtio.txt"), text_fixture("rdma-link/now.txt"),
                       text_fixture("lsmod/whole.txt"), text_fixture("ethtool-features/some.txt"),
                       text_fixture("qp-attributes/struct.txt"), text_fixture("meminfo/some.txt")});
  EXPECT_EQ(alarms(report), std::vector<std::string>{});
}

// A counter that appears, falls or is not a number any more gives no increase.
TEST(RulesOverTexts, AResetIsNoRise) {
  const Report report = report_of_texts(
      {{"e.before.txt", "rx_discards_phy: 900000\n"}, {"e.after.txt", "rx_discards_phy: 40\n"}});
  for (const Finding& f : report.findings) EXPECT_NE(f.rule, "LOSS-4") << f.cause;
}

TEST(RulesOverTexts, HostsAreToldHowToAgree) {
  const Report report = report_of_texts({{"hostA.dcb.txt",
                                          "$ dcb pfc show dev e0\nprio-pfc 0:off 1:off 2:off 3:on 4:off "
                                          "5:off 6:off 7:off\n$ dcb app show dev e0\ndscp-prio 26:3\n"},
                                         {"hostB.dcb.txt",
                                          "$ dcb pfc show dev e1\nprio-pfc 0:off 1:off 2:off 3:off 4:on "
                                          "5:off 6:off 7:off\n$ dcb app show dev e1\n"}});
  std::vector<std::string> commands;
  for (const Finding& f : report.findings) {
    if (f.rule == "MAP-3") commands.insert(commands.end(), f.fix.commands.begin(), f.fix.commands.end());
  }
  EXPECT_EQ(commands, (std::vector<std::string>{"dcb pfc set dev e1 prio-pfc all:off 3:on  # on hostB",
                                                "dcb app replace dev e1 dscp-prio 26:3 48:6  # on hostB"}));
}

}  // namespace
}  // namespace rocetune::diagnose
