#include "tests/agent/diagnose/told_fixtures.h"

namespace rocetune::diagnose {
namespace {

const Text kNothing{"notes.txt", "it is slow since Monday\n"};

Text counters(const std::string& name, const std::string& lines) {
  return {name, "NIC statistics:\n" + lines};
}

std::vector<TextFixture> link_texts() {
  const auto before = text_fixture("ethtool-stats/mlx5-prompt.before.txt");
  return {
      {"LINK-1",
       Kind::found,
       {before, text_fixture("ethtool-stats/mlx5-prompt.after10s.txt")},
       "one lane holds nearly all"},
      {"LINK-1",
       Kind::found,
       {counters("a.t0.txt", "rx_pcs_symbol_err_phy: 10\nrx_packets_phy: 5\n"),
        counters("a.t1.txt", "rx_pcs_symbol_err_phy: 14\nrx_packets_phy: 500000000\n")},
       "damages frames"},
      {"LINK-1",
       Kind::found,
       {counters("old.txt", "rx_crc_errors_phy: 77000\nrx_packets_phy: 900000\n")},
       "totals since boot"},
      {"LINK-1",
       Kind::found,
       {counters("x520.txt", "rx_crc_errors: 5000\ntx_flow_control_xoff: 0\n")},
       "damages frames"},
      {"LINK-1",
       Kind::found,
       {counters("once.txt", "rx_symbol_err_phy: 3\nrx_packets_phy: 90000000000\n")},
       "too few",
       Severity::info},
      {"LINK-1", Kind::found, {before}, "FEC corrects nearly all its bits on one lane", Severity::info},
      {"LINK-1", Kind::found, {text_fixture("ethtool-fec/statistics.txt")}, "cannot correct", Severity::info},
      {"LINK-1",
       Kind::found,
       {{"fec.before.txt", "uncorrectable_blocks: 3\n"}, {"fec.after.txt", "uncorrectable_blocks: 9\n"}},
       "cannot correct"},
      // Corrected bits on all lanes alike, as on every PAM4 link.
      {"LINK-1",
       Kind::passed,
       {counters("pam4.txt",
                 "rx_symbol_err_phy: 0\nrx_corrected_bits_phy: 812345678\n"
                 "rx_err_lane_0_phy: 200000000\nrx_err_lane_1_phy: 210000000\n"
                 "rx_err_lane_2_phy: 190000000\nrx_err_lane_3_phy: 212345678\n")}},
      {"LINK-1", Kind::not_checked, {kNothing}, "no symbol"},
      {"LINK-1", Kind::not_checked, {counters("v.txt", "rx_queue_0_drops: 9\n")}, "no symbol"},
      {"LINK-2",
       Kind::found,
       {counters("n.before.txt", "link_down_events_phy: 3\n"),
        counters("n.after1h.txt", "link_down_events_phy: 12\n")},
       "9 times in 3.6e+03 s"},
      {"LINK-2",
       Kind::found,
       {{"hw.node1.before.txt", "link_downed 1\nsent_pkts 5\n"},
        {"hw.node1.after.txt", "link_downed 2\nsent_pkts 9\n"}},
       "went down once"},
      {"LINK-2", Kind::found, {counters("n.txt", "link_down_events_phy: 3\n")}, "since boot", Severity::info},
      {"LINK-2", Kind::found, {text_fixture("ethtool-link/fell-back.txt")}, "although both ends offer"},
      {"LINK-2", Kind::passed, {text_fixture("ethtool-link/grep.txt")}},
      {"LINK-2", Kind::not_checked, {text_fixture("ethtool-link/down.txt")}, "neither link-down counters"},
      {"LAG-1", Kind::found, {text_fixture("bonding/member-down.txt")}, "1 of 2 members are down"},
      {"LAG-1",
       Kind::found,
       {{"bond.txt",
         "Bonding Mode: IEEE 802.3ad Dynamic link aggregation\nActive Aggregator Info:\n"
         "Aggregator ID: 2\nNumber of ports: 1\nPartner Mac Address: 00:00:00:00:00:00\n"
         "Slave Interface: a\nMII Status: up\nAggregator ID: 1\nSlave Interface: b\n"
         "MII Status: up\nAggregator ID: 2\n"}},
       "in 2 aggregators"},
      {"LAG-1",
       Kind::found,
       {{"b.txt",
         "Bonding Mode: IEEE 802.3ad Dynamic link aggregation\nSlave Interface: a\nMII Status: up\n"
         "Partner Churn State: churned\nSlave Interface: b\nMII Status: up\n"}},
       "1 of 2 members are churned"},
      {"LAG-1", Kind::passed, {text_fixture("bonding/lacp-up.txt")}},
      {"LAG-1", Kind::not_checked, {text_fixture("bonding/active-backup.txt")}, "no 802.3ad bond"},
  };
}

std::vector<TextFixture> pause_texts() {
  const auto dcb = [](const char* name, int sent, int received) {
    return Text{name, "prio-pfc 0:off 1:off 2:off 3:on 4:off 5:off 6:off 7:off\nrequests 0:0 1:0 2:0 3:" +
                          std::to_string(sent) + " 4:0 5:0 6:0 7:0\nindications 0:0 1:0 2:0 3:" +
                          std::to_string(received) + " 4:0 5:0 6:0 7:0\n"};
  };
  const std::string duration_0 =
      "rx_prio3_pause: 0\nrx_prio3_pause_duration: 0\ntx_prio3_pause: 0\ntx_prio3_pause_duration: 0\n";
  return {
      {"PFC-1",
       Kind::found,
       {counters("g.txt", "tx_global_pause: 1266552\nrx_global_pause: 0\n")},
       "802.3x pause is at work"},
      {"PFC-1", Kind::found, {text_fixture("ethtool-stats/ixgbe-dos.txt")}, "802.3x pause is at work"},
      {"PFC-1", Kind::found, {counters("g.txt", "tx_global_pause: 2\n")}, "at work", Severity::info},
      {"PFC-1", Kind::passed, {counters("g.txt", "tx_global_pause: 0\nrx_global_pause: 0\n")}},
      {"PFC-1", Kind::not_checked, {counters("g.txt", "rx_prio3_pause: 8\n")}, "neither pause settings"},
      {"PFC-5",
       Kind::found,
       {counters("s.before.txt", duration_0),
        counters("s.after10s.txt",
                 "rx_prio3_pause: 40\nrx_prio3_pause_duration: 9990000\n"
                 "tx_prio3_pause: 0\ntx_prio3_pause_duration: 0\n")},
       "the pauser is downstream",
       Severity::critical},
      {"PFC-5",
       Kind::found,
       {counters("s.t0.txt", "tx_pause_storm_error_events: 0\n"),
        counters("s.t1.txt", "tx_pause_storm_error_events: 2\n")},
       "own watchdog",
       Severity::critical},
      {"PFC-5",
       Kind::passed,
       {counters("s.before.txt", duration_0), counters("s.after10s.txt",
                                                       "rx_prio3_pause: 4\nrx_prio3_pause_duration: 900\n"
                                                       "tx_prio3_pause: 0\ntx_prio3_pause_duration: 0\n")}},
      // A day of pause in one dump is no storm: since when it counts is not known.
      {"PFC-5",
       Kind::not_checked,
       {counters("s.txt", "rx_prio3_pause: 40\nrx_prio3_pause_duration: 86400000000\n")},
       "take a second dump"},
      {"PFC-5",
       Kind::not_checked,
       {dcb("a.before.txt", 0, 0), dcb("a.after60s.txt", 90000, 0)},
       "paused time"},
      {"PFC-6",
       Kind::found,
       {dcb("a.before.txt", 48211, 0), dcb("a.after60s.txt", 97390, 0)},
       "820 frames a second"},
      {"PFC-6", Kind::found, {dcb("a.before.txt", 0, 48211), dcb("a.after60s.txt", 0, 97390)}, "its victim"},
      {"PFC-6", Kind::found, {text_fixture("ethtool-stats/bnxt.txt")}, "since boot or reset"},
      {"PFC-6", Kind::found, {text_fixture("ethtool-pause/statistics.txt")}, "holds the whole link"},
      {"PFC-6",
       Kind::found,
       {counters("m.before.txt", "rx_pause_ctrl_phy: 1\n"),
        counters("m.after.txt", "rx_pause_ctrl_phy: 9001\n")},
       "its victim"},
      {"PFC-6",
       Kind::found,
       {counters("p.before.txt", "tx_prio4_pause: 0\nrx_out_of_buffer: 0\n"),
        counters("p.after2s.txt", "tx_prio4_pause: 900\nrx_out_of_buffer: 55\n")},
       "rx_out_of_buffer points inside"},
      {"PFC-6", Kind::passed, {text_fixture("ethtool-stats/ice.txt")}},
      {"PFC-6", Kind::passed, {counters("q.before.txt", duration_0), counters("q.after10s.txt", duration_0)}},
      {"PFC-6", Kind::not_checked, {counters("n.txt", "rx_prio0_packets: 9\n")}, "no pause counters"},
      {"PFC-7",
       Kind::found,
       {counters("d.before.txt", duration_0),
        counters("d.after10s.txt",
                 "rx_prio3_pause: 40\nrx_prio3_pause_duration: 9990000\n"
                 "tx_prio3_pause: 40\ntx_prio3_pause_duration: 9980000\n")},
       "cannot prove",
       Severity::info},
      {"PFC-7", Kind::passed, {counters("d.before.txt", duration_0), counters("d.after10s.txt", duration_0)}},
      {"PFC-7", Kind::not_checked, {kNothing}, "no pause durations"},
      {"HOST-2",
       Kind::found,
       {counters("h.txt", "tx_global_pause: 500000\nrx_discards_phy: 0\n")},
       "drops nothing",
       Severity::info},
      {"HOST-2", Kind::passed, {counters("h.txt", "tx_global_pause: 5\nrx_discards_phy: 0\n")}},
      {"HOST-2",
       Kind::not_checked,
       {counters("h.txt", "tx_global_pause: 500000\n")},
       "pause sent beside drop counters"},
  };
}

std::vector<TextFixture> ecn_texts() {
  const auto rdma = [](const char* name, const std::string& lines) { return Text{name, lines}; };
  return {
      {"ECN-2",
       Kind::found,
       {rdma("hw.a.before.txt", "rp_cnp_ignored 0\nrp_cnp_handled 0\n"),
        rdma("hw.a.after.txt", "rp_cnp_ignored 4\nrp_cnp_handled 0\n")},
       "are ignored"},
      {"ECN-2", Kind::found, {rdma("hw.txt", "rp_cnp_ignored: 81234\nrp_cnp_handled: 0\n")}, "since boot"},
      {"ECN-2", Kind::found, {text_fixture("hw-counters/relative.txt")}, "are ignored", Severity::info},
      {"ECN-2", Kind::passed, {rdma("hw.txt", "rp_cnp_ignored: 0\nrp_cnp_handled: 12\n")}},
      {"ECN-2", Kind::not_checked, {kNothing}, "no counters of CNPs"},
      {"ECN-3",
       Kind::found,
       {rdma("r.before.txt", "np_ecn_marked_roce_packets 5\nnp_cnp_sent 7\n"),
        rdma("r.after.txt", "np_ecn_marked_roce_packets 90005\nnp_cnp_sent 7\n")},
       "no CNP is sent"},
      {"ECN-3",
       Kind::found,
       {{"stat.txt", "link bnxt_re0/1 rx_ecn_marked_pkts 41000 tx_cnp_pkts 0\n"}},
       "no CNP is sent"},
      {"ECN-3",
       Kind::found,
       {rdma("hw.receiver.before.txt", "np_cnp_sent 0\n"),
        rdma("hw.receiver.after.txt", "np_cnp_sent 5000\n"),
        rdma("hw.sender1.before.txt", "rp_cnp_handled 3\n"),
        rdma("hw.sender1.after.txt", "rp_cnp_handled 3\n")},
       "none was handled"},
      {"ECN-3",
       Kind::found,
       {counters("eth.before.txt", "rx_prio3_pause: 0\nrx_prio3_pause_duration: 0\n"),
        counters("eth.after10s.txt", "rx_prio3_pause: 5000\nrx_prio3_pause_duration: 2000000\n"),
        rdma("hw.before.txt", "rp_cnp_handled 0\n"), rdma("hw.after10s.txt", "rp_cnp_handled 0\n")},
       "PFC acts where ECN should"},
      // More CNPs than marks: some firmware does not count marks.
      {"ECN-3", Kind::passed, {rdma("hw.txt", "np_ecn_marked_roce_packets 0\nnp_cnp_sent 1333\n")}},
      {"ECN-3",
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
  const Text in_use{"rdma.txt", "rx_write_requests: 812\nout_of_buffer: 0\n"};
  const Text qos{"mlnx_qos.txt", "Priority trust state: dscp\nprio:3 dscp:26,\nenabled 0 0 0 1 0 0 0 0\n"};
  const auto pfc_of = [](const char* name, int priority) {
    std::string line = "prio-pfc";
    for (int p = 0; p < 8; ++p) line += " " + std::to_string(p) + (p == priority ? ":on" : ":off");
    return Text{name, line + "\n"};
  };
  return {
      {"MAP-6",
       Kind::found,
       {prio("e.before.txt", 0, 0), prio("e.after.txt", 5000000, 0), in_use},
       "no class of its own"},
      {"MAP-6",
       Kind::found,
       {prio("e.before.txt", 0, 0), prio("e.after.txt", 5000000, 12), qos, in_use},
       "carries nothing",
       Severity::critical},
      {"MAP-6", Kind::found, {prio("e.txt", 11600000000, 0), qos, in_use}, "since boot or reset"},
      {"MAP-6", Kind::passed, {prio("e.before.txt", 0, 0), prio("e.after.txt", 40000, 5000000), qos, in_use}},
      {"MAP-6",
       Kind::not_checked,
       {prio("e.before.txt", 0, 0), prio("e.after.txt", 5000000, 0)},
       "RDMA traffic"},
      {"MAP-6",
       Kind::not_checked,
       {prio("e.before.txt", 0, 0), prio("e.after.txt", 5000000, 4000000), in_use},
       "no RoCE class known"},
      {"MAP-6", Kind::not_checked, {in_use}, "not proven"},
      {"MAP-3",
       Kind::found,
       {pfc_of("hostA.pfc.txt", 3), pfc_of("hostB.pfc.txt", 4)},
       "hostA has {3}, hostB has {4}"},
      {"MAP-3",
       Kind::found,
       {{"node1.app.json", "{\"dscp_prio\":[[26,3]]}\n"}, {"node2.app.json", "{}\n"}},
       "no entry"},
      {"MAP-3",
       Kind::found,
       {pfc_of("node1.pfc.txt", 3),
        pfc_of("node2.pfc.txt", 3),
        {"x.txt", "root@node3:~# mlnx_qos -i eth0\nenabled 0 0 0 0 0 1 0 0\n"}},
       "node3 has {5}, node1, node2 have {3}"},
      // Before and after on one host are no two hosts.
      {"MAP-3",
       Kind::not_checked,
       {pfc_of("hostA.pfc.before.txt", 4), pfc_of("hostA.pfc.after.txt", 3)},
       "two named hosts"},
      {"MAP-3",
       Kind::passed,
       {pfc_of("hostA.pfc.before.txt", 4), pfc_of("hostA.pfc.after.txt", 3), pfc_of("hostB.pfc.txt", 3)}},
  };
}

}  // namespace

std::vector<TextFixture> told_fixtures() {
  std::vector<TextFixture> out = link_texts();
  for (auto family : {pause_texts(), ecn_texts(), class_texts(), told_loss_fixtures()}) {
    for (TextFixture& fixture : family) out.push_back(std::move(fixture));
  }
  return out;
}

}  // namespace rocetune::diagnose
