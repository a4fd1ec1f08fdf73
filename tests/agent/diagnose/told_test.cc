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
