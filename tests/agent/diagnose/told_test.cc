// Rules over pasted counters: where evidence stands, what a pair says, what hosts are told.
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/agent/diagnose/host_builder.h"
#include "tests/agent/diagnose/text_fixtures.h"

namespace rocetune::diagnose {
namespace {

TEST(RulesOverTexts, EvidenceSaysFileAndLine) {
  const Report report = report_of({{"e.before.txt", "rx_prio0_packets: 1\nrx_discards_phy: 0\n"},
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
  const Report report = report_of({{"e.before.txt", pause}, {"e.after60s.txt", pause}, {"e.txt", pause}});
  for (const Finding& f : report.findings) EXPECT_NE(f.rule, "PFC-6") << f.cause;
}

TEST(RulesOverTexts, NothingAboveInfoOnWhatIsHealthy) {
  const Report report = report_of({from_texts("bonding/lacp-up.txt"), from_texts("ethtool-pause/off.txt"),
                                   from_texts("ethtool-stats/virtio.txt"), from_texts("rdma-link/now.txt"),
                                   from_texts("lsmod/grep.txt"), from_texts("ethtool-features/some.txt"),
                                   from_texts("qp-attributes/struct.txt"), from_texts("meminfo/some.txt")});
  EXPECT_EQ(alarms(report), std::vector<std::string>{});
}

// A counter that appears, falls or is not a number any more gives no increase.
TEST(RulesOverTexts, AResetIsNoRise) {
  const Report report =
      report_of({{"e.before.txt", "rx_discards_phy: 900000\n"}, {"e.after.txt", "rx_discards_phy: 40\n"}});
  for (const Finding& f : report.findings) EXPECT_NE(f.rule, "LOSS-4") << f.cause;
}

TEST(RulesOverTexts, HostsAreToldHowToAgree) {
  const Report report = report_of({{"hostA.dcb.txt",
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

TEST(RulesOverTexts, WhatIsWrongInEveryStateOfAHostIsSaidOnce) {
  const auto pause = [](const char* name, const char* tx) {
    return TextFile{
        name, std::string("Pause parameters for ens1:\nAutonegotiate:\toff\nRX:\t\ton\nTX:\t\t") + tx + "\n"};
  };
  const auto link = [](const char* name, int mtu) {
    return TextFile{name,
                    "3: ens1: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu " + std::to_string(mtu) + " qdisc mq\n"};
  };
  const auto count = [](const Report& report, std::string_view rule) {
    return std::count_if(report.findings.begin(), report.findings.end(),
                         [&](const Finding& finding) { return finding.rule == rule; });
  };
  const Report alike = report_of({link("ip.n7.before.txt", 1500), link("ip.n7.after.txt", 1500),
                                  pause("pause.n7.before.txt", "on"), pause("pause.n7.after.txt", "off")});
  EXPECT_EQ(count(alike, "MTU-1"), 1);
  for (const Finding& finding : alike.findings) {
    if (finding.rule == "MTU-1") {
      EXPECT_EQ(finding.subject, "n7 ens1");
    }
  }
  const Report mended = report_of({link("ip.n7.before.txt", 1500), link("ip.n7.after.txt", 9000)});
  ASSERT_EQ(count(mended, "MTU-1"), 1);
  EXPECT_NE(mended.findings.front().subject.find("(before)"), std::string::npos);
}

TEST(RulesOverTexts, TwoDumpsInOneFileAreAPair) {
  const std::string first = "rx_discards_phy: 10\nrx_out_of_buffer: 0\n";
  const std::string second = "rx_discards_phy: 5010\nrx_out_of_buffer: 0\n";
  const Report report = report_of({{"both.txt", first + second}});
  const auto finding = std::find_if(report.findings.begin(), report.findings.end(),
                                    [](const Finding& f) { return f.rule == "LOSS-4"; });
  ASSERT_NE(finding, report.findings.end());
  EXPECT_EQ(finding->severity, Severity::critical);
  EXPECT_EQ(finding->evidence.at(0).value, "5000");
  EXPECT_EQ(finding->evidence.at(0).source, "both.txt:3, since both.txt:1");
  // A second that is smaller is of another machine: both are totals.
  for (const Finding& f : report_of({{"both.txt", second + first}}).findings) {
    EXPECT_NE(f.severity, Severity::critical) << f.cause;
  }
}

}  // namespace
}  // namespace rocetune::diagnose
