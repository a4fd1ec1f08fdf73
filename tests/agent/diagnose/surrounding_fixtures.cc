#include "tests/agent/diagnose/rule_fixtures.h"

namespace rocetune::diagnose {
namespace {

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

std::function<void(Scenario&)> with_hash(const std::string& policy) {
  return [policy](Scenario& s) {
    host::Bond bond = bond_of_both();
    bond.transmit_hash_policy = policy;
    put_into_bond(s, bond);
  };
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
      {"PFC-2", "eth0", Kind::found,
       [](Scenario& s) {
         s.port().nic = "irdma";
         s.dcb().dcbx = host::DcbxMode{.host = false, .lld_managed = true, .ieee = true};
       },
       "firmware"},
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
      {"LAG-2", "host", Kind::not_checked, leave_alone, "no RoCE port"},
      {"LAG-2", "host", Kind::passed, [](Scenario& s) { put_into_bond(s, bond_of_both()); }},
      {"LAG-2", "host", Kind::found, with_hash("layer2+3"), "layer2+3 and not by UDP port"},
      {"LAG-2", "host", Kind::found, with_hash("layer2"), "ride one member"},
      {"LAG-2", "host", Kind::not_checked, with_hash(""), "not known"},
      {"LAG-2", "host", Kind::not_checked, with_hash("magic"), "magic"},
      {"LAG-2", "host", Kind::not_checked,
       [](Scenario& s) {
         host::Bond bond = bond_of_both();
         bond.mode = "active-backup";
         bond.transmit_hash_policy = "layer2";
         put_into_bond(s, bond);
       },
       "spreads flows"},
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
      {"PCIE-4", "host", Kind::passed, leave_alone},
      {"PCIE-4", "host", Kind::found, [](Scenario& s) { s.host.iommu = std::string("translating"); },
       "translates on bare metal"},
      {"PCIE-4", "host", Kind::passed,
       [](Scenario& s) {
         s.host.iommu = std::string("translating");
         s.host.gpus->clear();
       }},
      {"PCIE-4", "host", Kind::not_checked,
       [](Scenario& s) {
         s.host.hypervisor = std::string("kvm");
         s.host.iommu = std::string("translating");
       },
       "VM-1"},
      {"PCIE-4", "host", Kind::not_checked, [](Scenario& s) { s.host.iommu = denied("no permission"); },
       "IOMMU"},
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
      {"GID-4", "eth0", Kind::passed, leave_alone},
      {"GID-4", "eth0", Kind::found, [](Scenario& s) { s.port().mac = "0d:42:a1:00:00:01"; }, "group bit"},
      {"GID-4", "eth0", Kind::found,
       [](Scenario& s) {
         s.port().mac.reset();
         s.rdma().gids[1].address = "fe80:0000:0000:0000:0f42:a1ff:fe00:0001";
       },
       "group bit"},
      {"GID-4", "eth0", Kind::found,
       [](Scenario& s) {
         host::Gid again = s.rdma().gids[3];
         again.index = 4;
         again.netdev = "eth0.100";
         s.rdma().gids.push_back(again);
       },
       "listed 2 times"},
      {"GID-4", "eth0", Kind::passed,
       [](Scenario& s) {
         host::Gid of_vlan = s.rdma().gids[1];  // shares the MAC, and so the link-local address
         of_vlan.index = 4;
         of_vlan.netdev = "eth0.100";
         s.rdma().gids.push_back(of_vlan);
       }},
      {"GID-4", "eth0", Kind::not_checked, [](Scenario& s) { s.rdma().gids.clear(); }, "empty"},
      {"GID-4", "eth0", Kind::not_checked, [](Scenario& s) { s.port().mac.reset(); }, "MAC"},
      {"GID-4", "eth0", Kind::not_checked,
       [](Scenario& s) { s.rdma().gids[2].type = host::GidType::unknown; }, "not published"},
      {"MTU-1", "eth0", Kind::passed, leave_alone},
      {"MTU-1", "eth0", Kind::passed, [](Scenario& s) { s.port().mtu = Bytes(4192); }},
      {"MTU-1", "eth0", Kind::found, [](Scenario& s) { s.port().mtu = Bytes(4191); }, "2048"},
      {"MTU-1", "eth0", Kind::found, [](Scenario& s) { s.rdma().active_mtu = Bytes(1024); }, "allows 4096"},
      {"MTU-1", "eth0", Kind::passed, [](Scenario& s) { s.port().mtu = Bytes(0); }},
      {"MTU-1", "eth0", Kind::found,
       [](Scenario& s) {
         s.port().mtu = Bytes(0);
         s.rdma().active_mtu = Bytes(1024);
       },
       "1500 as a rule"},
      {"MTU-1", "eth0", Kind::not_checked,
       [](Scenario& s) {
         s.port().mtu = Bytes(0);
         s.rdma().active_mtu.reset();
       },
       "MTU"},
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
      {"OPS-1", "host", Kind::found, [](Scenario& s) { s.host.state_confirmed = false; },
       "no state was confirmed"},
      {"OPS-1", "host", Kind::not_checked,
       [](Scenario& s) { s.host.state_confirmed = denied("the journal"); }, "the journal"},
      {"OPS-1", "host", Kind::not_checked,
       [](Scenario& s) { s.host.boot_unit_installed = denied("no systemd"); }, "no systemd"},
  };
}

}  // namespace

std::vector<Fixture> surrounding_fixtures() {
  std::vector<Fixture> out;
  for (const auto& family : {ownership_fixtures(), link_fixtures(), address_fixtures(), host_fixtures()}) {
    out.insert(out.end(), family.begin(), family.end());
  }
  return out;
}

}  // namespace rocetune::diagnose
