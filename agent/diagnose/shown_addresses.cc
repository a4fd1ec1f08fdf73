// Addresses of NICs as GID tables and kernel logs show them: subnets of rails, GIDs that a driver refuses.
#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <set>

#include "agent/diagnose/rule.h"
#include "agent/diagnose/shown_ports.h"
#include "agent/evidence/rdma_tools/kernel_log.h"
#include "agent/host/gid_address.h"

namespace rocetune::diagnose {
namespace {

constexpr std::size_t kLinesQuoted = 4;

// ---- GID-3 ----

struct RailAddress {
  std::array<std::uint8_t, 4> ipv4;
  ShownPort port;
  std::size_t gid = 0;
};

// Of one host: each device's IPv4 addresses, once.
std::map<std::string, std::vector<RailAddress>> rails(const DossierFacts& facts) {
  std::map<std::string, std::vector<RailAddress>> out;
  for (const ShownPort& port : shown_gid_tables(facts)) {
    if (port.view->is_infiniband() || port.view->rdma.device.empty()) continue;
    auto& of_host = out[port.host()];
    for (std::size_t i = 0; i < port.view->rdma.gids.size(); ++i) {
      const auto ipv4 = host::ipv4_in(port.view->rdma.gids[i].address);
      if (!ipv4) continue;
      const bool known = std::any_of(of_host.begin(), of_host.end(), [&](const RailAddress& other) {
        return other.ipv4 == *ipv4 && other.port.view->rdma.device == port.view->rdma.device;
      });
      if (!known) of_host.push_back({*ipv4, port, i});
    }
  }
  return out;
}

// Addresses whose prefix length is known, as `ip addr` shows it: the rule about the host judges those.
std::set<std::string> addresses_with_prefix(const DossierFacts& facts) {
  std::set<std::string> out;
  for (const HostFacts& host : facts.hosts) {
    for (const host::Port& port : host.host.ports) {
      for (const std::string& address : port.addresses) {
        if (const auto slash = address.find('/'); slash != std::string::npos)
          out.insert(address.substr(0, slash));
      }
    }
  }
  return out;
}

// Two devices that stand on the same netdev, or on VLANs of it, are one rail.
bool is_other_rail(const RailAddress& a, const RailAddress& b) {
  const std::string one = a.port.view->netdev(), other = b.port.view->netdev();
  return a.port.view->rdma.device != b.port.view->rdma.device && (one.empty() || one != other);
}

std::vector<Finding> shared_subnets(const std::vector<RailAddress>& addresses) {
  std::vector<Finding> findings;
  std::set<std::array<std::uint8_t, 3>> done;
  for (const RailAddress& first : addresses) {
    const std::array<std::uint8_t, 3> net{first.ipv4[0], first.ipv4[1], first.ipv4[2]};
    if (!done.insert(net).second) continue;
    std::vector<const RailAddress*> members;
    bool close = false;  // within four addresses: no prefix that hosts use parts them
    for (const RailAddress& other : addresses) {
      if (!std::equal(net.begin(), net.end(), other.ipv4.begin())) continue;
      const bool is_new = std::all_of(members.begin(), members.end(), [&](const RailAddress* member) {
        return is_other_rail(*member, other);
      });
      if (!is_new) continue;
      for (const RailAddress* member : members) close |= (member->ipv4[3] ^ other.ipv4[3]) < 4;
      members.push_back(&other);
    }
    if (members.size() < 2) continue;
    Finding finding;
    finding.confidence = close ? Confidence::medium : Confidence::low;
    finding.subject = first.port.host();
    std::string names;
    for (const RailAddress* member : members) {
      if (finding.evidence.size() < 8) finding.evidence.push_back(member->port.gid(member->gid));
      names += (names.empty() ? "" : ", ") + member->port.view->name();
    }
    finding.cause = fmt::format(
        "{} of one host have addresses in {}.{}.{}.0/24, as it seems one subnet (prefix lengths are not "
        "shown): ARP "
        "answers and routes may use another NIC than the one addressed, so that RoCE v2 queue pairs fail or "
        "time out "
        "while tests of a single NIC pass.",
        names, net[0], net[1], net[2]);
    finding.fix = advise(
        "One subnet per NIC; or policy routing (a table for each address) with arp_ignore=1, arp_announce=2 "
        "and "
        "rp_filter 0 or 2. Staying with RoCE v1 (index 0) only hides it.",
        {"ip -br address",
         "sysctl -w net.ipv4.conf.all.arp_ignore=1 net.ipv4.conf.all.arp_announce=2 "
         "net.ipv4.conf.all.rp_filter=2"});
    findings.push_back(std::move(finding));
  }
  return findings;
}

Outcome judge_rails(const DossierFacts& facts) {
  std::vector<Finding> findings;
  std::vector<Evidence> seen;
  bool several = false, prefixes_known = false;
  const std::set<std::string> with_prefix = addresses_with_prefix(facts);
  for (auto& [host, addresses] : rails(facts)) {
    const std::size_t before = addresses.size();
    std::erase_if(addresses,
                  [&](const RailAddress& rail) { return with_prefix.contains(host::to_text(rail.ipv4)); });
    prefixes_known |= addresses.size() < before;
    for (const RailAddress& rail : addresses) {
      several |= is_other_rail(addresses[0], rail);
      if (seen.size() < 8) seen.push_back(rail.port.gid(rail.gid));
    }
    for (Finding& finding : shared_subnets(addresses)) findings.push_back(std::move(finding));
  }
  if (!findings.empty()) return Outcome::found(std::move(findings));
  if (!several) {
    return Outcome::not_checked(prefixes_known
                                    ? "the addresses are shown with their prefixes: judged by host"
                                    : "no GID table shows IPv4 addresses of two RDMA devices of a host");
  }
  return Outcome::passed(std::move(seen));
}

// ---- GID-4 ----

// The same RoCE v2 GID on several netdevs of one device: a VLAN or bond repeats the link-local one.
std::vector<Evidence> repeated(const std::vector<ShownPort>& tables) {
  std::vector<Evidence> out;
  for (const ShownPort& table : tables) {
    const auto& gids = table.view->rdma.gids;
    for (std::size_t i = 0; i < gids.size() && out.size() < 8; ++i) {
      const bool again = std::any_of(gids.begin(), gids.end(), [&](const host::Gid& other) {
        return other.index != gids[i].index && other.address == gids[i].address &&
               other.type == gids[i].type && other.netdev != gids[i].netdev;
      });
      if (gids[i].type != host::GidType::roce_v2 || !again) continue;
      out.push_back(table.gid(i));
      out.back().name += gids[i].netdev ? " on " + *gids[i].netdev : "";
    }
  }
  return out;
}

// The MAC in a link-local GID that a line names, whole ("fe80:0000:...:ad3e:e3ff:fe92:b31b") or shortened in
// front.
std::optional<std::array<std::uint8_t, 6>> mac_in_line(std::string_view text) {
  constexpr std::size_t kInterface = 19;  // "ad3e:e3ff:fe92:b31b"
  for (std::size_t at = text.find("ff:fe"); at != std::string_view::npos; at = text.find("ff:fe", at + 1)) {
    if (at < 7 || at - 7 + kInterface > text.size()) continue;
    if (auto mac = host::mac_in("fe80::" + std::string(text.substr(at - 7, kInterface)))) return mac;
  }
  return std::nullopt;
}

Outcome judge_refused_gids(const DossierFacts& facts) {
  std::vector<Finding> findings;
  const std::vector<ShownPort> tables = shown_gid_tables(facts);
  const std::vector<Evidence> twice = repeated(tables);
  std::vector<Evidence> seen;
  for (const auto& [document, log] : facts.dossier.all<evidence::KernelLog>()) {
    Finding finding;
    std::string device, group_mac;
    for (const evidence::KernelEvent kind :
         {evidence::KernelEvent::gid_refused, evidence::KernelEvent::address_handle}) {
      const evidence::KernelEvents& events = log->of(kind);
      for (std::size_t i = 0; i < std::min(events.lines.size(), kLinesQuoted); ++i) {
        finding.evidence.push_back(
            shown("kernel log", events.lines[i].text, "", *document, events.lines[i].line));
        if (device.empty()) device = events.lines[i].device;
        const auto mac = mac_in_line(events.lines[i].text);
        if (mac && ((*mac)[0] & 0x01) != 0 && group_mac.empty()) {
          group_mac = host::to_text(*mac);
          finding.evidence.push_back(
              shown("MAC in that GID", group_mac, "", *document, events.lines[i].line));
        }
      }
    }
    seen.push_back(shown("lines about refused GIDs", finding.evidence.size(), "", *document));
    if (finding.evidence.empty()) continue;
    const bool handles = log->of(evidence::KernelEvent::address_handle).count > 0;
    finding.severity = handles ? Severity::critical : Severity::warning;
    finding.subject = device.empty() ? document->host.value_or("") : device;
    finding.evidence.insert(finding.evidence.end(), twice.begin(), twice.end());
    finding.cause = fmt::format(
        "The driver refuses a GID{}{}: connections that use it cannot be set up. No QoS setting changes "
        "that.",
        handles ? " or an address handle made of it" : "",
        twice.empty() ? ""
                      : "; one GID stands in the table several times, once for each VLAN or bond device");
    finding.fix = advise(
        "Take a driver and firmware that match; look at the MAC (a group bit makes a GID that is refused), "
        "at VLANs "
        "that repeat a link-local GID (give them addresses of their own, or addrgenmode none), and at how "
        "many GIDs "
        "the NIC takes.",
        {"ip -d link", "show_gids"});
    findings.push_back(std::move(finding));
  }
  if (findings.empty() && !twice.empty()) {
    Finding finding;
    finding.severity = Severity::info;
    finding.confidence = Confidence::low;
    finding.subject = tables[0].host();
    finding.evidence = twice;
    finding.cause =
        "One GID stands in the table several times, once for each VLAN or bond device. As a rule that is "
        "harmless; "
        "drivers that look entries up by address alone take the wrong one.";
    finding.fix =
        advise("Choose the GID by its netdev; look for refused GIDs in the kernel log if connections fail.");
    findings.push_back(std::move(finding));
  }
  return Outcome::of(std::move(findings), std::move(seen),
                     "no kernel log is among the inputs, and no table repeats a GID");
}

}  // namespace

std::span<const Rule> shown_address_rules() {
  static constexpr Rule kRules[] = {
      {.id = "GID-3",
       .title = "Rails have subnets of their own, as GID tables show them",
       .condition = "No two RDMA devices of a host have IPv4 addresses in one /24.",
       .why = "The kernel may answer ARP and route through another NIC of the subnet.",
       .needs = "IPv4-mapped GIDs of two devices of a host.",
       .decided = "Warning, confidence medium if the addresses are neighbours, low otherwise: a GID shows no "
                  "prefix length. "
                  "Where `ip address` shows it, the rule about the host judges.",
       .fix = "One subnet per NIC, or policy routing with the sysctls.",
       .source = "NVIDIA/nccl#1131, kvcache-ai/Mooncake#204; Linux ip-sysctl documentation",
       .gates = {},
       .judge = judge_rails},
      {.id = "GID-4",
       .title = "The driver takes its GIDs",
       .condition = "The kernel's log shows no GID or address handle that was refused.",
       .why = "A connection over a refused GID cannot be set up, and nothing in the network changes that.",
       .needs = "The kernel's log; GID tables.",
       .decided = "Critical if address handles fail, warning if GIDs are refused. One GID listed for several "
                  "VLANs or bonds "
                  "is info alone and evidence beside such lines.",
       .fix = "Driver, firmware, MAC, VLANs; not QoS.",
       .source = "linux-rdma mailing list, July 2019; Linux drivers/infiniband/core/roce_gid_mgmt.c",
       .gates = {},
       .judge = judge_refused_gids},
  };
  return kRules;
}

}  // namespace rocetune::diagnose
