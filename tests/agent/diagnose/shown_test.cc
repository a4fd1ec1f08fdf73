// Rules over texts of RDMA tools, PCIe, kernel, links and firmware: how bad it is, and what is named.
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/agent/diagnose/shown_cases.h"

namespace rocetune::diagnose {
namespace {

// Cause, evidence and fix of a rule's findings.
std::string words_of(const Report& report, std::string_view rule) {
  std::string out;
  for (const Finding& finding : report.findings) {
    if (finding.rule != rule) continue;
    out += finding.subject + ": " + finding.cause + " " + finding.fix.text + "\n";
    for (const Evidence& e : finding.evidence)
      out += "  " + e.name + " = " + e.value + " (" + e.source + ")\n";
  }
  return out;
}

// Nothing if the rule found nothing.
std::optional<ShownAs> worst_of(const Report& report, std::string_view rule) {
  std::optional<Severity> worst;
  for (const Finding& finding : report.findings) {
    if (finding.rule == rule) worst = std::max(worst.value_or(finding.severity), finding.severity);
  }
  if (!worst) return std::nullopt;
  return *worst == Severity::critical  ? ShownAs::critical
         : *worst == Severity::warning ? ShownAs::warning
                                       : ShownAs::info;
}

bool has_passed(const Report& report, std::string_view rule) {
  return std::any_of(report.passed.begin(), report.passed.end(),
                     [&](const Passed& p) { return p.rule == rule; });
}

void expect_outcomes(const std::vector<ShownCase>& cases) {
  for (const ShownCase& shown : cases) {
    const Report report = report_of(files_of(shown));
    const bool is_finding = shown.as != ShownAs::passed && shown.as != ShownAs::not_checked;
    const std::string said = words_of(report, shown.rule);
    const std::string where = std::string(shown.rule) + ", " + shown.what + "\n" + said;
    EXPECT_EQ(worst_of(report, shown.rule), is_finding ? std::optional(shown.as) : std::nullopt) << where;
    EXPECT_NE(said.find(shown.names), std::string::npos) << where << "lacks " << shown.names;
  }
}

TEST(Shown, Gids) { expect_outcomes(shown_gid_cases()); }
TEST(Shown, BothEndsAndFirmware) { expect_outcomes(shown_end_cases()); }
TEST(Shown, Machine) { expect_outcomes(shown_machine_cases()); }
TEST(Shown, LinksAndDevices) { expect_outcomes(shown_link_cases()); }

TEST(Shown, PassesWhereTheTextsAreGood) {
  const Report report =
      report_of({from_texts("ibv-devinfo/verbose.txt", "d.nodeA.txt"),
                 from_texts("ibv-devinfo/verbose.txt", "d.nodeB.txt"),
                 {"mtu.nodeC.txt", "hca_id:\tmlx5_0\n\t\tport:\t1\n\t\t\tactive_mtu:\t\t4096 (5)\n"},
                 {"env.txt", "NCCL_IB_GID_INDEX=5\n"},
                 from_texts("dmesg/healthy-boot.txt", "dmesg.nodeA.txt"),
                 {"lspci.nodeA.txt",
                  "42:00.0 Ethernet controller: Mellanox Technologies MT2910 Family\n\tLnkCap: Speed 32GT/s, "
                  "Width x16\n\tLnkSta: Speed 32GT/s, Width x16\n\tDevCtl: RlxdOrd+\n\tACSCtl: SrcValid+ "
                  "ReqRedir- CmpltRedir- UpstreamFwd-\n"},
                 from_texts("nvidia-smi-topo/near.txt", "topo.nodeA.txt"),
                 from_texts("mlxlink/healthy.txt", "mlxlink.nodeA.txt"),
                 from_texts("mlxconfig/grepped.txt", "mlxconfig.nodeA.txt")});
  for (const char* rule : {"GID-1", "GID-2", "GID-4", "MTU-2", "ECN-6", "PCIE-1", "PCIE-2", "PCIE-3",
                           "PCIE-4", "HOST-1", "HOST-2", "DRV-1", "LINK-1", "NET-3", "NET-2", "ECN-5"}) {
    EXPECT_TRUE(has_passed(report, rule)) << rule << "\n" << words_of(report, rule);
  }
  for (const Finding& finding : report.findings)
    EXPECT_EQ(finding.severity, Severity::info) << words_of(report, finding.rule);
}

}  // namespace
}  // namespace rocetune::diagnose
