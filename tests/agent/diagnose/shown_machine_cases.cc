// Cases of texts about PCIe, guests, GPUs, drivers, links and devices.
#include "tests/agent/diagnose/shown_cases.h"

namespace rocetune::diagnose {
namespace {

std::string ibstat_text(const std::string& device, int rate, const std::string& more = "") {
  return "CA '" + device + "'\n\tCA type: MT4129\n" + more +
         "\tPort 1:\n\t\tState: Active\n\t\tRate: " + std::to_string(rate) + "\n\t\tLink layer: Ethernet\n";
}

}  // namespace

std::vector<ShownCase> shown_machine_cases() {
  const std::string limited =
      "[ 8.387840] mlx5_core 0001:43:00.0: 63.008 Gb/s available PCIe bandwidth, limited by 8.0 GT/s PCIe x8 "
      "link at "
      "0001:42:01.0 (capable of 126.016 Gb/s with 8.0 GT/s PCIe x16 link)\n";
  return {
      {"a limited link", {{"dmesg.txt", limited}}, "PCIE-1", kWarning, "63.008"},
      {"without a time stamp", {{"dmesg.txt", limited.substr(13)}}, "PCIE-1", kWarning},
      {"the same in a guest", {{"dmesg.txt", "@dmesg/guest.txt"}}, "PCIE-1", kNotChecked},
      {"not limited", {{"dmesg.txt", "@dmesg/healthy-boot.txt"}}, "PCIE-1", kPassed},
      {"LnkSta below LnkCap", {{"lspci.txt", "@lspci/degraded-nic.txt"}}, "PCIE-1", kWarning, "x8 at 8"},
      {"a bridge and a GPU may", {{"lspci.txt", "@lspci/bridges-and-gpu.txt"}}, "PCIE-1", kPassed},
      {"a guest", {{"lspci.txt", "@lspci/guest.txt"}}, "PCIE-1", kNotChecked},
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
       kNotChecked},
      {"one port redirects",
       {{"lspci.txt", "@lspci/bridges-and-gpu.txt"}},
       "PCIE-2",
       kWarning,
       "0000:40:02.0"},
      {"only SrcValid",
       {{"l.txt",
         "ACSCtl: SrcValid+ TransBlk- ReqRedir- CmpltRedir- UpstreamFwd- EgressCtrl- DirectTrans-\n"}},
       "PCIE-2",
       kPassed},
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
       kNotChecked},
      {"no relaxed ordering", {{"lspci.txt", "@lspci/degraded-nic.txt"}}, "PCIE-3", kInfo},
      {"AMD-Vi", {{"dmesg.txt", "@dmesg/amd-vi.syslog.txt"}}, "PCIE-4", kCritical, "0000:41:00.0"},
      {"DMAR", {{"dmesg.txt", "@dmesg/dmar.txt"}}, "PCIE-4", kCritical},
      {"no fault", {{"dmesg.txt", "@dmesg/healthy-boot.txt"}}, "PCIE-4", kPassed},
      {"a guest with a GPU", {{"lspci.txt", "@lspci/guest.txt"}}, "VM-1", kWarning, "NCCL_TOPO_FILE"},
      {"by its topology", {{"topo.xml", "@topology-xml/cut.guest.xml"}}, "VM-1", kInfo},
      {"bare metal", {{"topo.xml", "@topology-xml/bare-metal.xml"}}, "VM-1", kPassed},
      {"VFs beside their PF are no guest",
       {{"l.txt",
         "41:00.0 Ethernet controller: Mellanox Technologies MT2892 Family\n41:00.2 Ethernet controller: "
         "Mellanox Technologies ConnectX Family mlx5Gen Virtual Function\n"}},
       "VM-1",
       kNotChecked},
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
      {"GPUs with near NICs", {{"topo.txt", "@nvidia-smi-topo/near.txt"}}, "HOST-2", kPassed},
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
      {"a quiet log", {{"dmesg.txt", "@dmesg/healthy-boot.txt"}}, "DRV-1", kPassed},
      {"a grepped DevCtl",
       {{"l.txt", "\t\tDevCtl:\tCorrErr- NonFatalErr-\n\t\t\tRlxdOrd- ExtTag+\n"}},
       "PCIE-3",
       kInfo,
       "off"},
      {"relaxed ordering",
       {{"l.txt", "42:00.0 Ethernet controller: Broadcom Inc. BCM57608\n\t\t\tRlxdOrd+ ExtTag+\n"}},
       "PCIE-3",
       kPassed},
      {"VFs alone", {{"l.txt", "05:00.0 0200: 15b3:101e\n"}}, "HOST-1", kInfo},
      {"a physical function",
       {{"l.txt", "42:00.0 Ethernet controller: Broadcom Inc. BCM57608\n"}},
       "HOST-1",
       kPassed},
      {"all NICs on one socket",
       {{"t.txt",
         "      GPU0 GPU1 NIC0 CPU Affinity NUMA Affinity\nGPU0  X  SYS  PXB  0-31 0\nGPU1  SYS  X  SYS  "
         "32-63 1\nNIC0  PXB  SYS  X\n"}},
       "HOST-2",
       kWarning,
       "GPU1"},
  };
}

std::vector<ShownCase> shown_link_cases() {
  const std::string guid = "\tSystem image GUID: 0xfc4cea0300000002\n";
  const std::string halves = ibstat_text("rocep1s0f0", 200, guid) + ibstat_text("roceP2p1s0f0", 200, guid);
  return {
      {"errors remain", {{"mlxlink.txt", "@mlxlink/bad-lane.txt"}}, "LINK-1", kWarning, "lane 2"},
      {"also as JSON", {{"mlxlink.json", "@mlxlink/values.json"}}, "LINK-1", kWarning},
      {"corrected errors are none", {{"mlxlink.txt", "@mlxlink/healthy.txt"}}, "LINK-1", kPassed},
      {"codewords were lost", {{"fec.txt", "@fec-histogram/lost.txt"}}, "LINK-1", kWarning},
      {"little is left", {{"fec.txt", "@fec-histogram/sonic.txt"}}, "LINK-1", kInfo},
      {"flaps", {{"dmesg.txt", "@dmesg/flaps.txt"}}, "LINK-2", kWarning, "2 times"},
      {"the first up of a log", {{"dmesg.txt", "@dmesg/healthy-boot.txt"}}, "LINK-2", kPassed},
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
       kPassed},
      {"a placeholder is no rate", {{"i.txt", "@ibstat/one-down.txt"}}, "LINK-2", kPassed},
      {"an InfiniBand link could be more",
       {{"ib.txt", "@iblinkinfo/fabric.txt"}},
       "LINK-2",
       kWarning,
       "Could be"},
      {"InfiniBand, by ibstat", {{"i.txt", "@ibstat/grepped.infiniband.txt"}}, "NET-3", kWarning},
      {"InfiniBand, by iblinkinfo", {{"ib.txt", "@iblinkinfo/line.txt"}}, "NET-3", kWarning},
      {"the port that is Ethernet is down", {{"i.txt", "@ibstatus/two.txt"}}, "NET-3", kWarning},
      {"transport proves nothing", {{"d.txt", "@ibv-devinfo/verbose.txt"}}, "NET-3", kPassed},
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
       kPassed},
  };
}

}  // namespace rocetune::diagnose
