// What `rocetune inspect` prints for people.
#include <arpa/inet.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "agent/host/interfaces.h"
#include "tools/rocetune/inspect.h"
#include "tools/rocetune/inspect_section.h"
#include "tools/rocetune/inspect_tables.h"

namespace rocetune::cli {
namespace {

using host::Port;

// ---- the host ----

std::string iommu_text(const host::Host& host) {
  if (!host.iommu) return "";
  return "IOMMU " + *host.iommu;
}

void add_host(const host::Host& host, const PartFacts& parts, Section& out) {
  std::string machine;
  if (host.hypervisor)
    machine = host.hypervisor->empty() ? "bare metal" : "virtual machine (" + *host.hypervisor + ")";
  out.heading(host.name.empty() ? "host" : host.name,
              joined({host.kernel.empty() ? "" : "Linux " + host.kernel, machine, iommu_text(host),
                      host.lockdown ? fmt::format("lockdown {}", enum_name(*host.lockdown)) : ""}));
  if (host.rdma_namespaces_exclusive) {
    out.line("RDMA", *host.rdma_namespaces_exclusive
                         ? "devices belong to one network namespace each (exclusive)"
                         : "devices are shared by all network namespaces");
  }
  if (host.unseen_namespaces && !host.unseen_namespaces->empty()) {
    out.line("not seen",
             "NICs in network namespaces that could not be entered: " + joined(*host.unseen_namespaces));
  }
  if (host.owners) {
    std::vector<std::string> owners;
    for (const host::Owner& owner : *host.owners)
      owners.push_back(fmt::format("{} ({})", owner.name, owner.evidence));
    out.line("owners", owners.empty() ? "no program found that writes DCB or link settings" : joined(owners));
  }
  if (host.boot_unit_installed) {
    out.line("at boot", !*host.boot_unit_installed ? "nothing of ours: settings made by hand are lost"
                        : host.state_confirmed.value_or(true)
                            ? "the last confirmed state is applied"
                            : "our unit, with no confirmed state to apply: settings made by hand are lost");
  }
  if (host.gpus && !host.gpus->empty()) {
    std::vector<std::string> gpus;
    for (const host::Gpu& gpu : *host.gpus) {
      gpus.push_back(fmt::format("{} ({}{})", gpu.pci_address, gpu.name,
                                 gpu.numa_node ? fmt::format(", NUMA {}", *gpu.numa_node) : ""));
    }
    out.line("GPUs", joined(gpus));
  }
  for (const host::Bond& bond : host.bonds) {
    out.line("bond " + bond.name,
             joined({bond.mode, bond.transmit_hash_policy.empty() ? "" : "hash " + bond.transmit_hash_policy,
                     fmt::format("{} of {} members active ({})", bond.active_members.size(),
                                 bond.members.size(), joined(bond.members)),
                     bond.partner_mac ? "partner " + *bond.partner_mac : ""}));
  }
  std::vector<std::string> part_texts;
  for (const PartStatus& part : parts.parts) {
    part_texts.push_back(part.state == PartStatus::State::usable
                             ? part.name
                             : fmt::format("{} {}", part.name, enum_name(part.state)));
  }
  out.line("parts", joined(part_texts));
  for (const PartStatus& part : parts.parts) {
    if (part.state == PartStatus::State::unusable) out.line("", part.name + ": " + part.why, Paint::warning);
  }
  if (parts.dpdk) out.line("DPDK", dpdk_text(*parts.dpdk));
}

// ---- a port ----

std::string pcie_text(const Port& port) {
  if (!port.pci_address) return "";
  std::string where =
      fmt::format("{}{}{}", *port.pci_address, port.pci_id ? fmt::format(" ({})", *port.pci_id) : "",
                  port.numa_node ? fmt::format(", NUMA {}", *port.numa_node) : "");
  if (!port.pcie) return where;
  const host::PcieLink& link = *port.pcie;
  std::string speed;
  if (link.width_lanes && link.speed_gt_per_s) {
    speed = fmt::format("x{} at {} GT/s", *link.width_lanes, *link.speed_gt_per_s);
    const bool less = (link.max_width_lanes && *link.max_width_lanes > *link.width_lanes) ||
                      (link.max_speed_gt_per_s && *link.max_speed_gt_per_s > *link.speed_gt_per_s);
    if (less) {
      speed += fmt::format(" (capable of x{} at {} GT/s)", link.max_width_lanes.value_or(*link.width_lanes),
                           link.max_speed_gt_per_s.value_or(*link.speed_gt_per_s));
    }
  }
  std::string acs;
  if (link.acs_redirecting_bridges && !link.acs_redirecting_bridges->empty()) {
    acs = "ACS redirects at " + joined(*link.acs_redirecting_bridges);
  }
  return joined(
      {where, speed, link.max_read_request ? "MaxReadReq " + to_text(*link.max_read_request) : "",
       link.max_payload ? "MaxPayload " + to_text(*link.max_payload) : "",
       link.relaxed_ordering ? fmt::format("relaxed ordering {}", *link.relaxed_ordering ? "on" : "off") : "",
       acs});
}

std::string link_text(const host::Link& link) {
  return joined(
      {!link.admin_up ? "down (not enabled)"
       : link.carrier ? "up"
                      : "no carrier",
       link.speed ? to_text(*link.speed) : "", link.lanes ? fmt::format("{} lanes", *link.lanes) : "",
       link.full_duplex && !*link.full_duplex ? "half duplex" : "", link.fec ? "FEC " + *link.fec : "",
       link.autonegotiation ? fmt::format("autonegotiation {}", *link.autonegotiation ? "on" : "off") : "",
       link.carrier_changes ? fmt::format("{} carrier changes", *link.carrier_changes) : ""});
}

std::string rdma_text(const host::RdmaPort& rdma) {
  return joined({fmt::format("{} port {}", rdma.device, rdma.port), rdma.state,
                 rdma.physical_state.value_or(""), rdma.rate ? to_text(*rdma.rate) : "",
                 rdma.link_layer == host::LinkLayer::ethernet
                     ? ""
                     : fmt::format("link layer {}", enum_name(rdma.link_layer)),
                 rdma.driver});
}

// In the usual short form; "::ffff:a.b.c.d" as IPv4.
std::string gid_text(const host::Gid& gid) {
  std::array<unsigned char, 16> bytes{};
  std::array<char, INET6_ADDRSTRLEN> text{};
  if (inet_pton(AF_INET6, gid.address.c_str(), bytes.data()) != 1) return gid.address;
  const bool ipv4 = gid.is_ipv4_mapped();
  return inet_ntop(ipv4 ? AF_INET : AF_INET6, bytes.data() + (ipv4 ? 12 : 0), text.data(), text.size());
}

std::string gids_text(const host::RdmaPort& rdma) {
  static const std::map<host::GidType, std::string> kTypes{{host::GidType::ib, "IB"},
                                                           {host::GidType::roce_v1, "v1"},
                                                           {host::GidType::roce_v2, "v2"},
                                                           {host::GidType::unknown, "?"}};
  std::vector<std::string> out;
  for (const host::Gid& gid : rdma.gids) {
    out.push_back(fmt::format("{}: {} {}", gid.index, kTypes.at(gid.type), gid_text(gid)));
  }
  return out.empty() ? "none" : joined(out);
}

std::string dcbx_text(const host::DcbxMode& mode) {
  if (mode == host::DcbxMode{}) return "firmware or nobody (mode 0)";
  return joined({mode.host          ? "host"
                 : mode.lld_managed ? "firmware or another engine (LLD managed)"
                                    : "not the host",
                 mode.ieee ? "IEEE" : "", mode.cee ? "CEE" : "", mode.is_static ? "static" : ""});
}

std::string pfc_text(const host::Pfc& pfc, const host::NicRow& row) {
  std::string delay;
  if (row.dcb.pfc_delay_unit == host::DelayUnit::metres) {
    delay =
        fmt::format("cable {} m{}", pfc.delay, pfc.delay == row.dcb.pfc_delay_default ? " (default)" : "");
  } else if (pfc.delay != 0) {
    delay = fmt::format("delay {}", pfc.delay);
  }
  return joined({pfc.enabled.is_empty() ? "off" : "lossless " + to_text(pfc.enabled),
                 fmt::format("at most {}", pfc.capable), delay});
}

std::string pause_text(const host::GlobalPause& pause) {
  return fmt::format("receive {}, transmit {}, autonegotiation {}", pause.receive ? "on" : "off",
                     pause.transmit ? "on" : "off", pause.autonegotiate ? "on" : "off");
}

std::string watchdog_text(std::uint16_t milliseconds, const host::NicRow& row) {
  if (milliseconds == 0) return "off";
  if (milliseconds == 0xffff) return fmt::format("automatic ({} ms)", row.watchdog.automatic_ms);
  return fmt::format("{} ms", milliseconds);
}

// Eight NICs set alike are told once.
const Port* earlier_with_same_parameters(const host::Host& host, const Port& port) {
  for (const Port& earlier : host.ports) {
    if (&earlier == &port || !port.cc_params) return nullptr;
    if (earlier.nic == port.nic && earlier.cc_params && *earlier.cc_params == *port.cc_params)
      return &earlier;
  }
  return nullptr;
}

std::string congestion_text(const Port& port) {
  if (port.congestion_control) {
    switch (*port.congestion_control) {
      case host::CongestionControl::dcqcn:
        return "DCQCN";
      case host::CongestionControl::programmable:
        return "programmable: the parameters below steer nothing";
      case host::CongestionControl::off:
        return "off";
    }
  }
  return "unknown: " + port.congestion_control.error().why;
}

std::string attachments_text(const host::Attachments& attachments) {
  std::vector<std::string> out;
  if (attachments.carries_default_route) out.emplace_back("default route");
  if (!attachments.ssh_peers.empty()) out.push_back("ssh from " + joined(attachments.ssh_peers));
  if (!attachments.storage_mounts.empty()) out.push_back("storage at " + joined(attachments.storage_mounts));
  for (const auto* unknown : {&attachments.unknown_sessions, &attachments.unknown_storage}) {
    if (!unknown->empty()) out.push_back("not known: " + joined(*unknown));
  }
  return joined(out, "; ");
}

std::string affinity_text(const host::Host& host, const Port& port) {
  if (!host.affinity) return "";
  std::map<host::PciDistance, std::vector<std::string>> by_distance;
  for (const host::Affinity& affinity : *host.affinity) {
    if (affinity.port == port.name) by_distance[affinity.distance].push_back(affinity.gpu);
  }
  std::vector<std::string> out;
  for (const auto& [distance, gpus] : by_distance)
    out.push_back(fmt::format("{}: {}", enum_name(distance), joined(gpus)));
  return joined(out, "; ");
}

// What the verbs part says about one RDMA device.
void add_verbs(const PartFacts& parts, const std::string& name, Section& out) {
  if (!parts.rdma_devices) return;  // why is said once, for the host
  const auto device = std::find_if(parts.rdma_devices->begin(), parts.rdma_devices->end(),
                                   [&](const verbs::Device& candidate) { return candidate.name == name; });
  if (device == parts.rdma_devices->end()) {
    out.line("verbs", "no user-space driver on this host for " + name, Paint::faint);
  } else if (!device->facts) {
    out.line("verbs", device->facts.error().why, Paint::warning);
  } else {
    out.line("verbs", verbs_text(*device->facts));
  }
}

void add_port(const host::Host& host, const PartFacts& parts, const Port& port, const host::NicRow& row,
              Section& out) {
  out.heading(
      port.name,
      joined({port.nic == "unknown" ? port.driver : fmt::format("{} ({})", row.description, port.driver),
              std::string(host::role_text(port.role)), port.bond ? "member of " + *port.bond : "",
              port.network_namespace.empty() ? "" : "in network namespace " + port.network_namespace}));
  if (port.rdma) {
    out.line("RDMA", rdma_text(*port.rdma));
    add_verbs(parts, port.rdma->device, out);
  }
  out.line("PCIe", pcie_text(port));
  out.line("firmware", joined({port.firmware.value_or(""), port.psid ? "PSID " + *port.psid : "",
                               port.part_number ? "part " + *port.part_number : ""}));
  if (port.link) out.line("link", link_text(*port.link));
  std::string rdma_mtu;
  if (port.rdma)
    rdma_mtu = port.rdma->active_mtu ? fmt::format("RDMA {} B", port.rdma->active_mtu->count())
                                     : "too small for RDMA";
  out.line("MTU", joined({fmt::format("{}B", port.mtu.count()), rdma_mtu,
                          port.max_mtu ? fmt::format("at most {}B", port.max_mtu->count()) : ""}));
  out.line("addresses", joined({port.mac.value_or(""), joined(port.addresses)}));
  if (!port.uppers.empty()) out.line("carries", joined(port.uppers));
  if (port.rdma) out.line("GIDs", gids_text(*port.rdma));
  if (port.attachments) out.line("in use by", attachments_text(*port.attachments));
  out.line("GPUs", affinity_text(host, port));
  if (port.dcb.dcbx) out.line("DCB owner", dcbx_text(*port.dcb.dcbx));
  if (port.dcb.trust) out.line("trust", std::string(enum_name(*port.dcb.trust)));
  if (port.dcb.pfc) out.line("PFC", pfc_text(*port.dcb.pfc, row));
  if (port.pfc_prevention_ms) out.line("PFC watchdog", watchdog_text(*port.pfc_prevention_ms, row));
  if (port.pause) out.line("global pause", pause_text(*port.pause));
  if (port.rdma && port.rdma->cm_default_tos) {
    const TosByte tos = *port.rdma->cm_default_tos;
    out.line("rdma_cm ToS",
             fmt::format("{} (DSCP {}, {})", tos.wire(), tos.dscp().value(), to_text(tos.ecn())));
  }
  out.table("class map", class_map(port.dcb));
  if (port.rdma) out.line("congestion", congestion_text(port));
  if (port.ecn_enable) {
    out.line("ECN (OFED)", fmt::format("notification point {}, reaction point {}",
                                       to_text(port.ecn_enable->notification_point),
                                       to_text(port.ecn_enable->reaction_point)));
  }
  if (const Port* const twin = earlier_with_same_parameters(host, port)) {
    out.line("parameters", "as " + twin->name);
  } else {
    out.table("congestion-control parameters", parameter_table(port, row));
  }
}

}  // namespace

std::string inspect_text(const host::Host& host, const host::NicTable& nics, const PartFacts& parts,
                         bool all_interfaces, const TextTable::Look& look) {
  Section out(look);
  const std::vector<host::InterfaceState> interfaces = host::interfaces_of(host);
  add_host(host, parts, out);
  add_interfaces(interfaces, "", all_interfaces, out);
  for (const Port& port : host.ports) {
    out.blank();
    add_port(host, parts, port, nics.named(port.nic), out);
    add_interfaces(interfaces, port.name, all_interfaces, out);
  }
  if (host.ports.empty()) {
    out.blank();
    out.line("no NIC", "no Ethernet device with hardware behind it or RDMA on top of it is visible here");
  }
  return out.take();
}

}  // namespace rocetune::cli
