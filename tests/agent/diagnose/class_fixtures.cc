#include "tests/agent/diagnose/rule_fixtures.h"

namespace rocetune::diagnose {
namespace {

std::vector<Fixture> class_map_fixtures() {
  return {
      {"MAP-1", "eth0", Kind::passed, leave_alone},
      {"MAP-1", "eth0", Kind::found, [](Scenario& s) { s.dcb().trust = host::Trust::pcp; }, "PCP"},
      {"MAP-1", "eth0", Kind::not_checked, [](Scenario& s) { s.dcb().trust = failed("no answer"); },
       "no answer"},
      {"MAP-5", "eth0", Kind::passed, leave_alone},
      {"MAP-5", "eth0", Kind::found, [](Scenario& s) { s.map(26, 0); }, "DSCP -> priority"},
      {"MAP-5", "eth0", Kind::found,
       [](Scenario& s) {
         s.declared.priority = Priority(3);
         s.declared.origin = "--priority";
         s.set_pfc(PrioritySet(0x10));
       },
       "priority -> PFC"},
      {"MAP-5", "eth0", Kind::found, [](Scenario& s) { s.dcb().app->erase(s.dcb().app->begin()); },
       "no DSCP"},
      {"MAP-5", "eth0", Kind::found,
       [](Scenario& s) {
         s.declared.dscp = Dscp(26);
         s.declared.priority = Priority(3);
         s.dcb().app->erase(s.dcb().app->begin());
       },
       "no other DSCP leads to priority 3"},
      {"MAP-5", "eth0", Kind::found,
       [](Scenario& s) {
         s.declared.dscp = Dscp(26);
         s.declared.priority = Priority(3);
         s.dcb().app->erase(s.dcb().app->begin());
         s.map(10, 3);
       },
       "in its place DSCP 10 leads to the RoCE class in priority 3"},
      {"MAP-5", "eth0", Kind::not_checked, [](Scenario& s) { s.dcb().pfc = absent("not this driver"); },
       "not this driver"},
      {"MAP-5", "eth0", Kind::not_checked, [](Scenario& s) { s.set_pfc({}); }, "MAP-3"},
      {"MAP-3", "eth0", Kind::passed, leave_alone},
      {"MAP-3", "eth0", Kind::found, [](Scenario& s) { s.set_pfc({}); }, "off on every priority"},
      {"MAP-3", "eth0", Kind::found, [](Scenario& s) { s.set_pfc(PrioritySet(0xff)); }, "7 data priorities"},
      {"MAP-3", "eth0", Kind::not_checked, [](Scenario& s) { s.dcb().pfc = denied("namespace"); },
       "namespace"},
      {"MAP-7", "eth0", Kind::passed, leave_alone},
      {"MAP-7", "eth0", Kind::found, [](Scenario& s) { s.map(48, 3); }, "priority 3"},
      {"MAP-7", "eth0", Kind::found, [](Scenario& s) { (*s.port().cc_params)["np_cnp_dscp"] = 26; },
       "priority 3"},
      {"MAP-7", "eth0", Kind::found,
       [](Scenario& s) {
         (*s.port().cc_params)["np_cnp_prio_mode"] = 0;
         (*s.port().cc_params)["np_cnp_prio"] = 3;
       },
       "priority 3"},
      {"MAP-7", "eth0", Kind::found, [](Scenario& s) { s.dcb().ets->tc_of_priority[6] = TrafficClass(3); },
       "share traffic class"},
      {"MAP-7", "eth0", Kind::not_checked, [](Scenario& s) { s.dcb().pfc = not_read(); }, "PFC"},
      {"MAP-2", "eth0", Kind::passed, leave_alone},
      {"MAP-2", "eth0", Kind::found, [](Scenario& s) { (*s.port().cc_params)["np_cnp_dscp"] = 0; }, "DSCP 0"},
      {"MAP-2", "eth0", Kind::found,
       [](Scenario& s) {
         (*s.port().cc_params)["np_cnp_prio_mode"] = 0;
         (*s.port().cc_params)["np_cnp_prio"] = 0;
       },
       "priority 0"},
      {"MAP-2", "eth0", Kind::passed,
       [](Scenario& s) {
         (*s.port().cc_params)["np_cnp_dscp"] = 56;
         s.map(56, 7);
       }},
      {"MAP-2", "eth0", Kind::not_checked,
       [](Scenario& s) { s.port().cc_params = denied("kernel lockdown"); }, "kernel lockdown"},
      {"MAP-4", "eth0", Kind::passed, leave_alone},
      {"MAP-4", "eth0", Kind::found, [](Scenario& s) { s.rdma().cm_default_tos = TosByte::from_wire(26); },
       "DSCP 6"},
      {"MAP-4", "eth0", Kind::found,
       [](Scenario& s) { s.rdma().global_traffic_class = TosByte::from_wire(3); }, "traffic_class holds 3"},
      {"MAP-4", "eth0", Kind::passed, [](Scenario& s) { s.rdma().cm_default_tos = TosByte::from_wire(104); }},
      {"MAP-4", "eth0", Kind::found,
       [](Scenario& s) {
         s.port().nic = "bnxt";
         s.rdma().cm_default_tos = TosByte::from_wire(104);
       },
       "ECN bits"},
      {"MAP-4", "eth0", Kind::not_checked,
       [](Scenario& s) { s.rdma().cm_default_tos = absent("no directory"); }, "no directory"},
      {"MAP-8", "eth0", Kind::passed, leave_alone},
      {"MAP-8", "eth0", Kind::found, [](Scenario& s) { s.rdma().cm_default_tos = TosByte::from_wire(0); },
       "unmarked"},
      {"MAP-8", "eth0", Kind::found, [](Scenario& s) { s.rdma().cm_default_tos = TosByte::from_wire(40); },
       "DSCP 10"},
      {"MAP-8", "eth0", Kind::not_checked,
       [](Scenario& s) { s.rdma().cm_default_tos = absent("no directory"); }, "no directory"},
  };
}

std::vector<Fixture> flow_control_fixtures() {
  return {
      {"PFC-1", "eth0", Kind::passed, leave_alone},
      {"PFC-1", "eth0", Kind::found, [](Scenario& s) { s.port().pause->transmit = true; }, "802.3x"},
      {"PFC-1", "eth0", Kind::not_checked, [](Scenario& s) { s.port().pause = absent("not supported"); },
       "not supported"},
      {"PFC-4", "eth0", Kind::passed, leave_alone},
      {"PFC-4", "eth0", Kind::passed, [](Scenario& s) { s.port().pfc_prevention_ms = std::uint16_t{65535}; }},
      {"PFC-4", "eth0", Kind::found, [](Scenario& s) { s.port().pfc_prevention_ms = std::uint16_t{0}; },
       "off"},
      {"PFC-4", "eth0", Kind::found, [](Scenario& s) { s.port().pfc_prevention_ms = std::uint16_t{8000}; },
       "8000"},
      {"PFC-4", "eth0", Kind::not_checked,
       [](Scenario& s) { s.port().pfc_prevention_ms = absent("no tunable"); }, "no tunable"},
      {"PFC-5", "eth0", Kind::passed, leave_alone},
      {"PFC-5", "eth0", Kind::found,
       [](Scenario& s) { s.count_priority("rx_pause_duration_us", 3, 1'990'000); }, "from the network"},
      {"PFC-5", "eth0", Kind::found, [](Scenario& s) { s.count("tx_global_pause_duration_us", 2'000'000); },
       "made here"},
      {"PFC-5", "eth0", Kind::passed,
       [](Scenario& s) { s.count_priority("rx_pause_duration_us", 3, 1'970'000); }},
      {"PFC-5", "eth0", Kind::not_checked, [](Scenario& s) { s.make_idle(); }, "idle"},
      {"PFC-5", "eth0", Kind::not_checked,
       [](Scenario& s) {
         s.delta().elapsed = milliseconds(100);
         s.count_priority("rx_pause_duration_us", 3, 100'000);
       },
       "shorter than the detection time"},
      {"PFC-5", "eth0", Kind::not_checked,
       [](Scenario& s) {
         s.forget("rx_pause_duration_us");
         s.forget("tx_pause_duration_us");
       },
       "not their duration"},
      {"PFC-6", "eth0", Kind::passed, leave_alone},
      {"PFC-6", "eth0", Kind::found, [](Scenario& s) { s.count_priority("tx_pause_duration_us", 3, 20'000); },
       "Slow receiver"},
      {"PFC-6", "eth0", Kind::found, [](Scenario& s) { s.count_priority("rx_pause_duration_us", 3, 20'000); },
       "downstream"},
      {"PFC-6", "eth0", Kind::found,
       [](Scenario& s) {
         s.forget("tx_pause_duration_us");
         s.count_priority("tx_pause_frames", 3, 1'640);
       },
       "Slow receiver"},
      {"PFC-6", "eth0", Kind::not_checked, [](Scenario& s) { s.set_pfc({}); }, "PFC is off"},
      {"PFC-7", "eth0", Kind::passed, leave_alone},
      {"PFC-7", "eth0", Kind::found,
       [](Scenario& s) {
         s.count_priority("rx_pause_duration_us", 3, 2'000'000);
         s.count_priority("tx_pause_duration_us", 3, 2'000'000);
       },
       "cannot prove"},
      {"PFC-7", "eth0", Kind::not_checked, [](Scenario& s) { s.sampled = false; }, "no counters"},
      {"PFC-3", "eth0", Kind::passed, leave_alone},
      {"PFC-3", "eth0", Kind::found, [](Scenario& s) { s.dcb().pfc->delay = 900; }, "Lossless buffer 1"},
      {"PFC-3", "eth0", Kind::not_checked, [](Scenario& s) { s.dcb().buffers = absent("no such operation"); },
       "no such operation"},
      {"PFC-3", "eth0", Kind::not_checked, [](Scenario& s) { s.port().nic = "bnxt"; }, "no headroom formula"},
      {"ETS-1", "eth0", Kind::passed, leave_alone},
      {"ETS-1", "eth0", Kind::found,
       [](Scenario& s) {
         s.dcb().ets->tx_share_percent = {70, 0, 0, 30};
       },
       "30%"},
      {"ETS-1", "eth0", Kind::found,
       [](Scenario& s) {
         s.dcb().ets->tx_share_percent = {40, 0, 0, 70};
       },
       "110 %"},
      {"ETS-1", "eth0", Kind::found,
       [](Scenario& s) {
         s.dcb().ets->tx_share_percent = {0, 0, 0, 100};
       },
       "0 %"},
      {"ETS-1", "eth0", Kind::found,
       [](Scenario& s) {
         s.dcb().ets->tx_share_percent = {2, 0, 0, 98};
       },
       "98%"},
      {"ETS-1", "eth0", Kind::found, [](Scenario& s) { s.dcb().ets->tsa.fill(host::Tsa::vendor); },
       "vendor's default"},
      {"ETS-1", "eth0", Kind::not_checked, [](Scenario& s) { s.dcb().ets = absent("no ETS"); }, "no ETS"},
  };
}

std::vector<Fixture> ecn_fixtures() {
  return {
      {"ECN-5", "eth0", Kind::passed, leave_alone},
      {"ECN-5", "eth0", Kind::found, [](Scenario& s) { (*s.port().cc_params)["rp_time_reset"] = 0; },
       "rp_time_reset"},
      {"ECN-5", "eth0", Kind::found,
       [](Scenario& s) { s.port().congestion_control = host::CongestionControl::programmable; },
       "programmable"},
      {"ECN-5", "eth0", Kind::not_checked,
       [](Scenario& s) { s.port().congestion_control = absent("no register"); }, "no register"},
      {"ECN-2", "eth0", Kind::passed, leave_alone},
      {"ECN-2", "eth0", Kind::found, [](Scenario& s) { s.count("cnp_ignored", 40); }, "ignored"},
      {"ECN-2", "eth0", Kind::found,
       [](Scenario& s) {
         s.port().ecn_enable = host::EcnEnable{PrioritySet(0x08), PrioritySet(0)};
       },
       "reaction point is off"},
      {"ECN-2", "eth0", Kind::passed,
       [](Scenario& s) {
         s.port().ecn_enable = host::EcnEnable{PrioritySet(0x08), PrioritySet(0x08)};
         s.sampled = false;
       }},
      {"ECN-2", "eth0", Kind::not_checked, [](Scenario& s) { s.count("cnp_handled", 0); }, "no CNP arrived"},
      {"ECN-3", "eth0", Kind::passed, leave_alone},
      {"ECN-3", "eth0", Kind::found, [](Scenario& s) { s.count("cnp_sent", 0); }, "notification point"},
      {"ECN-3", "eth0", Kind::found,
       [](Scenario& s) {
         s.count("cnp_handled", 0);
         s.count_priority("rx_pause_duration_us", 3, 100'000);
       },
       "no CNP came back"},
      {"ECN-3", "eth0", Kind::not_checked, [](Scenario& s) { s.make_idle(); }, "idle"},
      {"ECN-3", "eth0", Kind::not_checked, [](Scenario& s) { s.forget("rx_ce_packets"); }, "rx_ce_packets"},
      {"ECN-3", "eth0", Kind::not_checked,
       [](Scenario& s) {
         s.port().congestion_control = host::CongestionControl::off;
         s.count("cnp_sent", 0);
       },
       "ECN-4"},
  };
}

std::vector<Fixture> traffic_fixtures() {
  return {
      {"OPS-3", "eth0", Kind::passed, leave_alone},
      {"OPS-3", "eth0", Kind::not_checked, [](Scenario& s) { s.sampled = false; }, "no counters"},
      {"MAP-6", "eth0", Kind::passed, leave_alone},
      {"MAP-6", "eth0", Kind::found,
       [](Scenario& s) {
         s.count_priority("tx_packets", 3, 12);
         s.count_priority("tx_packets", 0, 2'000'000);
       },
       "leave outside priority 3, in priority 0"},
      {"MAP-6", "eth0", Kind::found,
       [](Scenario& s) {
         s.count_priority("rx_packets", 3, 12);
         s.count_priority("rx_packets", 1, 2'000'000);
       },
       "arrive outside priority 3, in priority 1"},
      // A receiver in an incast: half of what it sends are CNPs.
      {"MAP-6", "eth0", Kind::passed,
       [](Scenario& s) {
         s.count("rdma_tx_packets", 2'000'000);
         s.count("cnp_sent", 1'000'000);
         s.count_priority("tx_packets", 3, 1'000'000);
         s.count_priority("tx_packets", 6, 1'000'000);
       }},
      {"MAP-6", "eth0", Kind::found,
       [](Scenario& s) {
         s.count("rdma_tx_packets", 2'000'000);
         s.count("cnp_sent", 1'000);
         s.count_priority("tx_packets", 3, 1'000'000);
         s.count_priority("tx_packets", 6, 1'000'000);
       },
       "leave outside priority 3, in priority 6"},
      {"MAP-6", "eth0", Kind::not_checked, [](Scenario& s) { s.make_idle(); }, "idle"},
      {"MAP-6", "eth0", Kind::not_checked, [](Scenario& s) { s.map(26, 2); }, "MAP-5"},
      {"LOSS-1", "eth0", Kind::passed, leave_alone},
      {"LOSS-1", "eth0", Kind::found, [](Scenario& s) { s.count("out_of_sequence", 100); },
       "a queue overflows"},
      {"LOSS-1", "eth0", Kind::found,
       [](Scenario& s) {
         s.count("out_of_sequence", 100);
         s.count("rx_symbol_errors", 100);
       },
       "LINK-1"},
      {"LOSS-1", "eth0", Kind::passed, [](Scenario& s) { s.count("out_of_sequence", 39); }},
      {"LOSS-1", "eth0", Kind::not_checked,
       [](Scenario& s) {
         s.forget("rdma_tx_packets");
         s.forget("rdma_rx_packets");
       },
       "no share"},
      {"LOSS-2", "eth0", Kind::passed, leave_alone},
      {"LOSS-2", "eth0", Kind::found, [](Scenario& s) { s.count("no_receive_wqe", 3); }, "this host"},
      {"LOSS-2", "eth0", Kind::found, [](Scenario& s) { s.count("rnr_naks_received", 3); }, "The peer"},
      {"LOSS-2", "eth0", Kind::not_checked, [](Scenario& s) { s.make_idle(); }, "idle"},
      {"LOSS-3", "eth0", Kind::passed, leave_alone},
      {"LOSS-3", "eth0", Kind::found,
       [](Scenario& s) {
         s.count("request_flush_errors", 40);
         s.count("request_completion_errors", 40);
       },
       "40 work requests were flushed: what follows when a queue pair fails or is torn down, not packet "
       "loss."},
      {"LOSS-3", "eth0", Kind::found,
       [](Scenario& s) {
         s.count("response_flush_errors", 40);
         s.count("response_completion_errors", 41);
       },
       "1 completions failed for another reason"},
      {"LOSS-3", "eth0", Kind::not_checked, [](Scenario& s) { s.make_idle(); }, "idle"},
      {"LOSS-3", "eth0", Kind::not_checked,
       [](Scenario& s) {
         s.forget("request_flush_errors");
         s.forget("response_flush_errors");
       },
       "not counted here"},
      {"LOSS-4", "eth0", Kind::passed, leave_alone},
      {"LOSS-4", "eth0", Kind::found, [](Scenario& s) { s.count("rx_discards_phy", 9); }, "faster than PCIe"},
      {"LOSS-4", "eth0", Kind::found,
       [](Scenario& s) {
         s.count("rx_discards_phy", 9);
         s.count("rx_out_of_buffer", 9);
       },
       "host queues"},
      {"LOSS-4", "eth0", Kind::found, [](Scenario& s) { s.count_priority("rx_discards", 3, 9); }, "drops"},
      {"LOSS-4", "eth0", Kind::not_checked, [](Scenario& s) { s.make_idle(); }, "idle"},
      {"OPS-5", "eth0", Kind::passed, leave_alone},
      {"OPS-5", "eth0", Kind::found,
       [](Scenario& s) {
         s.set_pfc({});
         s.count("adaptive_retransmissions", 12);
       },
       "lossy"},
      {"OPS-5", "eth0", Kind::not_checked, [](Scenario& s) { s.set_pfc({}); }, "nothing shows"},
  };
}

}  // namespace

std::vector<Fixture> class_fixtures() {
  std::vector<Fixture> out;
  for (const auto& family :
       {class_map_fixtures(), flow_control_fixtures(), ecn_fixtures(), traffic_fixtures()}) {
    out.insert(out.end(), family.begin(), family.end());
  }
  return out;
}

}  // namespace rocetune::diagnose
