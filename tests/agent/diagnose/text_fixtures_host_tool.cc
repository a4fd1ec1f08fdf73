#include "tests/agent/diagnose/text_fixtures.h"

namespace rocetune::diagnose {
namespace {

TextFile counters(const std::string& name, const std::string& lines) {
  return {name, "NIC statistics:\n" + lines};
}

std::vector<TextFixture> link_texts() {
  const auto before = from_texts("ethtool-stats/mlx5-prompt.before.txt");
  return {
      {"LINK-1",
       "The link damages no frames (pasted counters)",
       Kind::found,
       {before, from_texts("ethtool-stats/mlx5-prompt.after10s.txt")},
       "one lane holds nearly all"},
      {"LINK-1",
       "The link damages no frames (pasted counters)",
       Kind::found,
       {counters("a.t0.txt", "rx_pcs_symbol_err_phy: 10\nrx_packets_phy: 5\n"),
        counters("a.t1.txt", "rx_pcs_symbol_err_phy: 14\nrx_packets_phy: 500000000\n")},
       "damages frames"},
      {"LINK-1",
       "The link damages no frames (pasted counters)",
       Kind::found,
       {counters("old.txt", "rx_crc_errors_phy: 77000\nrx_packets_phy: 900000\n")},
       "totals since boot"},
      {"LINK-1",
       "The link damages no frames (pasted counters)",
       Kind::found,
       {counters("x520.txt", "rx_crc_errors: 5000\ntx_flow_control_xoff: 0\n")},
       "damages frames"},
      {"LINK-1",
       "The link damages no frames (pasted counters)",
       Kind::found,
       {counters("once.txt", "rx_symbol_err_phy: 3\nrx_packets_phy: 90000000000\n")},
       "too few",
       Severity::info},
      {"LINK-1",
       "The link damages no frames (pasted counters)",
       Kind::found,
       {before},
       "FEC corrects nearly all its bits on one lane",
       Severity::info},
      {"LINK-1",
       "The link damages no frames (pasted counters)",
       Kind::found,
       {from_texts("ethtool-fec/statistics.txt")},
       "cannot correct",
       Severity::info},
      {"LINK-1",
       "The link damages no frames (pasted counters)",
       Kind::found,
       {{"fec.before.txt", "uncorrectable_blocks: 3\n"}, {"fec.after.txt", "uncorrectable_blocks: 9\n"}},
       "cannot correct"},
      // Corrected bits on all lanes alike, as on every PAM4 link.
      {"LINK-1",
       "The link damages no frames (pasted counters)",
       Kind::passed,
       {counters("pam4.txt",
                 "rx_symbol_err_phy: 0\nrx_corrected_bits_phy: 812345678\n"
                 "rx_err_lane_0_phy: 200000000\nrx_err_lane_1_phy: 210000000\n"
                 "rx_err_lane_2_phy: 190000000\nrx_err_lane_3_phy: 212345678\n")}},
      {"LINK-1", "The link damages no frames (pasted counters)", Kind::not_checked, {kNothing}, "no symbol"},
      {"LINK-1",
       "The link damages no frames (pasted counters)",
       Kind::not_checked,
       {counters("v.txt", "rx_queue_0_drops: 9\n")},
       "no symbol"},
      {"LINK-2",
       "The link stays up at full speed (pasted counters and settings)",
       Kind::found,
       {counters("n.before.txt", "link_down_events_phy: 3\n"),
        counters("n.after1h.txt", "link_down_events_phy: 12\n")},
       "9 times in 3.6e+03 s"},
      {"LINK-2",
       "The link stays up at full speed (pasted counters and settings)",
       Kind::found,
       {{"hw.node1.before.txt", "link_downed 1\nsent_pkts 5\n"},
        {"hw.node1.after.txt", "link_downed 2\nsent_pkts 9\n"}},
       "went down once"},
      {"LINK-2",
       "The link stays up at full speed (pasted counters and settings)",
       Kind::found,
       {counters("n.txt", "link_down_events_phy: 37\n")},
       "since boot",
       Severity::info},
      {"LINK-2",
       "The link stays up at full speed (pasted counters and settings)",
       Kind::found,
       {from_texts("ethtool-link/fell-back.txt")},
       "although both ends offer"},
      {"LINK-2",
       "The link stays up at full speed (pasted counters and settings)",
       Kind::passed,
       {from_texts("ethtool-link/grep.txt")}},
      {"LINK-2",
       "The link stays up at full speed (pasted counters and settings)",
       Kind::not_checked,
       {from_texts("ethtool-link/down.txt")},
       "neither link-down counters"},
      {"LAG-1",
       "LACP is up on every member of a bond (pasted /proc/net/bonding)",
       Kind::found,
       {from_texts("bonding/member-down.txt")},
       "1 of 2 members are down"},
      {"LAG-1",
       "LACP is up on every member of a bond (pasted /proc/net/bonding)",
       Kind::found,
       {{"bond.txt",
         "Bonding Mode: IEEE 802.3ad Dynamic link aggregation\nActive Aggregator Info:\n"
         "Aggregator ID: 2\nNumber of ports: 1\nPartner Mac Address: 00:00:00:00:00:00\n"
         "Slave Interface: a\nMII Status: up\nAggregator ID: 1\nSlave Interface: b\n"
         "MII Status: up\nAggregator ID: 2\n"}},
       "in 2 aggregators"},
      {"LAG-1",
       "LACP is up on every member of a bond (pasted /proc/net/bonding)",
       Kind::found,
       {{"b.txt",
         "Bonding Mode: IEEE 802.3ad Dynamic link aggregation\nSlave Interface: a\nMII Status: up\n"
         "Partner Churn State: churned\nSlave Interface: b\nMII Status: up\n"}},
       "1 of 2 members are churned"},
      {"LAG-1",
       "LACP is up on every member of a bond (pasted /proc/net/bonding)",
       Kind::passed,
       {from_texts("bonding/lacp-up.txt")}},
      {"LAG-1",
       "LACP is up on every member of a bond (pasted /proc/net/bonding)",
       Kind::not_checked,
       {from_texts("bonding/active-backup.txt")},
       "no 802.3ad bond"},
  };
}

std::vector<TextFixture> ecn_texts() {
  const auto rdma = [](const char* name, const std::string& lines) { return TextFile{name, lines}; };
  return {
      {"ECN-2",
       "CNPs that arrive are obeyed (pasted counters)",
       Kind::found,
       {rdma("hw.a.before.txt", "rp_cnp_ignored 0\nrp_cnp_handled 0\n"),
        rdma("hw.a.after.txt", "rp_cnp_ignored 4\nrp_cnp_handled 0\n")},
       "are ignored"},
      {"ECN-2",
       "CNPs that arrive are obeyed (pasted counters)",
       Kind::found,
       {rdma("hw.txt", "rp_cnp_ignored: 81234\nrp_cnp_handled: 0\n")},
       "since boot"},
      {"ECN-2",
       "CNPs that arrive are obeyed (pasted counters)",
       Kind::found,
       {from_texts("hw-counters/relative.txt")},
       "are ignored",
       Severity::info},
      {"ECN-2",
       "CNPs that arrive are obeyed (pasted counters)",
       Kind::passed,
       {rdma("hw.txt", "rp_cnp_ignored: 0\nrp_cnp_handled: 12\n")}},
      {"ECN-2",
       "CNPs that arrive are obeyed (pasted counters)",
       Kind::not_checked,
       {kNothing},
       "no counters of CNPs"},
      {"ECN-3",
       "Marks lead to CNPs, and CNPs to their senders (pasted counters)",
       Kind::found,
       {rdma("r.before.txt", "np_ecn_marked_roce_packets 5\nnp_cnp_sent 7\n"),
        rdma("r.after.txt", "np_ecn_marked_roce_packets 90005\nnp_cnp_sent 7\n")},
       "no CNP is sent"},
      {"ECN-3",
       "Marks lead to CNPs, and CNPs to their senders (pasted counters)",
       Kind::found,
       {{"stat.txt", "link bnxt_re0/1 rx_ecn_marked_pkts 41000 tx_cnp_pkts 0\n"}},
       "no CNP is sent"},
      {"ECN-3",
       "Marks lead to CNPs, and CNPs to their senders (pasted counters)",
       Kind::found,
       {rdma("hw.receiver.before.txt", "np_cnp_sent 0\n"),
        rdma("hw.receiver.after.txt", "np_cnp_sent 5000\n"),
        rdma("hw.sender1.before.txt", "rp_cnp_handled 3\n"),
        rdma("hw.sender1.after.txt", "rp_cnp_handled 3\n")},
       "none was handled"},
      {"ECN-3",
       "Marks lead to CNPs, and CNPs to their senders (pasted counters)",
       Kind::found,
       {counters("eth.before.txt", "rx_prio3_pause: 0\nrx_prio3_pause_duration: 0\n"),
        counters("eth.after10s.txt", "rx_prio3_pause: 5000\nrx_prio3_pause_duration: 2000000\n"),
        rdma("hw.before.txt", "rp_cnp_handled 0\n"), rdma("hw.after10s.txt", "rp_cnp_handled 0\n")},
       "PFC acts where ECN should"},
      // More CNPs than marks: some firmware does not count marks.
      {"ECN-3",
       "Marks lead to CNPs, and CNPs to their senders (pasted counters)",
       Kind::passed,
       {rdma("hw.txt", "np_ecn_marked_roce_packets 0\nnp_cnp_sent 1333\n")}},
      {"ECN-3",
       "Marks lead to CNPs, and CNPs to their senders (pasted counters)",
       Kind::not_checked,
       {rdma("hw.txt", "np_ecn_marked_roce_packets 0\nnp_cnp_sent 0\n")},
       "that moved"},
  };
}

std::vector<TextFixture> class_texts() {
  const auto prio = [](const char* name, long zero, long three) {
    std::string lines;
    for (int p = 0; p < 8; ++p) {
      const std::string n = std::to_string(p == 0 ? zero : p == 3 ? three : 0);
      lines += "rx_prio" + std::to_string(p) + "_packets: " + n + "\ntx_prio" + std::to_string(p) +
               "_packets: " + n + "\n";
    }
    return counters(name, lines);
  };
  const TextFile in_use{"rdma.txt", "rx_write_requests: 812\nout_of_buffer: 0\n"};
  const TextFile qos{"mlnx_qos.txt",
                     "Priority trust state: dscp\nprio:3 dscp:26,\nenabled 0 0 0 1 0 0 0 0\n"};
  const auto pfc_of = [](const char* name, int priority) {
    std::string line = "prio-pfc";
    for (int p = 0; p < 8; ++p) line += " " + std::to_string(p) + (p == priority ? ":on" : ":off");
    return TextFile{name, line + "\n"};
  };
  return {
      {"MAP-6",
       "RoCE moves in its class (pasted counters)",
       Kind::found,
       {prio("e.before.txt", 0, 0), prio("e.after.txt", 5000000, 0), in_use},
       "no class of its own"},
      {"MAP-6",
       "RoCE moves in its class (pasted counters)",
       Kind::found,
       {prio("e.before.txt", 0, 0), prio("e.after.txt", 5000000, 12), qos, in_use},
       "carries nothing",
       Severity::critical},
      {"MAP-6",
       "RoCE moves in its class (pasted counters)",
       Kind::found,
       {prio("e.txt", 11600000000, 0), qos, in_use},
       "since boot or reset"},
      {"MAP-6",
       "RoCE moves in its class (pasted counters)",
       Kind::passed,
       {prio("e.before.txt", 0, 0), prio("e.after.txt", 40000, 5000000), qos, in_use}},
      {"MAP-6",
       "RoCE moves in its class (pasted counters)",
       Kind::not_checked,
       {prio("e.before.txt", 0, 0), prio("e.after.txt", 5000000, 0)},
       "RDMA traffic"},
      {"MAP-6",
       "RoCE moves in its class (pasted counters)",
       Kind::not_checked,
       {prio("e.before.txt", 0, 0), prio("e.after.txt", 5000000, 4000000), in_use},
       "no RoCE class known"},
      {"MAP-6", "RoCE moves in its class (pasted counters)", Kind::not_checked, {in_use}, "not proven"},
      {"MAP-3",
       "All hosts have one class map",
       Kind::found,
       {pfc_of("hostA.pfc.txt", 3), pfc_of("hostB.pfc.txt", 4)},
       "hostA has {3}, hostB has {4}"},
      {"MAP-3",
       "All hosts have one class map",
       Kind::found,
       {{"node1.app.json", "{\"dscp_prio\":[[26,3]]}\n"}, {"node2.app.json", "{}\n"}},
       "no entry"},
      {"MAP-3",
       "All hosts have one class map",
       Kind::found,
       {pfc_of("node1.pfc.txt", 3),
        pfc_of("node2.pfc.txt", 3),
        {"x.txt", "root@node3:~# mlnx_qos -i eth0\nenabled 0 0 0 0 0 1 0 0\n"}},
       "node3 has {5}, node1, node2 have {3}"},
      // Before and after on one host are no two hosts.
      {"MAP-3",
       "All hosts have one class map",
       Kind::not_checked,
       {pfc_of("hostA.pfc.before.txt", 4), pfc_of("hostA.pfc.after.txt", 3)},
       "two named hosts"},
      {"MAP-3",
       "All hosts have one class map",
       Kind::passed,
       {pfc_of("hostA.pfc.before.txt", 4), pfc_of("hostA.pfc.after.txt", 3), pfc_of("hostB.pfc.txt", 3)}},
  };
}

}  // namespace

std::vector<TextFixture> host_tool_text_fixtures() {
  std::vector<TextFixture> out = link_texts();
  for (auto family : {pause_text_fixtures(), ecn_texts(), class_texts(), loss_text_fixtures()}) {
    for (TextFixture& fixture : family) out.push_back(std::move(fixture));
  }
  return out;
}

}  // namespace rocetune::diagnose
