// Every rule of the table passes, finds and abstains on a fixture, and says so in docs/rules.md.
#include <gtest/gtest.h>

#include <fstream>
#include <set>
#include <sstream>

#include "agent/diagnose/rule_text.h"
#include "tests/agent/diagnose/host_builder.h"

namespace rocetune::diagnose {
namespace {

enum class Kind { found, passed, not_checked };

struct Fixture {
  const char* rule;
  const char* subject;  // "eth0", or "host"
  Kind kind;
  std::function<void(Scenario&)> change;
  const char* says = "";  // part of the cause or the reason
};

void leave_alone(Scenario&) {}

host::Bond bond_of_both() {
  return {.name = "bond0",
          .mode = "802.3ad",
          .transmit_hash_policy = "layer3+4",
          .members = {"eth0", "eth1"},
          .active_members = {"eth0", "eth1"},
          .partner_mac = "02:00:00:00:00:01"};
}

void put_into_bond(Scenario& s, const host::Bond& bond) {
  s.port(0).bond = s.port(1).bond = bond.name;
  s.host.bonds = {bond};
}

std::vector<Fixture> ownership_fixtures() {
  return {
      {"NET-3", "eth0", Kind::passed, leave_alone},
      {"NET-3", "eth0", Kind::found, [](Scenario& s) { s.rdma().link_layer = host::LinkLayer::infiniband; },
       "InfiniBand"},
      {"NET-3", "eth0", Kind::not_checked, [](Scenario& s) { s.port().rdma = denied("no permission"); },
       "permission"},
      {"OPS-4", "eth0", Kind::passed, leave_alone},
      {"OPS-4", "eth0", Kind::not_checked, [](Scenario& s) { s.port().nic = "acme"; }, "acme"},
      {"HOST-1", "eth0", Kind::passed, leave_alone},
      {"HOST-1", "eth0", Kind::found,
       [](Scenario& s) {
         s.port().role = host::PortRole::virtual_function;
         s.port().physical_function = "eth7";
       },
       "virtual function"},
      {"HOST-1", "eth0", Kind::found, [](Scenario& s) { s.port().role = host::PortRole::dpu_host; }, "DPU"},
      {"PFC-2", "eth0", Kind::passed, leave_alone},
      {"PFC-2", "eth0", Kind::found, [](Scenario& s) { s.dcb().dcbx->host = false; }, "firmware"},
      {"PFC-2", "eth0", Kind::found,
       [](Scenario& s) {
         s.host.owners = std::vector<host::Owner>{{"lldpad", "process 812"}};
       },
       "lldpad"},
      {"PFC-2", "eth0", Kind::passed,
       [](Scenario& s) {
         s.host.owners = std::vector<host::Owner>{{"NetworkManager", "process 7"}};
       }},
      {"PFC-2", "eth0", Kind::not_checked, [](Scenario& s) { s.dcb().dcbx = absent("no DCB operations"); },
       "no DCB operations"},
      {"SW-4", "eth0", Kind::not_checked, leave_alone, "mlx5 keeps no peer objects"},
      {"SW-4", "eth0", Kind::passed,
       [](Scenario& s) { s.dcb().peer_pfc = host::Pfc{.enabled = PrioritySet(0x08)}; }},
      {"SW-4", "eth0", Kind::found,
       [](Scenario& s) { s.dcb().peer_pfc = host::Pfc{.enabled = PrioritySet(0x10)}; }, "{4}"},
  };
}

std::vector<Fixture> link_fixtures() {
  return {
      {"LINK-1", "eth0", Kind::passed, leave_alone},
      {"LINK-1", "eth0", Kind::found, [](Scenario& s) { s.count("rx_crc_errors", 5); }, "damages"},
      {"LINK-1", "eth0", Kind::passed, [](Scenario& s) { s.count("rx_corrected_bits", 1'000'000'000); }},
      {"LINK-1", "eth0", Kind::not_checked, [](Scenario& s) { s.make_idle(); }, "idle"},
      {"LINK-2", "eth0", Kind::passed, leave_alone},
      {"LINK-2", "eth0", Kind::found, [](Scenario& s) { s.count("link_downs", 1); }, "went down"},
      {"LINK-2", "eth0", Kind::found, [](Scenario& s) { s.port().link->speed = gigabits_per_second(25); },
       "twin"},
      {"LINK-2", "eth0", Kind::not_checked,
       [](Scenario& s) {
         s.port().link->carrier = false;
         s.port().link->speed.reset();
       },
       "no carrier"},
      {"LAG-1", "host", Kind::not_checked, leave_alone, "no RoCE port"},
      {"LAG-1", "host", Kind::passed, [](Scenario& s) { put_into_bond(s, bond_of_both()); }},
      {"LAG-1", "host", Kind::found,
       [](Scenario& s) {
         host::Bond bond = bond_of_both();
         bond.partner_mac = "00:00:00:00:00:00";
         put_into_bond(s, bond);
       },
       "no LACP partner"},
      {"LAG-1", "host", Kind::found,
       [](Scenario& s) {
         host::Bond bond = bond_of_both();
         bond.active_members = {"eth1"};
         put_into_bond(s, bond);
       },
       "1 of 2 members"},
      {"VM-1", "host", Kind::passed, leave_alone},
      {"VM-1", "host", Kind::found, [](Scenario& s) { s.host.hypervisor = std::string("kvm"); },
       "virtual machine"},
      {"VM-1", "host", Kind::not_checked, [](Scenario& s) { s.host.hypervisor = not_read(); }, "hypervisor"},
      {"PCIE-1", "eth0", Kind::passed, leave_alone},
      {"PCIE-1", "eth0", Kind::found, [](Scenario& s) { s.port().pcie->width_lanes = 8; }, "below its width"},
      {"PCIE-1", "eth0", Kind::found,
       [](Scenario& s) {
         s.port().pcie->width_lanes = s.port().pcie->max_width_lanes = 8;
         s.port().pcie->speed_gt_per_s = s.port().pcie->max_speed_gt_per_s = 8.0;
       },
       "PCIe carries 63 Gb/s"},
      {"PCIE-1", "eth0", Kind::found, [](Scenario& s) { s.port().pcie->max_read_request = Bytes(512); },
       "MaxReadReq"},
      {"PCIE-1", "eth0", Kind::not_checked,
       [](Scenario& s) {
         s.host.hypervisor = std::string("kvm");
         s.port().pcie->width_lanes = 1;
       },
       "VM-1"},
      {"PCIE-2", "eth0", Kind::passed, leave_alone},
      {"PCIE-2", "eth0", Kind::found,
       [](Scenario& s) { s.port().pcie->acs_redirecting_bridges = std::vector<std::string>{"0000:00:01.0"}; },
       "ACS redirects"},
      {"PCIE-2", "eth0", Kind::not_checked,
       [](Scenario& s) {
         s.port().pcie->acs_redirecting_bridges = denied("configuration space is cut at 64 B");
       },
       "configuration space"},
      {"HOST-2", "host", Kind::passed, leave_alone},
      {"HOST-2", "host", Kind::found,
       [](Scenario& s) {
         for (host::Affinity& pair : *s.host.affinity) pair.distance = host::PciDistance::cross_numa;
       },
       "another NUMA node"},
      {"HOST-2", "host", Kind::not_checked, [](Scenario& s) { s.host.gpus->clear(); }, "no GPU"},
  };
}

std::vector<Fixture> address_fixtures() {
  return {
      {"GID-1", "eth0", Kind::passed, leave_alone},
      {"GID-1", "eth0", Kind::found,
       [](Scenario& s) {
         for (host::Gid& gid : s.rdma().gids) gid.type = host::GidType::roce_v1;
       },
       "RoCE v1"},
      {"GID-1", "eth0", Kind::found, [](Scenario& s) { s.rdma().gids.resize(2); }, "link-local"},
      {"GID-1", "eth0", Kind::not_checked, [](Scenario& s) { s.rdma().gids.clear(); }, "empty"},
      {"GID-1", "eth0", Kind::not_checked,
       [](Scenario& s) {
         for (host::Gid& gid : s.rdma().gids) gid.type = host::GidType::unknown;
       },
       "not published"},
      {"GID-3", "host", Kind::passed, leave_alone},
      {"GID-3", "host", Kind::found, [](Scenario& s) { s.port(1).addresses = {"10.0.0.77/24"}; },
       "10.0.0.0/24"},
      {"GID-3", "host", Kind::found,
       [](Scenario& s) {
         s.port(0).addresses = {"2001:db8::1/64"};
         s.port(1).addresses = {"2001:db8:0:0:1::2/64"};
       },
       "2001:db8::/64"},
      {"GID-3", "host", Kind::not_checked,
       [](Scenario& s) {
         s.port(0).addresses = {"fe80::1/64"};
         s.port(1).addresses = {"fe80::2/64"};
       },
       "fewer than two"},
      {"MTU-1", "eth0", Kind::passed, leave_alone},
      {"MTU-1", "eth0", Kind::passed, [](Scenario& s) { s.port().mtu = Bytes(4192); }},
      {"MTU-1", "eth0", Kind::found, [](Scenario& s) { s.port().mtu = Bytes(4191); }, "2048"},
      {"MTU-1", "eth0", Kind::found, [](Scenario& s) { s.rdma().active_mtu = Bytes(1024); }, "allows 4096"},
      {"MTU-1", "eth0", Kind::not_checked, [](Scenario& s) { s.port().mtu = Bytes(0); }, "MTU"},
  };
}

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
      {"ETS-1", "eth0", Kind::passed, [](Scenario& s) { s.dcb().ets->tsa.fill(host::Tsa::vendor); }},
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

std::vector<Fixture> host_fixtures() {
  const auto only_one = [](Scenario& s) { s.only_ports = {"eth0"}; };
  return {
      {"MAP-3", "host", Kind::passed, leave_alone},
      {"MAP-3", "host", Kind::found,
       [](Scenario& s) {
         s.port(1).dcb.app = std::vector<host::AppEntry>{{host::AppSelector::dscp, 24, Priority(4)},
                                                         {host::AppSelector::dscp, 48, Priority(6)}};
         s.port(1).dcb.pfc->enabled = PrioritySet(0x10);
       },
       "eth1: DSCP 24, priority 4"},
      {"MAP-3", "host", Kind::not_checked, only_one, "fewer than two"},
      {"MTU-2", "host", Kind::passed, leave_alone},
      {"MTU-2", "host", Kind::found, [](Scenario& s) { s.port(1).mtu = Bytes(4200); }, "eth1: 4200 B"},
      {"MTU-2", "host", Kind::not_checked, only_one, "fewer than two"},
      {"ECN-6", "host", Kind::passed, leave_alone},
      {"ECN-6", "host", Kind::found, [](Scenario& s) { s.port(1).firmware = "22.31.1014"; }, "22.31.1014"},
      {"ECN-6", "host", Kind::not_checked, only_one, "fewer than two"},
      {"OPS-1", "host", Kind::passed, leave_alone},
      {"OPS-1", "host", Kind::found, [](Scenario& s) { s.host.boot_unit_installed = false; }, "reboot"},
      {"OPS-1", "host", Kind::not_checked,
       [](Scenario& s) { s.host.boot_unit_installed = denied("no systemd"); }, "no systemd"},
  };
}

std::vector<Fixture> all_fixtures() {
  std::vector<Fixture> out;
  for (const auto& family : {ownership_fixtures(), link_fixtures(), address_fixtures(), class_map_fixtures(),
                             flow_control_fixtures(), ecn_fixtures(), traffic_fixtures(), host_fixtures()}) {
    out.insert(out.end(), family.begin(), family.end());
  }
  return out;
}

bool is_about(const std::string& subject, const Fixture& fixture) {
  return subject == fixture.subject || subject.starts_with(std::string(fixture.subject) + " ");
}

struct Seen {
  int found = 0, passed = 0, not_checked = 0;
  std::string text;
};
Seen look_for(const Report& report, const Fixture& fixture) {
  Seen seen;
  for (const Finding& f : report.findings) {
    if (f.rule != fixture.rule || !is_about(f.subject, fixture)) continue;
    ++seen.found;
    seen.text += f.cause + "\n";
  }
  for (const Passed& p : report.passed) seen.passed += p.rule == fixture.rule && is_about(p.subject, fixture);
  for (const NotChecked& n : report.not_checked) {
    if (n.rule != fixture.rule || !is_about(n.subject, fixture)) continue;
    ++seen.not_checked;
    seen.text += n.reason + "\n";
  }
  return seen;
}

TEST(Rules, EveryFixtureHasItsOutcomeAndNoOther) {
  for (const Fixture& fixture : all_fixtures()) {
    Scenario s = healthy();
    fixture.change(s);
    const Seen seen = look_for(s.report(), fixture);
    const std::string where = fmt::format("{} on {}: {}", fixture.rule, fixture.subject, fixture.says);
    EXPECT_EQ(seen.found > 0, fixture.kind == Kind::found) << where << "\n" << seen.text;
    EXPECT_EQ(seen.passed, fixture.kind == Kind::passed ? 1 : 0) << where << "\n" << seen.text;
    EXPECT_EQ(seen.not_checked, fixture.kind == Kind::not_checked ? 1 : 0) << where << "\n" << seen.text;
    EXPECT_NE(seen.text.find(fixture.says), std::string::npos) << where << "\n" << seen.text;
  }
}

TEST(Rules, EveryRowHasAFixtureOfEachKind) {
  // A fact that is always there, and rules that only say whether a verdict is possible.
  const std::set<std::pair<std::string, Kind>> impossible{
      {"HOST-1", Kind::not_checked}, {"OPS-4", Kind::found}, {"OPS-3", Kind::found}};
  for (const Rule* rule : all_rules()) {
    for (const Kind kind : {Kind::found, Kind::passed, Kind::not_checked}) {
      if (impossible.contains({std::string(rule->id), kind})) continue;
      bool has = false;
      for (const Fixture& fixture : all_fixtures()) {
        const bool same_scope =
            (std::string_view(fixture.subject) == "host") == (rule->scope() == Scope::host);
        has |= rule->id == fixture.rule && same_scope && fixture.kind == kind;
      }
      EXPECT_TRUE(has) << rule->id << " kind " << static_cast<int>(kind);
    }
  }
}

TEST(Rules, NoTwoRowsJudgeTheSameSubjectUnderOneId) {
  std::set<std::pair<std::string_view, bool>> seen;
  for (const Rule* rule : all_rules()) {
    EXPECT_TRUE(seen.insert({rule->id, rule->scope() == Scope::host}).second) << rule->id;
  }
}

TEST(Rules, EveryRowIsDescribed) {
  for (const Rule* rule : all_rules()) {
    for (const std::string_view text :
         {rule->title, rule->condition, rule->why, rule->needs, rule->decided, rule->fix, rule->source}) {
      EXPECT_FALSE(text.empty()) << rule->id;
    }
    EXPECT_TRUE(explain(std::string(rule->id))) << rule->id;
  }
  const auto unknown = explain("PFC-11");
  ASSERT_FALSE(unknown);
  EXPECT_NE(unknown.error().text().find("did you mean PFC-1"), std::string::npos) << unknown.error().text();
}

TEST(Rules, TheDocumentIsInStep) {
  std::ifstream file(ROCETUNE_SOURCE_ROOT "/docs/rules.md");
  std::stringstream text;
  text << file.rdbuf();
  EXPECT_EQ(text.str(), rules_markdown()) << "write it anew: rocetune doctor --explain all > docs/rules.md";
}

}  // namespace
}  // namespace rocetune::diagnose
