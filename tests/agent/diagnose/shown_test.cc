// Rules over texts of RDMA tools, PCIe, kernel, links and firmware: what each finds, passes and leaves alone.
#include <gtest/gtest.h>

#include "tests/agent/diagnose/handed_texts.h"

namespace rocetune::diagnose {
namespace {

constexpr auto kInfo = Severity::info;
constexpr auto kWarning = Severity::warning;
constexpr auto kCritical = Severity::critical;

struct ShownCase {
  const char* what;
  HandedTexts texts;
  const char* rule;
  std::optional<Severity> worst;  // nothing: the rule must find nothing
  const char* names = "";         // part of cause or evidence
};

const std::string kHeader = "DEV PORT INDEX GID IPv4 VER DEV\n";
std::string gid_row(const std::string& device, int index, const std::string& gid, const std::string& rest) {
  return device + " 1 " + std::to_string(index) + " " + gid + " " + rest + "\n";
}
const std::string kLinkLocal = "fe80:0000:0000:0000:a288:c2ff:fe00:0001";
const std::string kIpv4 = "0000:0000:0000:0000:0000:ffff:c612:0048";       // 198.18.0.72
const std::string kNeighbour = "0000:0000:0000:0000:0000:ffff:c612:0049";  // 198.18.0.73
const std::string kElsewhere = "0000:0000:0000:0000:0000:ffff:c613:0048";  // 198.19.0.72

std::string port_text(const std::string& device, int mtu, const std::string& rest = "") {
  return "hca_id:\t" + device + "\n\t\tport:\t1\n\t\t\tstate:\t\tPORT_ACTIVE (4)\n\t\t\tactive_mtu:\t\t" +
         std::to_string(mtu) + " (5)\n\t\t\tlink_layer:\t\tEthernet\n" + rest;
}
std::string ibstat_text(const std::string& device, int rate, const std::string& more = "") {
  return "CA '" + device + "'\n\tCA type: MT4129\n" + more +
         "\tPort 1:\n\t\tState: Active\n\t\tRate: " + std::to_string(rate) + "\n\t\tLink layer: Ethernet\n";
}

std::vector<ShownCase> gid_cases() {
  const std::string table = kHeader + gid_row("mlx5_0", 1, kLinkLocal, "v2 eth0") +
                            gid_row("mlx5_0", 2, kIpv4, "v1 eth0") + gid_row("mlx5_0", 3, kIpv4, "v2 eth0");
  return {
      {"index 1 is link-local",
       {{"env.txt", "NCCL_IB_GID_INDEX=1\n"}, {"show_gids.txt", table}},
       "GID-1",
       kCritical,
       "index 3"},
      {"index 2 is RoCE v1",
       {{"env.txt", "export NCCL_IB_GID_INDEX=2\n"}, {"show_gids.txt", table}},
       "GID-1",
       kWarning},
      {"index 3 is right",
       {{"env.txt", "NCCL_IB_GID_INDEX=3\n"}, {"show_gids.txt", table}},
       "GID-1",
       std::nullopt},
      {"by perftest's option",
       {{"run.txt", "$ ib_write_bw -d mlx5_0 -x 1 10.0.0.2\n"}, {"show_gids.txt", table}},
       "GID-1",
       kCritical},
      {"an InfiniBand port has no such choice",
       {{"env.txt", "NCCL_IB_GID_INDEX=0\n"}, {"d.txt", "@ibv-devinfo/infiniband.crlf.txt"}},
       "GID-1",
       std::nullopt},
      {"the index is not in the table",
       {{"env.txt", "NCCL_IB_GID_INDEX=5\n"}, {"show_gids.txt", table}},
       "GID-2",
       kWarning,
       "no entry"},
      {"entries moved",
       {{"show_gids.before.txt", kHeader + gid_row("mlx5_0", 3, kIpv4, "v2 eth0")},
        {"show_gids.after.txt", kHeader + gid_row("mlx5_0", 7, kIpv4, "v2 eth0")}},
       "GID-2",
       kWarning,
       "first-free"},
      {"entries stayed", {{"show_gids.t0.txt", table}, {"show_gids.t1.txt", table}}, "GID-2", std::nullopt},
      {"another index on the other host",
       {{"show_gids.nodeA.txt", table},
        {"show_gids.nodeB.txt", kHeader + gid_row("mlx5_0", 5, kElsewhere, "v2 eth0")}},
       "GID-2",
       kWarning,
       "index 5"},
      {"two pods",
       {{"show_gids.pod1.txt", "@show-gids/pod.sparse.txt"},
        {"show_gids.pod2.txt", kHeader + gid_row("mlx5_0", 9, kElsewhere, "v2 net1")}},
       "GID-2",
       kWarning},
      {"an empty string", {{"env.txt", "NCCL_IB_GID_INDEX=\n"}}, "GID-2", kWarning, "empty"},
      {"neighbours in one subnet",
       {{"g.txt",
         kHeader + gid_row("mlx5_0", 3, kIpv4, "v2 eth0") + gid_row("mlx5_1", 3, kNeighbour, "v2 eth1")}},
       "GID-3",
       kWarning,
       "198.18.0.0/24"},
      {"subnets of their own",
       {{"g.txt",
         kHeader + gid_row("mlx5_0", 3, kIpv4, "v2 eth0") + gid_row("mlx5_1", 3, kElsewhere, "v2 eth1")}},
       "GID-3",
       std::nullopt},
      {"the same rail on two hosts",
       {{"g.nodeA.txt", kHeader + gid_row("mlx5_0", 3, kIpv4, "v2 eth0")},
        {"g.nodeB.txt", kHeader + gid_row("mlx5_0", 3, kNeighbour, "v2 eth0")}},
       "GID-3",
       std::nullopt},
      {"a group bit",
       {{"dmesg.txt", "@dmesg/gid-refused.wrapped.txt"}},
       "GID-4",
       kWarning,
       "af:3e:e3:92:b3:1b"},
      {"a refused address handle",
       {{"dmesg.txt", "[ 1.000000] infiniband bnxt_re0: Failed to allocate HW AH\n"}},
       "GID-4",
       kCritical},
      {"VLANs that repeat a GID, alone",
       {{"g.txt",
         kHeader + gid_row("b0", 1, kLinkLocal, "v2 eth0") + gid_row("b0", 3, kLinkLocal, "v2 eth0.43")}},
       "GID-4",
       kInfo},
  };
}

std::vector<ShownCase> end_cases() {
  return {
      {"4096 against 1024",
       {{"d.nodeA.txt", port_text("mlx5_0", 4096)}, {"d.nodeB.txt", port_text("mlx5_0", 1024)}},
       "MTU-2",
       kCritical,
       "1024"},
      {"devices of other names",
       {{"d.nodeA.txt", port_text("mlx5_0", 2048)}, {"d.nodeB.txt", port_text("rocep1s0", 4096)}},
       "MTU-2",
       kCritical},
      {"one MTU",
       {{"d.nodeA.txt", port_text("mlx5_0", 4096)}, {"d.nodeB.txt", port_text("mlx5_0", 4096)}},
       "MTU-2",
       std::nullopt},
      {"one host before and after",
       {{"d.before.txt", port_text("mlx5_0", 1024)}, {"d.after.txt", port_text("mlx5_0", 4096)}},
       "MTU-2",
       std::nullopt},
      {"prompts of two hosts",
       {{"both.txt", "root@n1:~# ibv_devinfo\n" + port_text("mlx5_0", 4096) + "root@n2:~# ibv_devinfo\n" +
                         port_text("mlx5_0", 1024)}},
       "MTU-2",
       kCritical},
      {"only active_mtu is known", {{"d.txt", port_text("mlx5_0", 1024)}}, "MTU-1", kWarning, "1500"},
      {"it is large", {{"d.txt", port_text("mlx5_0", 4096)}}, "MTU-1", std::nullopt},
      {"firmware differs",
       {{"i.nodeA.txt", ibstat_text("mlx5_0", 400, "\tFirmware version: 28.39.1002\n")},
        {"i.nodeB.txt", ibstat_text("mlx5_0", 400, "\tFirmware version: 28.42.1000\n")}},
       "ECN-6",
       kWarning,
       "28.42.1000"},
      {"firmware is the same",
       {{"i.nodeA.txt", ibstat_text("mlx5_0", 400, "\tFirmware version: 28.39.1002\n")},
        {"i.nodeB.txt", ibstat_text("mlx5_0", 400, "\tFirmware version: 28.39.1002\n")}},
       "ECN-6",
       std::nullopt},
      {"two adapters of one PSID",
       {{"mlxfwmanager.txt", "@mlxfwmanager/two.txt"}},
       "ECN-6",
       kWarning,
       "MT_0000000359"},
      {"another algorithm runs",
       {{"mlxconfig.txt", "@mlxconfig/extended.txt"}},
       "ECN-5",
       kInfo,
       "programmable"},
      {"DCQCN runs", {{"mlxconfig.txt", "@mlxconfig/grepped.txt"}}, "ECN-5", std::nullopt},
      {"a reboot will change it",
       {{"mlxconfig.txt", "@mlxconfig/extended.txt"}},
       "OPS-1",
       kInfo,
       "NUM_OF_VFS"},
  };
}

std::vector<ShownCase> machine_cases() {
  const std::string limited =
      "[ 8.387840] mlx5_core 0001:43:00.0: 63.008 Gb/s available PCIe bandwidth, limited by 8.0 GT/s PCIe x8 "
      "link at "
      "0001:42:01.0 (capable of 126.016 Gb/s with 8.0 GT/s PCIe x16 link)\n";
  return {
      {"a limited link", {{"dmesg.txt", limited}}, "PCIE-1", kWarning, "63.008"},
      {"without a time stamp", {{"dmesg.txt", limited.substr(13)}}, "PCIE-1", kWarning},
      {"the same in a guest", {{"dmesg.txt", "@dmesg/guest.txt"}}, "PCIE-1", std::nullopt},
      {"not limited", {{"dmesg.txt", "@dmesg/healthy-boot.txt"}}, "PCIE-1", std::nullopt},
      {"LnkSta below LnkCap", {{"lspci.txt", "@lspci/degraded-nic.txt"}}, "PCIE-1", kWarning, "x8 at 8"},
      {"a bridge and a GPU may", {{"lspci.txt", "@lspci/bridges-and-gpu.txt"}}, "PCIE-1", std::nullopt},
      {"a guest", {{"lspci.txt", "@lspci/guest.txt"}}, "PCIE-1", std::nullopt},
      {"uncorrected bus errors",
       {{"dmesg.txt",
         "[ 5.100000] pcieport 0000:40:01.0: PCIe Bus Error: severity=Uncorrected (Non-Fatal), "
         "type=Transaction Layer\n"}},
       "PCIE-1",
       kWarning},
      {"a corrected one",
       {{"dmesg.txt",
         "[ 5.100000] pcieport 0000:40:01.0: PCIe Bus Error: severity=Corrected, type=Physical Layer\n"}},
       "PCIE-1",
       std::nullopt},
      {"one port redirects",
       {{"lspci.txt", "@lspci/bridges-and-gpu.txt"}},
       "PCIE-2",
       kWarning,
       "0000:40:02.0"},
      {"only SrcValid",
       {{"l.txt",
         "ACSCtl: SrcValid+ TransBlk- ReqRedir- CmpltRedir- UpstreamFwd- EgressCtrl- DirectTrans-\n"}},
       "PCIE-2",
       std::nullopt},
      {"it was so before",
       {{"acs.before.txt", "ACSCtl: SrcValid+ ReqRedir+ CmpltRedir+ UpstreamFwd+\n"},
        {"acs.after.txt", "ACSCtl: SrcValid- ReqRedir- CmpltRedir- UpstreamFwd-\n"}},
       "PCIE-2",
       kInfo},
      {"never in a guest",
       {{"l.txt",
         "00:02.0 PCI bridge: Red Hat, Inc. QEMU PCIe Root port\n\tACSCtl: SrcValid+ ReqRedir+ CmpltRedir+ "
         "UpstreamFwd+\n"}},
       "PCIE-2",
       std::nullopt},
      {"no relaxed ordering", {{"lspci.txt", "@lspci/degraded-nic.txt"}}, "PCIE-3", kInfo},
      {"AMD-Vi", {{"dmesg.txt", "@dmesg/amd-vi.syslog.txt"}}, "PCIE-4", kCritical, "0000:41:00.0"},
      {"DMAR", {{"dmesg.txt", "@dmesg/dmar.txt"}}, "PCIE-4", kCritical},
      {"no fault", {{"dmesg.txt", "@dmesg/healthy-boot.txt"}}, "PCIE-4", std::nullopt},
      {"a guest with a GPU", {{"lspci.txt", "@lspci/guest.txt"}}, "VM-1", kWarning, "NCCL_TOPO_FILE"},
      {"by its topology", {{"topo.xml", "@topology-xml/cut.guest.xml"}}, "VM-1", kInfo},
      {"bare metal", {{"topo.xml", "@topology-xml/bare-metal.xml"}}, "VM-1", std::nullopt},
      {"VFs beside their PF are no guest",
       {{"l.txt",
         "41:00.0 Ethernet controller: Mellanox Technologies MT2892 Family\n41:00.2 Ethernet controller: "
         "Mellanox Technologies ConnectX Family mlx5Gen Virtual Function\n"}},
       "VM-1",
       std::nullopt},
      {"VFs alone, with a class map",
       {{"l.txt",
         "05:00.0 Ethernet controller: Mellanox Technologies ConnectX Family mlx5Gen Virtual Function\n"},
        {"q.txt",
         "Priority trust state: dscp\nPFC configuration:\n\tpriority    0   1   2   3   4   5   6   "
         "7\n\tenabled     0   0   0   1   0   0   0   0\n"}},
       "HOST-1",
       kWarning},
      {"a GPU without a near NIC",
       {{"topo.txt", "@nvidia-smi-topo/one-far.lost-codes.txt"}},
       "HOST-2",
       kWarning,
       "GPU0"},
      {"GPUs with near NICs", {{"topo.txt", "@nvidia-smi-topo/near.txt"}}, "HOST-2", std::nullopt},
      {"a module built against another core",
       {{"dmesg.txt", "@dmesg/peermem.txt"}},
       "DRV-1",
       kWarning,
       "disagrees"},
      {"no RDMA module",
       {{"lsmod.txt",
         "Module                  Size  Used by\nmlx5_core            2000000  0\nib_core               "
         "491520  0\nib_uverbs             100000  0\n"}},
       "DRV-1",
       kWarning,
       "mlx5_ib"},
      {"a quiet log", {{"dmesg.txt", "@dmesg/healthy-boot.txt"}}, "DRV-1", std::nullopt},
  };
}

std::vector<ShownCase> link_cases() {
  const std::string guid = "\tSystem image GUID: 0xfc4cea0300000002\n";
  const std::string halves = ibstat_text("rocep1s0f0", 200, guid) + ibstat_text("roceP2p1s0f0", 200, guid);
  return {
      {"errors remain", {{"mlxlink.txt", "@mlxlink/bad-lane.txt"}}, "LINK-1", kWarning, "lane 2"},
      {"also as JSON", {{"mlxlink.json", "@mlxlink/values.json"}}, "LINK-1", kWarning},
      {"corrected errors are none", {{"mlxlink.txt", "@mlxlink/healthy.txt"}}, "LINK-1", std::nullopt},
      {"codewords were lost", {{"fec.txt", "@fec-histogram/lost.txt"}}, "LINK-1", kWarning},
      {"little is left", {{"fec.txt", "@fec-histogram/sonic.txt"}}, "LINK-1", kInfo},
      {"flaps", {{"dmesg.txt", "@dmesg/flaps.txt"}}, "LINK-2", kWarning, "2 times"},
      {"the first up of a log", {{"dmesg.txt", "@dmesg/healthy-boot.txt"}}, "LINK-2", std::nullopt},
      {"firmware stopped",
       {{"d.txt",
         "[ 9.100000] mlx5_core 0000:c1:00.0: poll_health:829:(pid 0): device's health compromised - reached "
         "miss count\n"}},
       "LINK-2",
       kCritical},
      {"one host is slower",
       {{"i.n1.txt", ibstat_text("mlx5_0", 400)}, {"i.n2.txt", ibstat_text("mlx5_0", 100)}},
       "LINK-2",
       kWarning,
       "100Gbps"},
      {"one of four is slower",
       {{"i.txt", ibstat_text("mlx5_0", 400) + ibstat_text("mlx5_1", 400) + ibstat_text("mlx5_2", 200) +
                      ibstat_text("mlx5_3", 400)}},
       "LINK-2",
       kWarning,
       "mlx5_2"},
      {"a pair for storage may be",
       {{"i.txt", ibstat_text("mlx5_0", 400) + ibstat_text("mlx5_1", 400) + ibstat_text("mlx5_2", 200) +
                      ibstat_text("mlx5_3", 200)}},
       "LINK-2",
       std::nullopt},
      {"a placeholder is no rate", {{"i.txt", "@ibstat/one-down.txt"}}, "LINK-2", std::nullopt},
      {"an InfiniBand link could be more",
       {{"ib.txt", "@iblinkinfo/fabric.txt"}},
       "LINK-2",
       kWarning,
       "Could be"},
      {"InfiniBand, by ibstat", {{"i.txt", "@ibstat/grepped.infiniband.txt"}}, "NET-3", kWarning},
      {"InfiniBand, by iblinkinfo", {{"ib.txt", "@iblinkinfo/line.txt"}}, "NET-3", kWarning},
      {"the port that is Ethernet is down", {{"i.txt", "@ibstatus/two.txt"}}, "NET-3", kWarning},
      {"transport proves nothing", {{"d.txt", "@ibv-devinfo/verbose.txt"}}, "NET-3", std::nullopt},
      {"one half is left out",
       {{"i.txt", halves}, {"env.txt", "NCCL_IB_HCA=rocep1s0f0\n"}},
       "NET-2",
       kWarning,
       "roceP2p1s0f0"},
      {"both are listed",
       {{"i.txt", halves}, {"env.txt", "NCCL_IB_HCA=rocep1s0f0,roceP2p1s0f0\n"}},
       "NET-2",
       kInfo},
      {"two ports of one function's card",
       {{"i.txt", ibstat_text("mlx5_0", 100, guid) + ibstat_text("mlx5_1", 100, guid)}},
       "NET-2",
       std::nullopt},
  };
}

void expect_outcomes(const std::vector<ShownCase>& cases) {
  for (const ShownCase& c : cases) {
    const Report report = report_on(c.texts);
    const std::string where = std::string(c.rule) + ", " + c.what + "\n" + words_of(report, c.rule);
    EXPECT_EQ(worst_of(report, c.rule), c.worst) << where;
    std::string said = words_of(report, c.rule);
    for (const Finding& finding : report.findings) said += finding.rule == c.rule ? finding.fix.text : "";
    EXPECT_NE(said.find(c.names), std::string::npos) << where << "lacks " << c.names;
  }
}

TEST(Shown, Gids) { expect_outcomes(gid_cases()); }
TEST(Shown, BothEndsAndFirmware) { expect_outcomes(end_cases()); }
TEST(Shown, Machine) { expect_outcomes(machine_cases()); }
TEST(Shown, LinksAndDevices) { expect_outcomes(link_cases()); }

TEST(Shown, PassesWhereTheTextsAreGood) {
  const Report report =
      report_on({{"d.nodeA.txt", "@ibv-devinfo/verbose.txt"},
                 {"d.nodeB.txt", "@ibv-devinfo/verbose.txt"},
       {"mtu.nodeC.txt", port_text("mlx5_0", 4096)},
                 {"env.txt", "NCCL_IB_GID_INDEX=5\n"},
                 {"dmesg.nodeA.txt", "@dmesg/healthy-boot.txt"},
                 {"lspci.nodeA.txt",
                  "42:00.0 Ethernet controller: Mellanox Technologies MT2910 Family\n\tLnkCap: Speed 32GT/s, "
                  "Width x16\n\tLnkSta: Speed 32GT/s, Width x16\n\tDevCtl: RlxdOrd+\n\tACSCtl: SrcValid+ "
                  "ReqRedir- CmpltRedir- UpstreamFwd-\n"},
                 {"topo.nodeA.txt", "@nvidia-smi-topo/near.txt"},
                 {"mlxlink.nodeA.txt", "@mlxlink/healthy.txt"},
                 {"mlxconfig.nodeA.txt", "@mlxconfig/grepped.txt"}});
  for (const char* rule : {"GID-1", "GID-2", "GID-4", "MTU-2", "ECN-6", "PCIE-1", "PCIE-2", "PCIE-3",
                           "PCIE-4", "HOST-1", "HOST-2", "DRV-1", "LINK-1", "NET-3", "NET-2", "ECN-5"}) {
    EXPECT_TRUE(has_passed(report, rule)) << rule << "\n" << words_of(report, rule);
  }
  for (const Finding& finding : report.findings)
    EXPECT_EQ(finding.severity, kInfo) << words_of(report, finding.rule);
}

TEST(Shown, NothingIsJudgedWithoutEvidence) {
  const Report report = report_on({{"notes.txt", "all_reduce is slow, please help\n"}});
  for (const char* rule :
       {"GID-1",  "GID-2", "GID-3",  "GID-4",  "MTU-2", "ECN-5",  "ECN-6",  "PCIE-1", "PCIE-2", "PCIE-3",
        "PCIE-4", "VM-1",  "HOST-1", "HOST-2", "DRV-1", "LINK-1", "LINK-2", "NET-2",  "NET-3",  "OPS-1"}) {
    EXPECT_TRUE(is_not_checked(report, rule)) << rule;
    EXPECT_FALSE(worst_of(report, rule)) << rule;
  }
}

}  // namespace
}  // namespace rocetune::diagnose
