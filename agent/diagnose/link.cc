#include <fmt/core.h>

#include <algorithm>

#include "agent/diagnose/engine.h"
#include "agent/diagnose/rule.h"

namespace rocetune::diagnose {
namespace {

// ---- LINK-1 ----

Outcome judge_link_errors(const PortFacts& facts, const counters::PortDelta& delta) {
  const std::vector<std::string_view> names{"rx_symbol_errors", "rx_crc_errors"};
  std::vector<Evidence> seen = counters_seen(delta, names);
  if (seen.empty()) return Outcome::not_checked("symbol and CRC errors are not counted here");
  std::uint64_t errors = 0;
  for (const std::string_view name : names) errors += delta.increment(name).value_or(0);
  for (Evidence& e : counters_seen(delta, {"rx_corrected_bits"})) seen.push_back(std::move(e));
  if (errors == 0) {
    if (std::string idle = why_no_traffic_verdict(facts, false); !idle.empty())
      return Outcome::not_checked(std::move(idle));
    return Outcome::passed(std::move(seen));
  }
  Finding finding;
  finding.evidence = std::move(seen);
  finding.cause = "The physical link damages frames: cable, module or port. Such loss is not congestion.";
  finding.fix = advise("Swap cable or module and look at both ends; no PFC or ECN change helps.",
                       {fmt::format("mlxlink -d {} -m -c", facts.port.pci_address.value_or("DEVICE"))});
  return Outcome::found(std::move(finding));
}

// ---- LINK-2 ----

// The highest speed among ports of the same part that have carrier.
std::optional<BitRate> fastest_sibling(const PortFacts& facts) {
  std::optional<BitRate> fastest;
  for (const host::Port& other : facts.host.ports) {
    if (other.name == facts.port.name || !facts.port.pci_id || other.pci_id != facts.port.pci_id) continue;
    if (other.role != facts.port.role || !other.link || !other.link->carrier || !other.link->speed) continue;
    fastest = std::max(fastest.value_or(BitRate(0)), *other.link->speed);
  }
  return fastest;
}

Outcome judge_link_state(const PortFacts& facts) {
  Needs need;
  const host::Link* link = need(facts.port.link, "link");
  if (link == nullptr) return need.not_checked();
  if (!link->carrier) return Outcome::not_checked("no carrier: down, or not meant to be used");
  std::vector<Evidence> evidence;
  if (link->speed) evidence.push_back(setting("speed", to_text(*link->speed), "", source::kLink));

  std::vector<Finding> findings;
  const auto downs = facts.delta == nullptr ? std::nullopt : facts.delta->increment("link_downs");
  if (downs) evidence.push_back(counter(*facts.delta, "link_downs"));
  if (downs.value_or(0) > 0) {
    Finding finding;
    finding.evidence = evidence;
    finding.cause =
        "The link went down while it was watched; every flap moves GIDs and may drop run-time QoS.";
    finding.fix = advise("Look at cable, module, power and autonegotiation, at both ends.");
    findings.push_back(std::move(finding));
  }
  if (const auto fastest = fastest_sibling(facts); fastest && link->speed && *link->speed < *fastest) {
    Finding finding;
    finding.confidence = Confidence::medium;
    finding.evidence = evidence;
    finding.evidence.push_back(
        setting("speed of a port of the same part", to_text(*fastest), "", source::kLink));
    finding.cause =
        fmt::format("The port runs at {}, its twin at {}.", to_text(*link->speed), to_text(*fastest));
    finding.fix = advise("Look at cable, module, switch port speed and autonegotiation.");
    findings.push_back(std::move(finding));
  }
  return Outcome::of(std::move(findings), std::move(evidence), "neither speed nor link_downs is known");
}

// ---- LAG-1 ----

bool is_judged(const HostFacts& facts, const host::Bond& bond) {
  return std::any_of(facts.ports.begin(), facts.ports.end(), [&](const PortFacts& p) {
    return p.port.name == bond.name || p.port.bond == bond.name;
  });
}

Outcome judge_bonds(const HostFacts& facts) {
  std::vector<Finding> findings;
  std::vector<Evidence> seen;
  for (const host::Bond& bond : facts.host.bonds) {
    if (!is_judged(facts, bond) || bond.mode != "802.3ad") continue;
    std::vector<Evidence> evidence{
        setting(fmt::format("{} members", bond.name), bond.members.size(), "", "bonding"),
        setting(fmt::format("{} active members", bond.name), bond.active_members.size(), "", "bonding")};
    if (bond.partner_mac) {
      evidence.push_back(setting(fmt::format("{} partner", bond.name), *bond.partner_mac, "", "bonding"));
    }
    seen.insert(seen.end(), evidence.begin(), evidence.end());
    const bool no_partner = bond.partner_mac == "00:00:00:00:00:00";
    if (!no_partner && bond.active_members.size() >= bond.members.size()) continue;
    Finding finding;
    finding.subject = bond.name;
    finding.evidence = std::move(evidence);
    finding.cause =
        no_partner
            ? fmt::format("{} has no LACP partner: the switch does not aggregate, one port carries all.",
                          bond.name)
            : fmt::format("{} uses {} of {} members: the rest carries nothing.", bond.name,
                          bond.active_members.size(), bond.members.size());
    finding.fix = advise(
        "Configure LACP on the switch ports of all members, in one group; check the links of those left "
        "out.");
    findings.push_back(std::move(finding));
  }
  return Outcome::of(std::move(findings), std::move(seen), "no RoCE port is in an 802.3ad bond");
}

// ---- LAG-2 ----

// Whether the hash sees UDP ports, which is where RoCE v2 has its entropy. Nothing for words we do not know.
std::optional<bool> hashes_ports(const std::string& policy) {
  if (policy == "layer3+4" || policy == "encap3+4") return true;
  if (policy == "layer2" || policy == "layer2+3" || policy == "encap2+3" || policy == "vlan+srcmac")
    return false;
  return std::nullopt;
}

Outcome judge_bond_hash(const HostFacts& facts) {
  std::vector<Finding> findings;
  std::vector<Evidence> seen;
  std::string unknown;
  for (const host::Bond& bond : facts.host.bonds) {
    if (!is_judged(facts, bond) || (bond.mode != "802.3ad" && bond.mode != "balance-xor")) continue;
    const auto ports = hashes_ports(bond.transmit_hash_policy);
    if (!ports) {
      unknown += fmt::format("{}{}: its transmit hash is {}", unknown.empty() ? "" : "; ", bond.name,
                             bond.transmit_hash_policy.empty() ? "not known" : bond.transmit_hash_policy);
      continue;
    }
    seen.push_back(
        setting(fmt::format("{} transmit hash", bond.name), bond.transmit_hash_policy, "", "bonding"));
    if (*ports) continue;
    Finding finding;
    finding.subject = bond.name;
    finding.confidence = Confidence::medium;
    finding.evidence = {seen.back(),
                        setting(fmt::format("{} members", bond.name), bond.members.size(), "", "bonding")};
    finding.cause = fmt::format(
        "{} chooses the member by {} and not by UDP port: all flows between two hosts ride one member, "
        "unless the NIC itself spreads its queue pairs.",
        bond.name, bond.transmit_hash_policy);
    finding.fix = advise(
        "Hash on addresses and ports, here and on the switch, and give the hash something to choose from: "
        "several queue pairs a connection with the data split over them (NCCL_IB_QPS_PER_CONNECTION with "
        "NCCL_IB_SPLIT_DATA_ON_QPS=1). Prove it by the load of each member.",
        {fmt::format("ip link set {} type bond xmit_hash_policy layer3+4", bond.name)});
    findings.push_back(std::move(finding));
  }
  if (!findings.empty()) return Outcome::found(std::move(findings));
  if (!unknown.empty()) return Outcome::not_checked(std::move(unknown));
  if (seen.empty()) return Outcome::not_checked("no RoCE port is in a bond that spreads flows by a hash");
  return Outcome::passed(std::move(seen));
}

}  // namespace

std::span<const Rule> link_rules() {
  static constexpr Rule kRules[] = {
      {.id = "LINK-1",
       .title = "The link damages no frames",
       .condition = "Symbol and CRC errors do not rise.",
       .why = "Loss on the wire looks like congestion to RoCE and is cured elsewhere.",
       .needs = "rx_symbol_errors, rx_crc_errors over an interval.",
       .decided = "Finding if either rises. Corrected bits are evidence only: FEC corrects all the time.",
       .fix = "Cable, module, port.",
       .source = "Linux mlx5 counters documentation",
       .gates = {.any_function = false, .idle_too = true, .texts_speak = true},
       .judge = judge_link_errors},
      {.id = "LINK-2",
       .title = "The link stays up at full speed",
       .condition = "No link-down event, and no slower than a port of the same part in this host.",
       .why = "A flap stops the job, moves GIDs, and may drop run-time QoS; a slow port drags a collective.",
       .needs = "Link state and speed; link_downs over an interval.",
       .decided = "A port without carrier is not judged: it may not be meant to be used.",
       .fix = "Cable, module, autonegotiation.",
       .source = "NVIDIA/nccl#2157; Linux ethtool",
       .gates = {.any_function = false, .any_nic = true},
       .judge = judge_link_state},
      {.id = "LAG-1",
       .title = "Bonds have all their members in use",
       .condition = "An 802.3ad bond has a partner, and every member is in the active aggregator.",
       .why = "Otherwise one port carries all, and nothing else shows it.",
       .needs = "Bonding state.",
       .decided = "Finding if the partner's MAC is zero or members are missing.",
       .fix = "LACP on the switch.",
       .source = "Linux bonding documentation",
       .gates = {.texts_speak = true},
       .judge = judge_bonds},
      {.id = "LAG-2",
       .title = "Bonds spread flows over their members",
       .condition = "The transmit hash of an 802.3ad or balance-xor bond looks at UDP ports.",
       .why = "RoCE v2 has its entropy in the UDP source port; without it two hosts share one member.",
       .needs = "Bonding state. How many queue pairs a connection has is not visible.",
       .decided =
           "Warning with confidence medium for a hash of MAC or IP addresses only: some NICs spread queue "
           "pairs over the members by themselves.",
       .fix = "layer3+4, and several queue pairs a connection.",
       .source = "Linux bonding documentation, xmit_hash_policy; NVIDIA/nccl-tests#191, NVIDIA/nccl#1015",
       .gates = {},
       .judge = judge_bond_hash},
  };
  return kRules;
}

}  // namespace rocetune::diagnose
