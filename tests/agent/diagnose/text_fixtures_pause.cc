#include "tests/agent/diagnose/text_fixtures.h"

namespace rocetune::diagnose {
namespace {

TextFile statistics(const std::string& name, const std::string& lines) {
  return {name, "NIC statistics:\n" + lines};
}

// All priorities of an mlx5 port, RDMA in `busy`, pause rows for `paused` (none: -1).
TextFile priorities(const std::string& name, int busy, int paused) {
  std::string lines = "rx_pause_ctrl_phy: 0\nrx_vport_rdma_unicast_packets: 70000000000\n";
  for (int p = 0; p < 8; ++p) {
    const std::string prio = "prio" + std::to_string(p);
    const std::string packets = p == busy ? "70000000000" : "12";
    lines += "rx_" + prio + "_packets: " + packets + "\ntx_" + prio + "_packets: " + packets + "\n";
    if (p == paused) lines += "rx_" + prio + "_pause: 0\ntx_" + prio + "_pause: 0\n";
  }
  return statistics(name, lines);
}

}  // namespace

std::vector<TextFixture> pause_text_fixtures() {
  const auto dcb = [](const char* name, int sent, int received) {
    return TextFile{name, "prio-pfc 0:off 1:off 2:off 3:on 4:off 5:off 6:off 7:off\nrequests 0:0 1:0 2:0 3:" +
                              std::to_string(sent) + " 4:0 5:0 6:0 7:0\nindications 0:0 1:0 2:0 3:" +
                              std::to_string(received) + " 4:0 5:0 6:0 7:0\n"};
  };
  const std::string duration_0 =
      "rx_prio3_pause: 0\nrx_prio3_pause_duration: 0\ntx_prio3_pause: 0\ntx_prio3_pause_duration: 0\n";
  const char* const rows = "PFC is in force where RoCE travels (rows of pasted counters)";
  return {
      {"MAP-5",
       rows,
       Kind::found,
       {priorities("m.txt", 0, 3)},
       "priority 0, and PFC is off there",
       Severity::warning},
      {"MAP-5", rows, Kind::found, {priorities("m.txt", 4, -1)}, "here none", Severity::info},
      {"MAP-5",
       rows,
       Kind::found,
       {priorities("m.txt", 3, -1),
        {"qos.txt",
         "PFC configuration:\n\tpriority    0   1   2   3   4   5   6   7\n"
         "\tenabled     0   0   0   1   0   0   0   0\n"}},
       "lists no pause counters",
       Severity::warning},
      {"MAP-5", rows, Kind::passed, {priorities("m.txt", 3, 3)}},
      {"MAP-5",
       rows,
       Kind::not_checked,
       {statistics("m.txt", "rx_prio3_packets: 900000000\n")},
       "whole list"},
      {"PFC-1",
       "802.3x pause is not at work (pasted counters)",
       Kind::found,
       {statistics("g.txt", "tx_global_pause: 1266552\nrx_global_pause: 0\n")},
       "802.3x pause is at work"},
      {"PFC-1",
       "802.3x pause is not at work (pasted counters)",
       Kind::found,
       {from_texts("ethtool-stats/ixgbe-dos.txt")},
       "802.3x pause is at work"},
      {"PFC-1",
       "802.3x pause is not at work (pasted counters)",
       Kind::found,
       {statistics("g.txt", "tx_global_pause: 2\n")},
       "at work",
       Severity::info},
      {"PFC-1",
       "802.3x pause is not at work (pasted counters)",
       Kind::passed,
       {statistics("g.txt", "tx_global_pause: 0\nrx_global_pause: 0\n")}},
      {"PFC-1",
       "802.3x pause is not at work (pasted counters)",
       Kind::not_checked,
       {statistics("g.txt", "rx_prio3_pause: 8\n")},
       "neither pause settings"},
      {"PFC-5",
       "No pause storm (pasted counters)",
       Kind::found,
       {statistics("s.before.txt", duration_0),
        statistics("s.after10s.txt",
                   "rx_prio3_pause: 40\nrx_prio3_pause_duration: 9990000\n"
                   "tx_prio3_pause: 0\ntx_prio3_pause_duration: 0\n")},
       "the pauser is downstream",
       Severity::critical},
      {"PFC-5",
       "No pause storm (pasted counters)",
       Kind::found,
       {statistics("s.t0.txt", "tx_pause_storm_error_events: 0\n"),
        statistics("s.t1.txt", "tx_pause_storm_error_events: 2\n")},
       "own watchdog",
       Severity::critical},
      {"PFC-5",
       "No pause storm (pasted counters)",
       Kind::passed,
       {statistics("s.before.txt", duration_0),
        statistics("s.after10s.txt",
                   "rx_prio3_pause: 4\nrx_prio3_pause_duration: 900\n"
                   "tx_prio3_pause: 0\ntx_prio3_pause_duration: 0\n")}},
      // A day of pause in one dump is no storm: since when it counts is not known.
      {"PFC-5",
       "No pause storm (pasted counters)",
       Kind::not_checked,
       {statistics("s.txt", "rx_prio3_pause: 40\nrx_prio3_pause_duration: 86400000000\n")},
       "take a second dump"},
      {"PFC-5",
       "No pause storm (pasted counters)",
       Kind::not_checked,
       {dcb("a.before.txt", 0, 0), dcb("a.after60s.txt", 90000, 0)},
       "paused time"},
      {"PFC-6",
       "Pause is rare, and its direction says whose it is (pasted counters)",
       Kind::found,
       {dcb("a.before.txt", 48211, 0), dcb("a.after60s.txt", 97390, 0)},
       "820 frames a second"},
      {"PFC-6",
       "Pause is rare, and its direction says whose it is (pasted counters)",
       Kind::found,
       {dcb("a.before.txt", 0, 48211), dcb("a.after60s.txt", 0, 97390)},
       "its victim"},
      {"PFC-6",
       "Pause is rare, and its direction says whose it is (pasted counters)",
       Kind::found,
       {from_texts("ethtool-stats/bnxt.txt")},
       "since boot or reset"},
      {"PFC-6",
       "Pause is rare, and its direction says whose it is (pasted counters)",
       Kind::found,
       {from_texts("ethtool-pause/statistics.txt")},
       "holds the whole link",
       Severity::info},
      {"PFC-6",
       "Pause is rare, and its direction says whose it is (pasted counters)",
       Kind::found,
       {statistics("m.before.txt", "rx_pause_ctrl_phy: 1\n"),
        statistics("m.after.txt", "rx_pause_ctrl_phy: 9001\n")},
       "its victim"},
      {"PFC-6",
       "Pause is rare, and its direction says whose it is (pasted counters)",
       Kind::found,
       {statistics("p.before.txt", "tx_prio4_pause: 0\nrx_out_of_buffer: 0\n"),
        statistics("p.after2s.txt", "tx_prio4_pause: 900\nrx_out_of_buffer: 55\n")},
       "rx_out_of_buffer points inside"},
      {"PFC-6",
       "Pause is rare, and its direction says whose it is (pasted counters)",
       Kind::passed,
       {from_texts("ethtool-stats/ice.txt")}},
      {"PFC-6",
       "Pause is rare, and its direction says whose it is (pasted counters)",
       Kind::passed,
       {statistics("q.before.txt", duration_0), statistics("q.after10s.txt", duration_0)}},
      {"PFC-6",
       "Pause is rare, and its direction says whose it is (pasted counters)",
       Kind::not_checked,
       {statistics("n.txt", "rx_prio0_packets: 9\n")},
       "no pause counters"},
      {"PFC-7",
       "No sign of a PFC deadlock (pasted counters)",
       Kind::found,
       {statistics("d.before.txt", duration_0),
        statistics("d.after10s.txt",
                   "rx_prio3_pause: 40\nrx_prio3_pause_duration: 9990000\n"
                   "tx_prio3_pause: 40\ntx_prio3_pause_duration: 9980000\n")},
       "cannot prove",
       Severity::info},
      {"PFC-7",
       "No sign of a PFC deadlock (pasted counters)",
       Kind::found,
       {statistics("g.before.txt", "rx_global_pause_duration: 0\ntx_global_pause_duration: 5\n"),
        statistics("g.after1s.txt", "rx_global_pause_duration: 999000\ntx_global_pause_duration: 998005\n")},
       "cannot prove",
       Severity::info},
      {"PFC-7",
       "No sign of a PFC deadlock (pasted counters)",
       Kind::passed,
       {statistics("d.before.txt", duration_0), statistics("d.after10s.txt", duration_0)}},
      {"PFC-7",
       "No sign of a PFC deadlock (pasted counters)",
       Kind::not_checked,
       {kNothing},
       "no pause durations"},
      {"HOST-2",
       "No NIC pauses its link while it drops nothing (pasted counters)",
       Kind::found,
       {statistics("h.txt", "tx_global_pause: 500000\nrx_discards_phy: 0\n")},
       "drops nothing",
       Severity::info},
      {"HOST-2",
       "No NIC pauses its link while it drops nothing (pasted counters)",
       Kind::found,
       {statistics("h.t0.txt", "tx_prio3_pause: 1\nrx_prio3_discards: 7\n"),
        statistics("h.t1.txt", "tx_prio3_pause: 4001\nrx_prio3_discards: 7\n")},
       "drops nothing",
       Severity::info},
      {"HOST-2",
       "No NIC pauses its link while it drops nothing (pasted counters)",
       Kind::passed,
       {statistics("h.txt", "tx_global_pause: 5\nrx_discards_phy: 0\n")}},
      {"HOST-2",
       "No NIC pauses its link while it drops nothing (pasted counters)",
       Kind::not_checked,
       {statistics("h.txt", "tx_global_pause: 500000\n")},
       "pause sent beside drop counters"},
  };
}

}  // namespace rocetune::diagnose
