// Two hosts or more, as texts show them: what has to be the same at both ends.
#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <set>

#include "agent/diagnose/rule.h"
#include "agent/diagnose/shown_ports.h"
#include "agent/evidence/rdma_tools/mlxfwmanager.h"
#include "agent/host/rdma_files.h"

namespace rocetune::diagnose {
namespace {

// ---- MTU-2 ----

struct PortMtu {
  std::string host;
  std::string port;
  Bytes rdma;  // what queue pairs use
  Evidence evidence;
};

// Interfaces that no RDMA goes over.
bool is_other_interface(const std::string& name) {
  for (const char* begin :
       {"lo", "docker", "virbr", "veth", "cni", "flannel", "cali", "tun", "tap", "wl", "ib", "br-", "usb"}) {
    if (name.starts_with(begin)) return true;
  }
  return false;
}

// Where a text names RDMA devices or netdevs of theirs on this host, other interfaces of it do not count.
bool shows_rdma(const host::Host& host) {
  return std::any_of(host.ports.begin(), host.ports.end(),
                     [](const host::Port& p) { return p.rdma.has_value(); });
}

std::vector<PortMtu> port_mtus(const DossierFacts& facts) {
  std::vector<PortMtu> out;
  for (const HostFacts& host : facts.hosts) {
    const std::string name = host_without_state(host.host.name).value_or(host.host.name);
    if (name.empty()) continue;
    const bool only_rdma = shows_rdma(host.host);
    for (const host::Port& port : host.host.ports) {
      const host::RdmaPort* rdma = port.rdma ? &*port.rdma : nullptr;
      if (rdma != nullptr && rdma->link_layer == host::LinkLayer::infiniband) continue;
      if (rdma != nullptr && !rdma->state.empty() && rdma->state != "ACTIVE") continue;
      const std::string label = rdma != nullptr && !rdma->device.empty() ? rdma->device : port.name;
      if (rdma != nullptr && rdma->active_mtu) {
        out.push_back({name, label, *rdma->active_mtu,
                       setting(fmt::format("{} {} active_mtu", name, label), rdma->active_mtu->count(), "B",
                               source::kRdma)});
        continue;
      }
      if (port.mtu <= Bytes(0) || is_other_interface(port.name) || (only_rdma && rdma == nullptr)) continue;
      const auto mtu = host::roce_mtu_for(port.mtu);
      if (!mtu) continue;
      out.push_back({name, label, *mtu,
                     setting(fmt::format("{} {} MTU", name, label), port.mtu.count(), "B", source::kNetdev)});
    }
  }
  return out;
}

// Of files that name no host: each is an end if several show the same device.
void add_unnamed(const DossierFacts& facts, std::vector<PortMtu>& out) {
  const std::vector<ShownPort> ports = shown_ports(facts);
  for (const ShownPort& port : ports) {
    if (!port.view->rdma.active_mtu || port.view->is_infiniband()) continue;
    if (!port.view->rdma.state.empty() && !port.view->is_active()) continue;
    const bool has_other_end = std::any_of(ports.begin(), ports.end(), [&](const ShownPort& other) {
      return other.view->rdma.active_mtu && port.host().empty() && are_two_hosts(port, other);
    });
    if (!has_other_end || port.view->rdma.device.empty()) continue;
    out.push_back({port.document->file, port.view->name(), *port.view->rdma.active_mtu,
                   shown(port.view->name() + " active_mtu", port.view->rdma.active_mtu->count(), "B",
                         *port.document, port.view->mtu_line)});
  }
}

// Hosts whose ports have several MTUs.
std::set<std::string> hosts_with_several(const std::vector<PortMtu>& ports) {
  std::map<std::string, Bytes> first;
  std::set<std::string> out;
  for (const PortMtu& port : ports) {
    if (first.emplace(port.host, port.rdma).first->second != port.rdma) out.insert(port.host);
  }
  return out;
}

Finding mtu_mismatch(const PortMtu& a, const PortMtu& b) {
  Finding finding;
  finding.severity = Severity::critical;
  finding.subject = fmt::format("{} {}, {} {}", a.host, a.port, b.host, b.port);
  finding.evidence = {a.evidence, b.evidence};
  finding.cause = fmt::format(
      "The two ends have different MTUs: RDMA packets of {} B on {} and of {} B on {}. Small messages work; "
      "larger "
      "ones hang, or fail with length errors or retries exceeded, because the smaller end drops what the "
      "other sends.",
      a.rdma.count(), a.host, b.rdma.count(), b.host);
  finding.fix = advise(
      "Set one netdev MTU (9000) on all hosts, and more than that (9216) on every switch port between them; "
      "make it "
      "persistent; then prove it by a full-size ping without fragmentation in both directions.",
      {"ip link set dev NETDEV mtu 9000", "ping -M do -s 8972 PEER"});
  return finding;
}

Outcome judge_mtu_of_ends(const DossierFacts& facts) {
  std::vector<PortMtu> ports = port_mtus(facts);
  add_unnamed(facts, ports);
  const std::set<std::string> several = hosts_with_several(ports);
  std::vector<Finding> findings;
  std::set<std::string> hosts;
  std::set<std::pair<std::string, std::string>> done;
  for (const PortMtu& a : ports) {
    hosts.insert(a.host);
    for (const PortMtu& b : ports) {
      if (a.rdma == b.rdma || !(a.host < b.host)) continue;
      if (a.port != b.port && (several.contains(a.host) || several.contains(b.host))) continue;
      if (done.insert({a.host, b.host}).second && findings.size() < 8) findings.push_back(mtu_mismatch(a, b));
    }
  }
  if (!findings.empty()) return Outcome::found(std::move(findings));
  if (hosts.size() < 2) return Outcome::not_checked("the MTU of two hosts is not among the inputs");
  std::vector<Evidence> seen;
  for (const PortMtu& port : ports) {
    if (seen.size() < 16) seen.push_back(port.evidence);
  }
  return Outcome::passed(std::move(seen));
}

// ---- ECN-6 ----

struct ShownFirmware {
  std::string host;
  std::string kind;  // PSID, else part number
  std::string version;
  Evidence evidence;
};

// Of one host before an update.
bool is_past(const evidence::Document& document) {
  return document.phase && document.phase->kind == evidence::Phase::Kind::before;
}

std::vector<ShownFirmware> firmwares(const DossierFacts& facts) {
  std::vector<ShownFirmware> out;
  for (const ShownPort& port : shown_ports(facts)) {
    const evidence::RdmaPortView& view = *port.view;
    const std::string kind = view.psid.empty() ? view.part : view.psid;
    if (!view.rdma.firmware || kind.empty() || *view.rdma.firmware == "0.0.0") continue;
    if (is_past(*port.document)) continue;
    out.push_back({port.host(), kind, *view.rdma.firmware,
                   shown(port.subject() + " firmware of " + kind, *view.rdma.firmware, "", *port.document,
                         view.firmware_line)});
  }
  for (const auto& [document, list] : facts.dossier.all<evidence::AdapterList>()) {
    if (is_past(*document)) continue;
    for (const evidence::AdapterFirmware& adapter : list->adapters) {
      const std::string kind = adapter.psid.empty() ? adapter.part_number : adapter.psid;
      if (adapter.firmware.empty() || kind.empty()) continue;
      const std::string host = document->host.value_or("");
      out.push_back({host, kind, adapter.firmware,
                     shown(fmt::format("{}{}{} firmware of {}", host, host.empty() ? "" : " ",
                                       adapter.pci_device, kind),
                           adapter.firmware, "", *document, adapter.firmware_line)});
    }
  }
  return out;
}

// "28.39.1002" -> "28.39": what changes defaults and bug fixes.
std::string release_of(const std::string& version) {
  const auto first = version.find('.');
  return version.substr(0, first == std::string::npos ? first : version.find('.', first + 1));
}

// One kind of adapter with several firmwares: who has the rarer ones.
std::optional<Finding> uneven(const std::string& kind, const std::vector<const ShownFirmware*>& of_kind) {
  std::map<std::string, std::vector<const ShownFirmware*>> versions;
  std::set<std::string> releases;
  for (const ShownFirmware* firmware : of_kind) {
    versions[firmware->version].push_back(firmware);
    releases.insert(release_of(firmware->version));
  }
  if (versions.size() < 2) return std::nullopt;
  const auto usual = std::max_element(versions.begin(), versions.end(), [](const auto& a, const auto& b) {
    return a.second.size() < b.second.size();
  });
  Finding finding;
  finding.severity = releases.size() > 1 ? Severity::warning : Severity::info;
  finding.confidence = Confidence::medium;
  finding.subject = kind;
  std::string odd;
  for (const auto& [version, where] : versions) {
    finding.evidence.push_back(where.front()->evidence);
    if (version == usual->first) continue;
    for (const ShownFirmware* firmware : where) {
      if (odd.size() > 200) break;
      odd += fmt::format("{}{} {}", odd.empty() ? "" : ", ", firmware->host.empty() ? "one" : firmware->host,
                         version);
    }
  }
  finding.cause = fmt::format(
      "Adapters of one kind ({}) run different firmware: most have {}, but {}. Firmware changes defaults of "
      "congestion "
      "control and of the class map, so that hosts behave differently under the same settings.",
      kind, usual->first, odd);
  finding.fix = advise("Bring all of them to one firmware, then look at their settings again.",
                       {"mlxfwmanager --query"});
  return finding;
}

Outcome judge_firmware_of_hosts(const DossierFacts& facts) {
  const std::vector<ShownFirmware> all = firmwares(facts);
  std::map<std::string, std::vector<const ShownFirmware*>> kinds;
  std::map<std::string, std::set<std::string>> kinds_of_host;
  for (const ShownFirmware& firmware : all) {
    kinds[firmware.kind].push_back(&firmware);
    kinds_of_host[firmware.host].insert(firmware.kind);
  }
  std::vector<Finding> findings;
  for (const auto& [kind, of_kind] : kinds) {
    if (auto finding = uneven(kind, of_kind)) findings.push_back(std::move(*finding));
  }
  // Hosts without a common kind of adapter.
  if (findings.empty() && kinds_of_host.size() > 1) {
    const auto& first = *kinds_of_host.begin();
    for (const auto& [host, of_host] : kinds_of_host) {
      if (of_host == first.second || host.empty() || first.first.empty()) continue;
      Finding finding;
      finding.severity = Severity::info;
      finding.confidence = Confidence::medium;
      finding.subject = first.first + ", " + host;
      for (const ShownFirmware& firmware : all) {
        if ((firmware.host == host || firmware.host == first.first) && finding.evidence.size() < 4)
          finding.evidence.push_back(firmware.evidence);
      }
      finding.cause = fmt::format(
          "{} and {} have different adapters: generations pace congestion notifications differently.",
          first.first, host);
      finding.fix = advise("Do not mix them on one fabric without an incast test over both.");
      findings.push_back(std::move(finding));
      break;
    }
  }
  if (!findings.empty()) return Outcome::found(std::move(findings));
  if (all.size() < 2) return Outcome::not_checked("the firmware of two adapters is not among the inputs");
  std::vector<Evidence> seen;
  for (const ShownFirmware& firmware : all) {
    if (seen.size() < 16) seen.push_back(firmware.evidence);
  }
  return Outcome::passed(std::move(seen));
}

}  // namespace

std::span<const Rule> both_ends_rules() {
  static constexpr Rule kRules[] = {
      {.id = "MTU-2",
       .title = "Both ends have one MTU",
       .condition =
           "RDMA ports of different hosts have the same active_mtu, or netdev MTUs that give the same.",
       .why = "A mismatch hangs rather than fails: small messages pass, full packets are dropped.",
       .needs = "The MTU of at least two hosts that are told apart by name (ibv_devinfo, ip link of both).",
       .decided = "Critical if ports of the same name differ, or if each host has one MTU and they differ. "
                  "Ports that are "
                  "down, and interfaces that no RDMA goes over, do not count.",
       .fix = "One MTU everywhere, more on switches.",
       .source = "NVIDIA/nccl#1524, #1957, #2135; Linux include/rdma/ib_addr.h",
       .gates = {},
       .judge = judge_mtu_of_ends},
      {.id = "ECN-6",
       .title = "Hosts have one kind of NIC and firmware",
       .condition = "Adapters of one PSID have one firmware; hosts have the same kinds of adapters.",
       .why = "Generations pace CNPs differently, and firmware changes defaults.",
       .needs = "Firmware of two adapters: ibv_devinfo, ibstat, mlxfwmanager.",
       .decided =
           "Warning if releases differ within one PSID, info for smaller steps and for different adapters.",
       .fix = "One firmware.",
       .source = "Azure and Lumina publications on mixed NICs",
       .gates = {},
       .judge = judge_firmware_of_hosts},
  };
  return kRules;
}

}  // namespace rocetune::diagnose
