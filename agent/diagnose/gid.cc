#include <arpa/inet.h>
#include <fmt/core.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <set>

#include "agent/diagnose/rule.h"
#include "agent/host/gid_address.h"

namespace rocetune::diagnose {
namespace {

// ---- GID-1 ----

Evidence gid_evidence(const host::Gid& gid) {
  return setting(fmt::format("GID {}", gid.index), fmt::format("{} ({})", gid.address, enum_name(gid.type)),
                 "", source::kRdma);
}

Outcome judge_gids(const PortFacts& facts) {
  Needs need;
  const host::RdmaPort* rdma = need(facts.port.rdma, "RDMA device");
  if (rdma == nullptr) return need.not_checked();
  if (rdma->gids.empty()) return Outcome::not_checked("the GID table is empty or was not read");
  std::vector<Evidence> all;
  bool has_v2 = false, has_unknown = false;
  for (const host::Gid& gid : rdma->gids) {
    all.push_back(gid_evidence(gid));
    has_unknown |= gid.type == host::GidType::unknown;
    has_v2 |= gid.type == host::GidType::roce_v2;
    if (gid.type == host::GidType::roce_v2 && !gid.is_link_local()) return Outcome::passed({all.back()});
  }
  if (has_unknown) return Outcome::not_checked("the type of some GIDs is not published");
  // InfiniBand and iWARP ports have such tables too, and a text may show a piece of one.
  if (!has_v2 && rdma->link_layer != host::LinkLayer::ethernet) {
    return Outcome::not_checked("no GID is RoCE v2, but the link layer is not known");
  }
  Finding finding;
  finding.evidence = std::move(all);
  if (!has_v2) {
    finding.severity = Severity::critical;
    finding.cause =
        "All GIDs are RoCE v1: such packets have no IP header, so no DSCP, no ECN and no route beyond the "
        "first switch.";
    finding.fix = advise(
        "Enable RoCE v2: let the driver publish v2 GIDs (firmware and driver current, RoCE enabled), and set "
        "the RDMA connection manager's default to v2.",
        {fmt::format("cma_roce_mode -d {} -p {} -m 2", rdma->device, rdma->port)});
  } else {
    finding.cause =
        "The only RoCE v2 GIDs are link-local (fe80): they do not leave the subnet, and many libraries skip "
        "them.";
    finding.fix =
        advise(fmt::format("Give {} an IPv4 or global IPv6 address; a GID for it appears by itself.",
                           facts.port.name),
               {fmt::format("ip addr add ADDRESS/PREFIX dev {}", facts.port.name)});
  }
  return Outcome::found(std::move(finding));
}

// ---- GID-3 ----

// "10.1.2.3/24" -> "10.1.2.0/24"; nothing for link-local addresses, host routes, and what is no address.
std::optional<std::string> subnet_of(const std::string& address) {
  const std::size_t slash = address.find('/');
  if (slash == std::string::npos) return std::nullopt;
  const std::string text = address.substr(0, slash);
  const int family = text.find(':') == std::string::npos ? AF_INET : AF_INET6;
  const int bits = family == AF_INET ? 32 : 128;
  int prefix = 0;
  for (const char c : address.substr(slash + 1)) {
    if (c < '0' || c > '9' || prefix > bits) return std::nullopt;
    prefix = prefix * 10 + (c - '0');
  }
  if (prefix == 0 || prefix >= bits) return std::nullopt;
  unsigned char raw[16] = {};
  if (inet_pton(family, text.c_str(), raw) != 1) return std::nullopt;
  const bool link_local =
      family == AF_INET6 ? raw[0] == 0xfe && (raw[1] & 0xc0) == 0x80 : raw[0] == 169 && raw[1] == 254;
  if (link_local) return std::nullopt;
  for (int bit = prefix; bit < bits; ++bit) raw[bit / 8] &= static_cast<unsigned char>(~(0x80 >> bit % 8));
  char out[INET6_ADDRSTRLEN];
  return fmt::format("{}/{}", inet_ntop(family, raw, out, sizeof out), prefix);
}

Outcome judge_subnets(const HostFacts& facts) {
  std::map<std::pair<std::string, std::string>, std::set<std::string>>
      ports_of;  // (namespace, subnet) -> ports
  std::vector<Evidence> seen;
  for (const PortFacts& port : facts.ports) {
    if (port.port.bond) continue;  // the bond's address, not the member's
    if (port.rdma() == nullptr || port.rdma()->link_layer == host::LinkLayer::infiniband) continue;
    for (const std::string& address : port.port.addresses) {
      const auto subnet = subnet_of(address);
      if (!subnet) continue;
      ports_of[{port.port.network_namespace, *subnet}].insert(port.port.name);
      seen.push_back(setting(fmt::format("subnet of {}", port.port.name), *subnet, "", address));
    }
  }
  if (seen.size() < 2) return Outcome::not_checked("fewer than two RoCE ports with an address");
  std::vector<Finding> findings;
  for (const auto& [place, ports] : ports_of) {
    if (ports.size() < 2) continue;
    Finding finding;
    finding.confidence = Confidence::medium;
    std::string names;
    for (const std::string& name : ports) {
      names += (names.empty() ? "" : ", ") + name;
      finding.evidence.push_back(setting(fmt::format("subnet of {}", name), place.second, "", "addresses"));
    }
    finding.cause = fmt::format(
        "{} are in one subnet ({}): replies and routes may use another NIC than the one addressed, and tests "
        "of single NICs do not show it.",
        names, place.second);
    finding.fix = advise(
        "One subnet per NIC; or policy routing, with arp_ignore 1, arp_announce 2 and rp_filter 0 or 2 on "
        "each.",
        {"sysctl -w net.ipv4.conf.all.arp_ignore=1 net.ipv4.conf.all.arp_announce=2 "
         "net.ipv4.conf.all.rp_filter=2"});
    findings.push_back(std::move(finding));
  }
  return findings.empty() ? Outcome::passed(std::move(seen)) : Outcome::found(std::move(findings));
}

// ---- GID-4 ----

std::optional<unsigned> first_byte_of_mac(const std::string& mac) {
  unsigned byte = 0;
  if (mac.size() != 17 || std::sscanf(mac.c_str(), "%2x:", &byte) != 1) return std::nullopt;
  return byte;
}

constexpr unsigned kGroupBit = 0x01;

std::optional<Finding> group_address(const PortFacts& facts, const host::RdmaPort& rdma) {
  Finding finding;
  if (facts.port.mac && first_byte_of_mac(*facts.port.mac).value_or(0) & kGroupBit)
    finding.evidence.push_back(setting("MAC", *facts.port.mac, "", source::kNetdev));
  for (const host::Gid& gid : rdma.gids) {
    const auto mac = host::mac_in(gid.address);
    if (!mac || ((*mac)[0] & kGroupBit) == 0) continue;
    finding.evidence.push_back(gid_evidence(gid));
    finding.evidence.push_back(setting("MAC in it", host::to_text(*mac), "", source::kRdma));
  }
  if (finding.evidence.empty()) return std::nullopt;
  finding.cause =
      "The MAC address has the group bit set: it names many stations, and drivers refuse GIDs and address "
      "handles made of it.";
  finding.fix =
      advise("Give the port an address of its own, with an even first byte; look for who set this one.",
             {fmt::format("ip link set dev {} address MAC", facts.port.name)});
  return finding;
}

// The same RoCE v2 address at two indices. Link-local ones of VLANs and bonds are: they share the MAC.
std::vector<Finding> repeated_gids(const host::RdmaPort& rdma) {
  std::map<std::string, std::vector<const host::Gid*>> places;
  for (const host::Gid& gid : rdma.gids) {
    if (gid.type == host::GidType::roce_v2 && !gid.is_link_local()) places[gid.address].push_back(&gid);
  }
  std::vector<Finding> findings;
  for (const auto& [address, gids] : places) {
    if (gids.size() < 2) continue;
    Finding finding;
    for (const host::Gid* gid : gids) {
      finding.evidence.push_back(gid_evidence(*gid));
      if (gid->netdev) finding.evidence.back().name += " on " + *gid->netdev;
    }
    finding.cause = fmt::format(
        "The RoCE v2 GID {} is listed {} times: which of them a library takes decides over VLAN and path.",
        address, gids.size());
    finding.fix =
        advise("Give each VLAN or bond an address of its own, and take the address off all netdevs but one.",
               {"ip -br address", "rdma link"});
    findings.push_back(std::move(finding));
  }
  return findings;
}

Outcome judge_gid_table(const PortFacts& facts) {
  Needs need;
  const host::RdmaPort* rdma = need(facts.port.rdma, "RDMA device");
  if (rdma == nullptr) return need.not_checked();
  if (rdma->gids.empty()) return Outcome::not_checked("the GID table is empty or was not read");
  std::vector<Finding> findings = repeated_gids(*rdma);
  if (auto group = group_address(facts, *rdma)) findings.insert(findings.begin(), std::move(*group));
  if (!findings.empty()) return Outcome::found(std::move(findings));
  const std::string* mac = need(facts.port.mac, "MAC");
  if (mac == nullptr) return need.not_checked();
  const bool has_unknown = std::any_of(rdma->gids.begin(), rdma->gids.end(), [](const host::Gid& gid) {
    return gid.type == host::GidType::unknown;
  });
  if (has_unknown) return Outcome::not_checked("the type of some GIDs is not published");
  return Outcome::passed({setting("MAC", *mac, "", source::kNetdev),
                          setting("GIDs, each once", rdma->gids.size(), "", source::kRdma)});
}

}  // namespace

std::span<const Rule> gid_rules() {
  static constexpr Rule kRules[] = {
      {.id = "GID-1",
       .title = "There is a RoCE v2 GID with a routable address",
       .condition = "At least one GID is RoCE v2 and IPv4-mapped or global IPv6.",
       .why = "RoCE v1 has no IP header, so no DSCP and no route; fe80 stays in its subnet.",
       .needs = "The GID table with types.",
       .decided = "Critical if no GID is v2, warning if all v2 ones are link-local. Not checked if types are "
                  "not published.",
       .fix =
           "Enable v2, or give the port an address. Select GIDs by type, never by a fixed index: they move.",
       .source = "Linux sysfs gids and gid_attrs; NVIDIA/nccl#1131, #769",
       .gates = {.any_function = true, .any_nic = true},
       .judge = judge_gids},
      {.id = "GID-3",
       .title = "Each RoCE NIC has a subnet of its own",
       .condition = "No two RoCE ports of one network namespace share an IP subnet.",
       .why = "The kernel may answer ARP and route through another NIC of the subnet.",
       .needs = "Addresses of the RoCE ports.",
       .decided =
           "Warning with confidence medium: sysctls and policy routing that make it right are not read. "
           "Members of a bond do not count.",
       .fix = "One subnet per NIC, or the sysctls.",
       .source = "NVIDIA/nccl#1131; Linux ip-sysctl documentation",
       .gates = {},
       .judge = judge_subnets},
      {.id = "GID-4",
       .title = "MAC and GIDs are such as a driver takes",
       .condition = "The MAC has no group bit, and no routable RoCE v2 GID is listed twice.",
       .why =
           "Drivers refuse address handles of a group address; of a GID listed twice nobody knows which is "
           "taken.",
       .needs = "MAC, the GID table with types. Whether a driver refused a GID stands in its log only, which "
                "is not "
                "read.",
       .decided = "Warning for the group bit, in the MAC or in the EUI-64 of a link-local GID, and for each "
                  "GID that "
                  "repeats. Link-local GIDs may repeat: VLANs and bonds share a MAC.",
       .fix = "The MAC, the addresses; not QoS.",
       .source = "IEEE 802, group address bit; RFC 4291, appendix A; linux-rdma mailing list",
       .gates = {.any_function = true, .any_nic = true},
       .judge = judge_gid_table},
  };
  return kRules;
}

}  // namespace rocetune::diagnose
