// Cases of texts about GIDs, both ends and firmware; and the list of fixtures that is made of all of them.
#include <algorithm>

#include "agent/diagnose/rule.h"
#include "tests/agent/diagnose/shown_cases.h"

namespace rocetune::diagnose {
namespace {

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
}  // namespace

std::vector<ShownCase> shown_gid_cases() {
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
       kPassed},
      {"by perftest's option",
       {{"run.txt", "$ ib_write_bw -d mlx5_0 -x 1 10.0.0.2\n"}, {"show_gids.txt", table}},
       "GID-1",
       kCritical},
      {"an InfiniBand port has no such choice",
       {{"env.txt", "NCCL_IB_GID_INDEX=0\n"}, {"d.txt", "@ibv-devinfo/infiniband.crlf.txt"}},
       "GID-1",
       kNotChecked},
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
      {"entries stayed", {{"show_gids.t0.txt", table}, {"show_gids.t1.txt", table}}, "GID-2", kPassed},
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
       kPassed},
      {"the same rail on two hosts",
       {{"g.nodeA.txt", kHeader + gid_row("mlx5_0", 3, kIpv4, "v2 eth0")},
        {"g.nodeB.txt", kHeader + gid_row("mlx5_0", 3, kNeighbour, "v2 eth0")}},
       "GID-3",
       kNotChecked},
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
      {"three rails in one subnet, far apart",
       {{"g.txt", kHeader + gid_row("mlx5_0", 3, kIpv4, "v2 eth0") +
                      gid_row("mlx5_1", 3, "0000:0000:0000:0000:0000:ffff:c612:0058", "v2 eth1")}},
       "GID-3",
       kWarning,
       "mlx5_1"},
      {"a log without refused GIDs", {{"dmesg.txt", "@dmesg/healthy-boot.txt"}}, "GID-4", kPassed},
  };
}

std::vector<ShownCase> shown_end_cases() {
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
       kPassed},
      {"one host before and after",
       {{"d.before.txt", port_text("mlx5_0", 1024)}, {"d.after.txt", port_text("mlx5_0", 4096)}},
       "MTU-2",
       kNotChecked},
      {"prompts of two hosts",
       {{"both.txt", "root@n1:~# ibv_devinfo\n" + port_text("mlx5_0", 4096) + "root@n2:~# ibv_devinfo\n" +
                         port_text("mlx5_0", 1024)}},
       "MTU-2",
       kCritical},
      {"only active_mtu is known", {{"d.txt", port_text("mlx5_0", 1024)}}, "MTU-1", kWarning, "1500"},
      {"it is large", {{"d.txt", port_text("mlx5_0", 4096)}}, "MTU-1", kPassed},
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
       kPassed},
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
      {"DCQCN runs", {{"mlxconfig.txt", "@mlxconfig/grepped.txt"}}, "ECN-5", kPassed},
      {"a reboot will change it",
       {{"mlxconfig.txt", "@mlxconfig/extended.txt"}},
       "OPS-1",
       kInfo,
       "NUM_OF_VFS"},
      {"no priority has it", {{"m.txt", "ROCE_CC_PRIO_MASK_P1   0\n"}}, "ECN-5", kInfo, "port 1"},
      {"a setting for next boot",
       {{"m.txt", "Configurations:   Default  Current  Next Boot\n* MAX_ACC_OUT_READ  0  0  44\n"}},
       "OPS-1",
       kInfo,
       "MAX_ACC_OUT_READ"},
      {"the same at the next boot",
       {{"m.txt", "Configurations:   Default  Current  Next Boot\n  MAX_ACC_OUT_READ  0  44  44\n"}},
       "OPS-1",
       kPassed},
  };
}

std::vector<TextFile> files_of(const ShownCase& shown) {
  std::vector<TextFile> out;
  for (const auto& [name, content] : shown.texts) {
    out.push_back(content.starts_with('@') ? from_texts(content.substr(1), name) : TextFile{name, content});
  }
  return out;
}

std::vector<TextFixture> rdma_tool_text_fixtures() {
  std::vector<TextFixture> out;
  std::vector<const Rule*> rows;
  for (const auto family :
       {shown_device_rules(), shown_gid_rules(), shown_address_rules(), both_ends_rules(), shown_pcie_rules(),
        shown_host_rules(), shown_link_rules(), shown_firmware_rules()}) {
    for (const Rule& row : family) rows.push_back(&row);
  }
  for (const auto cases : {shown_gid_cases, shown_end_cases, shown_machine_cases, shown_link_cases}) {
    for (const ShownCase& shown : cases()) {
      const auto row =
          std::find_if(rows.begin(), rows.end(), [&](const Rule* r) { return r->id == shown.rule; });
      if (row == rows.end()) continue;  // of a rule about hosts
      const Kind kind = shown.as == ShownAs::passed        ? Kind::passed
                        : shown.as == ShownAs::not_checked ? Kind::not_checked
                                                           : Kind::found;
      out.push_back({shown.rule, (*row)->title.data(), kind, files_of(shown)});
    }
  }
  for (const Rule* row : rows) {
    out.push_back({row->id.data(),
                   row->title.data(),
                   Kind::not_checked,
                   {{"notes.txt", "all_reduce is slow, please help\n"}}});
  }
  return out;
}

}  // namespace rocetune::diagnose
