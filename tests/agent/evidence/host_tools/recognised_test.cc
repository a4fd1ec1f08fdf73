// Every fixture is recognised as what it is, with the facts that docs/inputs.md promises, and nothing of it
// is left unread but what is not the tool's.
#include <optional>

#include "tests/agent/evidence/host_tools/told_file.h"

namespace rocetune::evidence {
namespace {

struct Expected {
  const char* file;
  std::vector<std::string> formats;
  int unread;                                          // lines
  std::map<std::string, double> facts = {};            // of the first document
  std::map<std::string, std::uint64_t> counters = {};  // some of them, of the first document
};

const std::vector<Expected>& expected() {
  static const std::vector<Expected> kFiles{
      // ethtool -S: mlx5 grepped behind a prompt, bnxt with rings, ice, ixgbe with CRLF, virtio.
      {"ethtool-stats/mlx5-prompt.after10s.txt",
       {"ethtool-stats"},
       1,
       {{"link.worst_lane", 2}, {"link.worst_lane_share", 987500.0 / 991000}},
       {{"rx_err_lane_2_phy", 987500}, {"rx_symbol_err_phy", 93204}}},
      {"ethtool-stats/bnxt.txt",
       {"ethtool-stats"},
       0,
       {},
       {{"[1]: rx_ucast_packets", 99}, {"tx_pfc_ena_frames_pri3", 41230}}},
      {"ethtool-stats/ice.txt", {"ethtool-stats"}, 0, {}, {{"rx_priority_3_xoff.nic", 77}}},
      {"ethtool-stats/ixgbe-dos.txt", {"ethtool-stats"}, 0, {}, {{"tx_flow_control_xoff", 250000}}},
      {"ethtool-stats/virtio.txt", {"ethtool-stats"}, 0, {}, {{"rx_queue_0_drops", 4}}},
      {"ethtool-stats/two-interfaces.txt",
       {"ethtool-stats", "ethtool-stats"},
       1,
       {{"pause.tx_global_s", 2},
        {"pause.tx_global_mean_us", 500000},
        {"pause.rx_global_s", 30e-6},
        {"pause.rx_global_mean_us", 3}},
       {{"tx_global_pause", 4}}},
      // A colour code, -1 for what the driver cannot read, the largest number and one above it.
      {"ethtool-stats/coloured.txt",
       {"ethtool-stats"},
       2,
       {},
       {{"rx_prio0_packets", 77}, {"tx_prio1_packets", UINT64_MAX}}},
      {"ethtool-stats/cut.txt", {"ethtool-stats"}, 1, {}, {{"rx_prio0_packets", 100}}},
      {"ethtool-pause/off.txt", {"ethtool-pause"}, 0},
      {"ethtool-pause/statistics.txt", {"ethtool-pause"}, 1, {}, {{"rx_pause_frames", 812345}}},
      {"ethtool-pause/json.txt", {"ethtool-pause"}, 0, {}, {{"tx_pause_frames", 5}}},
      {"ethtool-pause/cut.txt", {}, 2},
      {"ethtool-driver/mlx5.txt", {"ethtool-driver"}, 0},
      {"ethtool-driver/two.txt", {"ethtool-driver", "ethtool-driver"}, 2},
      {"ethtool-driver/firmware-only.txt", {"ethtool-driver"}, 0},
      {"ethtool-driver/one-word.txt", {}, 2},
      {"ethtool-features/some.txt", {"ethtool-features"}, 0},
      {"ethtool-link/fell-back.txt", {"ethtool-link"}, 0},
      {"ethtool-link/down.txt", {"ethtool-link"}, 0},
      {"ethtool-link/grep.txt", {"ethtool-link"}, 1},
      {"ethtool-fec/statistics.txt",
       {"ethtool-fec"},
       0,
       {},
       {{"uncorrectable_blocks", 3}, {"corrected_blocks.lane1", 7000}}},
      {"ethtool-fec/old.txt", {"ethtool-fec"}, 0},
      // RDMA counters: columns with a stranger between, path and blank, head and tail, name above value.
      {"hw-counters/columns.node3.txt",
       {"hw-counters"},
       0,
       {},
       {{"out_of_buffer", 12}, {"a_new_counter_err", 4}}},
      {"hw-counters/sysinfo.txt", {"hw-counters"}, 0, {}, {{"np_cnp_sent", 70}}},
      {"hw-counters/tail.txt", {"hw-counters"}, 0, {}, {{"rcvd_seq_err", 3}}},
      {"hw-counters/names-and-values.txt",
       {"hw-counters"},
       0,
       {},
       {{"out_of_sequence", 9}, {"packet_seq_err", 0}}},
      {"hw-counters/mlx5_2/ports/1/hw_counters/local_ack_timeout_err",
       {"hw-counters"},
       0,
       {},
       {{"local_ack_timeout_err", 41}}},
      {"hw-counters/relative.txt", {"hw-counters"}, 0, {}, {{"rp_cnp_ignored", 3}}},
      {"hw-counters/not-ours.txt", {}, 3},
      {"rdma-statistic/pretty.txt", {"rdma-statistic"}, 1, {}, {{"np_cnp_sent", 3}}},
      {"rdma-statistic/json.txt", {"rdma-statistic"}, 0, {}, {{"rx_write_requests", 10}}},
      {"rdma-statistic/broken-line.txt",
       {"rdma-statistic"},
       0,
       {},
       {{"tx_cnp_pkts", 9}, {"to_retransmits", 2}}},
      {"rdma-statistic/bound.txt", {"rdma-statistic"}, 0, {}, {{"out_of_buffer", 8}}},
      {"rdma-statistic/cut.txt", {"rdma-statistic"}, 0, {}, {{"rx_write_requests", 7}}},
      {"rdma-link/now.txt", {"rdma-link"}, 0},
      {"rdma-link/old.txt", {"rdma-link"}, 0},
      {"rdma-link/infiniband.txt", {"rdma-link"}, 0},
      {"rdma-link/json.txt", {"rdma-link"}, 0},
      {"mlnx-qos/oldest.txt",
       {"mlnx-qos"},
       0,
       {{"qos.pfc_mask", 16}, {"ets.prio4_share_pct", 60}, {"ets.prio7_share_pct", 40}}},
      {"mlnx-qos/newest.txt",
       {"mlnx-qos"},
       2,
       {{"qos.pfc_mask", 8},
        {"qos.dscp_26_prio", 3},
        {"qos.dscp_0_prio", 0},
        {"qos.dscp_1_prio", 0},
        {"qos.dscp_2_prio", 0},
        {"qos.dscp_3_prio", 0},
        {"qos.dscp_4_prio", 0},
        {"qos.dscp_5_prio", 0},
        {"qos.dscp_6_prio", 0},
        {"qos.dscp_7_prio", 0}}},
      {"mlnx-qos/pfc-rows.txt", {"mlnx-qos"}, 0, {{"qos.pfc_mask", 24}}},
      {"mlnx-qos/one-class.txt", {"mlnx-qos"}, 0, {{"ets.prio3_share_pct", 70}}},
      {"mlnx-qos/two-ports.txt", {"mlnx-qos", "mlnx-qos"}, 2, {{"qos.pfc_mask", 8}}},
      {"mlnx-qos/bad-rows.txt", {}, 3},
      // One object is a format of its own, several are "dcb"; an empty table prints nothing.
      {"dcb/pfc-alone.txt", {"dcb-pfc"}, 0, {{"qos.pfc_mask", 32}}},
      {"dcb/ets-shares.txt",
       {"dcb-ets"},
       0,
       {{"ets.prio0_share_pct", 20},
        {"ets.prio1_share_pct", 20},
        {"ets.prio2_share_pct", 20},
        {"ets.prio3_share_pct", 80},
        {"ets.prio4_share_pct", 20},
        {"ets.prio5_share_pct", 20},
        {"ets.prio7_share_pct", 20}}},
      {"dcb/app-names.txt",
       {"dcb-app"},
       0,
       {{"qos.dscp_17_prio", 2}, {"qos.dscp_26_prio", 3}, {"qos.dscp_46_prio", 5}, {"qos.dscp_48_prio", 6}}},
      {"dcb/app-ethertype.txt", {"dcb-app"}, 0},
      {"dcb/buffer.txt", {"dcb-buffer"}, 0},
      {"dcb/maxrate.txt", {"dcb-maxrate"}, 0},
      {"dcb/dcbx-firmware.txt", {"dcb-dcbx"}, 0},
      {"dcb/empty-app.txt", {"dcb"}, 0, {{"qos.pfc_mask", 8}}},
      {"dcb/two-ports.txt", {"dcb-pfc", "dcb-pfc"}, 0, {{"qos.pfc_mask", 8}}},
      {"dcb/pfc.json", {"dcb-pfc"}, 0, {{"qos.pfc_mask", 8}}},
      {"dcb/app.json", {"dcb-app"}, 0, {{"qos.dscp_26_prio", 3}, {"qos.dscp_48_prio", 6}}},
      {"dcb/node1.app.json", {"dcb-app"}, 0},
      {"dcb/dcbx.json", {"dcb-dcbx"}, 0},
      {"dcb/pretty-maxrate.json", {"dcb-maxrate"}, 0},
      {"dcb/bad.json", {}, 3},
      {"dcb/bad.txt", {}, 4},
      {"ip-link/link.txt", {"ip-link"}, 0, {{"mtu.netdev_B", 9000}}},
      {"ip-link/addr.txt", {"ip-link"}, 0},  // two MTUs: no common one
      {"ip-link/ifconfig.txt", {"ip-link"}, 0, {{"mtu.netdev_B", 4200}}},
      {"ip-link/json.txt", {"ip-link"}, 0, {{"mtu.netdev_B", 1500}}},
      {"bonding/lacp-up.txt", {"bonding"}, 1, {{"lag.members", 2}, {"lag.active_ports", 2}}},
      {"bonding/member-down.txt", {"bonding"}, 1, {{"lag.members", 2}, {"lag.active_ports", 1}}},
      {"bonding/active-backup.txt", {"bonding"}, 0, {{"lag.members", 2}}},
      {"bonding/cut.txt", {}, 1},
      {"tc-qdisc/red.txt", {"tc-qdisc"}, 1, {{"tc.dropped", 12}, {"tc.marked", 340}}},
      {"tc-qdisc/fq-codel.txt", {"tc-qdisc"}, 0, {{"tc.dropped", 1}, {"tc.marked", 6}}},
      {"tc-qdisc/json.txt", {"tc-qdisc"}, 0, {{"tc.swp1.dropped", 60}, {"tc.swp2.dropped", 0}}},
      {"tc-qdisc/no-statistics.txt", {"tc-qdisc"}, 0},
      {"sysfs-value/grep.txt", {"sysfs-value"}, 0, {{"map.traffic_class", 96}, {"map.dscp", 24}}},
      {"sysfs-value/cat.txt", {"sysfs-value"}, 1, {{"mtu.netdev_B", 9000}}},
      {"sysfs-value/paths.txt",
       {"sysfs-value"},
       0,
       {{"mtu.netdev_B", 4200}, {"map.traffic_class", 106}, {"map.dscp", 26}}},
      {"sysfs-value/bad.txt", {}, 2},
      {"qp-attributes/struct.txt", {"qp-attributes"}, 0, {{"rnr.timer_ms", 0.64}}},
      {"qp-attributes/two-pairs.txt", {"qp-attributes", "qp-attributes"}, 1, {{"rnr.timer_ms", 0.64}}},
      {"qp-attributes/not-ours.txt", {}, 2},
      {"meminfo/some.txt", {"meminfo"}, 0},
      {"lsmod/whole.txt", {"lsmod"}, 0},
      {"lsmod/grep.txt", {"lsmod"}, 1},
      {"lsmod/not-ours.txt", {}, 2},
  };
  return kFiles;
}

TEST(HostTools, EveryFixtureIsRecognisedWithItsFacts) {
  for (const Expected& want : expected()) {
    SCOPED_TRACE(want.file);
    const ToldFile file(want.file);
    std::vector<std::string> formats;
    for (const Document& document : file.documents()) formats.push_back(document.format);
    EXPECT_EQ(formats, want.formats);
    EXPECT_EQ(file.reading.report.unread, want.unread);
    if (file.documents().empty()) continue;
    const Document& first = file.documents().front();
    const std::map<std::string, double> facts = facts_in(first);
    EXPECT_EQ(facts.size(), want.facts.size());
    for (const auto& [name, value] : want.facts) {
      ASSERT_TRUE(facts.contains(name)) << name;
      EXPECT_NEAR(facts.at(name), value, 1e-9 * std::max(1.0, value)) << name;
    }
    for (const auto& [name, value] : want.counters) {
      const Counter* counter = first.find_counter(name);
      ASSERT_NE(counter, nullptr) << name;
      EXPECT_EQ(counter->value, value) << name;
    }
  }
}

// What is cut anywhere gives no more than the whole did, and is read without a fault.
TEST(HostTools, CutTextsAreRead) {
  for (const Expected& want : expected()) {
    SCOPED_TRACE(want.file);
    std::ifstream file(source_root() + "/tests/fixtures/texts/" + want.file, std::ios::binary);
    const std::string text((std::istreambuf_iterator<char>(file)), {});
    for (std::size_t length = 0; length < text.size(); length += 7) {
      const TextReading reading = read_text(text.substr(0, length), want.file, host_tool_formats());
      EXPECT_LE(reading.documents.size(), want.formats.size() + 1);
    }
  }
}

TEST(HostTools, PromptsGiveHostAndDevice) {
  const ToldFile stats("ethtool-stats/mlx5-prompt.before.txt");
  EXPECT_EQ(stats.only().host, "gpu-node-07");
  EXPECT_EQ(stats.only().counters.front().device, "ens1f0np0");
  EXPECT_EQ(stats.only().counters.front().line, 2);
  EXPECT_EQ(ToldFile("mlnx-qos/two-ports.txt").port(1).name, "eth1");
  EXPECT_EQ(ToldFile("bonding/lacp-up.txt").only().host_part->bonds.at(0).name, "bond7");
}

TEST(HostTools, DevicesOfRdmaCountersComeFromTheirPath) {
  EXPECT_EQ(
      ToldFile("hw-counters/mlx5_2/ports/1/hw_counters/local_ack_timeout_err").only().counters.at(0).device,
      "mlx5_2");
  EXPECT_EQ(ToldFile("hw-counters/tail.txt").only().counters.at(0).device, "rxe0");
  EXPECT_EQ(ToldFile("hw-counters/relative.txt").only().counters.at(0).device, "");
  EXPECT_EQ(ToldFile("rdma-statistic/bound.txt").only().counters.at(0).device, "mlx5_2/1 cntn 4");
}

TEST(HostTools, TheFirstCounterThatRepeatsBeginsTheNextDump) {
  const std::string dump = "rx_prio0_packets: 1\ntx_prio0_packets: 2\n";
  const TextReading reading = read_text(dump + dump, "twice.txt", host_tool_formats());
  ASSERT_EQ(reading.documents.size(), 2U);
  EXPECT_EQ(reading.documents[1].first_line, 3);
}

TEST(HostTools, ForeignLinesAreLeftAlone) {
  const std::string text =
      "cqe_errors: 0\ndrops: 0\nfinished in 12 s\n{\"a\": [1, 2}\nretry: 7\nname: 12\nMTU 1024: 0.63 Gb/s\n"
      "tx_rate: fast\nenabled: 1\nlink up 3\nprio 3 is lossless\nhost ieee something else\n";
  const TextReading reading = read_text(text, "notes.txt", host_tool_formats());
  EXPECT_TRUE(reading.documents.empty())
      << (reading.documents.empty() ? "" : reading.documents.front().format);
  EXPECT_EQ(reading.report.unread, 12);
}

}  // namespace
}  // namespace rocetune::evidence
