#include <gtest/gtest.h>

#include "tests/agent/diagnose/text_fixtures.h"

namespace rocetune::diagnose {
namespace {

// A host with DSCP 26 in lossless priority 3.
TextFile usual_host() {
  return {"mlnx_qos.txt",
          "DCBX mode: OS controlled\nPriority trust state: dscp\ndscp2prio mapping:\n"
          "\tprio:0 dscp:07,06,05,04,03,02,01,00,\n\tprio:3 dscp:31,30,29,28,27,26,25,24,\n"
          "\tprio:6 dscp:55,54,53,52,51,50,49,48,\n"
          "PFC configuration:\n\tpriority    0   1   2   3   4   5   6   7\n"
          "\tenabled     0   0   0   1   0   0   0   0\n"};
}
TextFile environment() { return {"env.txt", "NCCL_IB_HCA=mlx5_0\nNCCL_IB_TC=106\n"}; }
TextFile rdma_device() {
  return {"ibv_devinfo.txt",
          "hca_id:\tmlx5_0\n\ttransport:\t\t\tInfiniBand (0)\n\tphys_port_cnt:\t\t\t1\n\t\tport:\t1\n"
          "\t\t\tstate:\t\t\tPORT_ACTIVE (4)\n\t\t\tmax_mtu:\t\t4096 (5)\n\t\t\tactive_mtu:\t\t4096 (5)\n"
          "\t\t\tlink_layer:\t\tEthernet\n"};
}
TextFile stall_prevention(const char* ms) {
  return {"tunable.txt",
          std::string("$ ethtool --get-tunable eth0 pfc-prevention-tout\npfc-prevention-tout: ") + ms + "\n"};
}
TextFile leaf(const std::string& lines) { return {"leaf.txt", lines}; }
TextFile fixture_of(const char* name) { return from_texts(std::string("switch-config/") + name); }

// The SONiC fixture with one thing changed.
TextFile sonic_but(const std::string& from, const std::string& to) {
  TextFile file = fixture_of("sonic.config_db.json");
  const auto at = file.content.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  file.content.replace(at, from.size(), to);
  return file;
}

constexpr const char* kTrust = "Switch and hosts classify by the same field";
constexpr const char* kPfcSame = "Switch and hosts have PFC on the same priority";
constexpr const char* kMap = "The RoCE DSCP leads to a lossless priority on the switch";
constexpr const char* kCnp = "The switch keeps CNPs out of the lossless priority";
constexpr const char* kAnnounced = "What the switch announces for RoCE is lossless at both ends";
constexpr const char* kInForce = "PFC is in force on the switch's ports";
constexpr const char* kWatchdogQuiet = "The switch's PFC watchdog is quiet";
constexpr const char* kNoStorm = "No pause storm at a switch's port";
constexpr const char* kHeadroom = "Headroom of the switch fits speed, cable and MTU";
constexpr const char* kOrder = "The NIC gives up pausing before the switch drops";
constexpr const char* kMarks = "The switch marks before it pauses";
constexpr const char* kMtu = "Ports of the switch let full RDMA packets pass";
constexpr const char* kShares = "The switch's lossless queue has its share";
constexpr const char* kAgree = "Sources on a switch agree";
constexpr const char* kDrops = "Switches drop no packets";

std::vector<TextFixture> switch_class_texts() {
  return {
      {"MAP-1", kTrust, Kind::found, {usual_host(), from_texts("onyx-roce/lossy.txt")}, "do not look at it"},
      {"MAP-1",
       kTrust,
       Kind::found,
       {environment(), leaf("interface Ethernet1\n   qos trust cos\n")},
       "do not look"},
      {"MAP-1", kTrust, Kind::passed, {usual_host(), fixture_of("eos.txt")}},
      {"MAP-1", kTrust, Kind::not_checked, {usual_host()}, "no text of a switch"},

      {"MAP-3",
       kPfcSame,
       Kind::found,
       {usual_host(), leaf("nv set qos pfc default-global switch-priority 5\n")},
       "neither stops the other"},
      {"MAP-3",
       kPfcSame,
       Kind::found,
       {usual_host(), leaf("Port Mode Oper(VL bmap) RxPPP TxPPP\nEthernet1/1 On On (10) 5 7\n")},
       "neither stops"},
      {"MAP-3", kPfcSame, Kind::passed, {usual_host(), fixture_of("nxos.txt")}},
      {"MAP-3", kPfcSame, Kind::not_checked, {fixture_of("routeros.txt")}, "not both among the inputs"},

      {"MAP-5", kMap, Kind::found, {usual_host(), fixture_of("sonic.config_db.json")}, "sends to priority 1"},
      {"MAP-5",
       kMap,
       Kind::found,
       {environment(), fixture_of("eos-policy-flat.txt"), fixture_of("nxos-session.txt")},
       "has no PFC"},
      {"MAP-5", kMap, Kind::passed, {environment(), fixture_of("junos-set.txt")}},
      {"MAP-5", kMap, Kind::not_checked, {fixture_of("nvue.txt")}, "which DSCP RoCE has"},

      {"MAP-7",
       kCnp,
       Kind::found,
       {leaf("nv set qos mapping default-global dscp 48 switch-priority 3\n"
             "nv set qos pfc default-global switch-priority 3\n")},
       "CNPs share"},
      {"MAP-7", kCnp, Kind::found, {fixture_of("junos-braces.txt")}, "CNPs share"},
      {"MAP-7", kCnp, Kind::passed, {fixture_of("nxos.txt")}},
      {"MAP-7", kCnp, Kind::not_checked, {from_texts("cisco-pfc/on.txt")}, "where CNPs go"},

      {"SW-4",
       kAnnounced,
       Kind::found,
       {leaf("RoCE mode      : lossless\nApplication TLV:\n  Selector: udp\n  Protocol: 4791\n  Priority: 4\n"
             "PFC              : enabled\nswitch-priority 3: enabled\n")},
       "announces priority 4"},
      {"SW-4",
       kAnnounced,
       Kind::found,
       {usual_host(), leaf("Application TLV:\n  Selector: udp\n  Protocol: 4791\n  Priority: 5\n"
                           "Port trust mode: L3\n")},
       "not lossless on the host"},
      {"SW-4", kAnnounced, Kind::passed, {usual_host(), from_texts("onyx-roce/nvue.txt")}},
      {"SW-4", kAnnounced, Kind::not_checked, {fixture_of("eos.txt")}, "UDP 4791"},
  };
}

std::vector<TextFixture> pause_texts() {
  return {
      {"SW-1", kWatchdogQuiet, Kind::found, {from_texts("sonic-pfcwd/stats-widths.txt")}, "found 3 storms"},
      {"SW-1", kWatchdogQuiet, Kind::found, {from_texts("arista-pfc/watchdog.txt")}, "found 4 storms"},
      {"SW-1", kWatchdogQuiet, Kind::passed, {from_texts("sonic-pfcwd/quiet.txt")}},
      {"SW-1", kWatchdogQuiet, Kind::not_checked, {from_texts("sonic-pfcwd/config.txt")}, "show pfcwd stats"},

      {"PFC-5", kNoStorm, Kind::found, {from_texts("sonic-pfcwd/stats-widths.txt")}, "which lasts"},
      {"PFC-5", kNoStorm, Kind::found, {from_texts("arista-pfc/watchdog.txt")}, "which lasts"},
      {"PFC-5", kNoStorm, Kind::passed, {from_texts("sonic-pfcwd/quiet.txt")}},
      {"PFC-5",
       kNoStorm,
       Kind::not_checked,
       {from_texts("sonic-pfc-counters/both-directions.txt")},
       "how long"},

      {"SW-2", kInForce, Kind::found, {from_texts("arista-pfc/all-disabled.txt")}, "at no port shown"},
      {"SW-2", kInForce, Kind::found, {from_texts("cisco-pfc/all-auto-off.txt")}, "left to DCBX"},
      {"SW-2", kInForce, Kind::found, {from_texts("arista-pfc/old.txt")}, "not in force"},
      {"SW-2", kInForce, Kind::passed, {from_texts("junos-interface/pfc-and-queues.txt")}},
      {"SW-2", kInForce, Kind::not_checked, {from_texts("sonic-pfcwd/quiet.txt")}, "in force"},

      {"PFC-4",
       kOrder,
       Kind::found,
       {stall_prevention("8000"), from_texts("sonic-pfcwd/config.txt")},
       "8000 ms"},
      {"PFC-4",
       kOrder,
       Kind::found,
       {stall_prevention("65535"), fixture_of("nxos.txt")},
       "only after 100 ms"},
      {"PFC-4", kOrder, Kind::passed, {stall_prevention("100"), from_texts("arista-pfc/flags.txt")}},
      {"PFC-4", kOrder, Kind::not_checked, {from_texts("sonic-pfcwd/config.txt")}, "not both known"},
  };
}

std::vector<TextFixture> threshold_texts() {
  return {
      {"ECN-1",
       kMarks,
       Kind::found,
       {sonic_but("\"dynamic_th\": \"0\"", "\"dynamic_th\": \"-7\"")},
       "before it is ever"},
      {"ECN-1",
       kMarks,
       Kind::found,
       {sonic_but(", \"wred_profile\": \"AZURE_LOSSLESS\"", "")},
       "does not mark"},
      {"ECN-1",
       kMarks,
       Kind::found,
       {leaf(
           "/interface ethernet switch qos priority-flow-control\nadd name=p traffic-class=3 rx=yes tx=yes\n"
           "/interface ethernet switch qos tx-manager queue\nset 3 ecn=no\n")},
       "does not mark"},
      {"ECN-1", kMarks, Kind::passed, {from_texts("onyx-roce/nvue.txt")}},
      {"ECN-1", kMarks, Kind::not_checked, {fixture_of("sonic.show-pfc-priority.txt")}, "at which length"},

      {"PFC-3", kHeadroom, Kind::found, {fixture_of("sonic.config_db.json")}, "holds less"},
      {"PFC-3",
       kHeadroom,
       Kind::found,
       {sonic_but("\"xoff\": \"18432\"", "\"xoff\": \"4096\"")},
       "holds less"},
      {"PFC-3", kHeadroom, Kind::passed, {sonic_but("\"300m\"", "\"5m\"")}},
      {"PFC-3", kHeadroom, Kind::not_checked, {fixture_of("eos.txt")}, "headroom, speed and cable"},

      {"PATH-1",
       kMtu,
       Kind::found,
       {rdma_device(), from_texts("junos-interface/pfc-and-queues.txt")},
       "do not fit"},
      {"PATH-1", kMtu, Kind::found, {rdma_device(), fixture_of("eos.txt")}, "MTU of 1500"},
      {"PATH-1", kMtu, Kind::passed, {rdma_device(), fixture_of("nxos.txt")}},
      {"PATH-1", kMtu, Kind::not_checked, {fixture_of("nxos.txt")}, "not both known"},

      {"ETS-1",
       kShares,
       Kind::found,
       {leaf("nv set qos pfc default-global switch-priority 3\n"
             "nv set qos egress-scheduler default-global traffic-class 3 bw-percent 80\n"
             "nv set qos egress-scheduler default-global traffic-class 0 bw-percent 50\n")},
       "more than 100 %"},
      {"ETS-1",
       kShares,
       Kind::found,
       {leaf("policy-map type network-qos N\n class type network-qos c-8q-nq3\n  pause pfc-cos 3\n"
             "policy-map type queuing Q\n class type queuing c-out-8q-q3\n  bandwidth remaining percent 0\n"
             " class type queuing c-out-8q-q-default\n  bandwidth remaining percent 100\n")},
       "no share"},
      {"ETS-1", kShares, Kind::passed, {fixture_of("nxos.txt")}},
      {"ETS-1", kShares, Kind::not_checked, {fixture_of("routeros.txt")}, "shares"},
  };
}

std::vector<TextFixture> source_texts() {
  return {
      {"SW-3",
       kAgree,
       Kind::found,
       {leaf("Port Rx PFC0 PFC1 PFC2 PFC3 PFC4 PFC5 PFC6 PFC7\nEthernet8 0 0 0 0 0 0 0 0\n"),
        from_texts("sonic-sdk-counters/grepped.txt")},
       "lower layer is right"},
      {"SW-3",
       kAgree,
       Kind::found,
       {leaf("IFACE STATE RX_OK RX_DRP TX_OK TX_DRP\nEthernet0 U 5 0 70000000 0\n"),
        from_texts("sonic-interface-counters/queues.txt")},
       "clear nothing"},
      {"SW-3",
       kAgree,
       Kind::passed,
       {from_texts("sonic-pfc-counters/both-directions.txt"),
        from_texts("sonic-sdk-counters/two-priorities.txt")}},
      {"SW-3",
       kAgree,
       Kind::not_checked,
       {from_texts("sonic-pfc-counters/both-directions.txt")},
       "no two sources"},

      {"LOSS-1", kDrops, Kind::found, {from_texts("sonic-interface-counters/thousands.txt")}, "10.4 %"},
      {"LOSS-1", kDrops, Kind::found, {from_texts("junos-interface/pfc-and-queues.txt")}, "0.498 %"},
      {"LOSS-1", kDrops, Kind::passed, {from_texts("sonic-interface-counters/old-head.txt")}},
      {"LOSS-1",
       kDrops,
       Kind::not_checked,
       {from_texts("sonic-interface-counters/not-available.txt")},
       "no counters"},
  };
}

}  // namespace

std::vector<TextFixture> switch_text_fixtures() {
  std::vector<TextFixture> out;
  for (auto part : {switch_class_texts, pause_texts, threshold_texts, source_texts}) {
    for (TextFixture& fixture : part()) out.push_back(std::move(fixture));
  }
  return out;
}

}  // namespace rocetune::diagnose
