#include <fmt/core.h>

#include <map>

#include "agent/diagnose/class_map.h"
#include "agent/diagnose/rule.h"

namespace rocetune::diagnose {
namespace {

// What is compared, and which ports have it: "DSCP 26, priority 3, PFC {3}" -> eth0, eth1.
using Groups = std::map<std::string, std::vector<std::string>>;

std::string join_names(const std::vector<std::string>& names) {
  std::string out;
  for (const std::string& name : names) out += (out.empty() ? "" : ", ") + name;
  return out;
}

// "eth0, eth1: 9000; eth2: 4200".
std::string text_of(const Groups& groups) {
  std::string out;
  for (const auto& [value, ports] : groups)
    out += (out.empty() ? "" : "; ") + join_names(ports) + ": " + value;
  return out;
}

std::vector<Evidence> evidence_of(const Groups& groups, const char* what, const char* where) {
  std::vector<Evidence> out;
  for (const auto& [value, ports] : groups)
    out.push_back(setting(what + (" of " + join_names(ports)), value, "", where));
  return out;
}

// Pass, drift, or too few ports to compare.
Outcome compare(const Groups& groups, std::size_t ports, const char* what, const char* where,
                Severity severity, const char* meaning, const char* cure) {
  if (ports < 2)
    return Outcome::not_checked(fmt::format("fewer than two RoCE ports whose {} can be compared", what));
  std::vector<Evidence> evidence = evidence_of(groups, what, where);
  if (groups.size() == 1) return Outcome::passed(std::move(evidence));
  Finding finding;
  finding.severity = severity;
  finding.confidence = Confidence::medium;
  finding.evidence = std::move(evidence);
  finding.cause =
      fmt::format("The RoCE ports of this host differ in {} ({}): {}", what, text_of(groups), meaning);
  finding.fix = advise(cure);
  return Outcome::found(std::move(finding));
}

bool is_comparable(const PortFacts& port) {
  return port.port.role == host::PortRole::physical || port.port.role == host::PortRole::uplink_representor ||
         port.port.role == host::PortRole::bond;
}

// Ports with a fault of their own are left out of each comparison: the fault is named there, not here again.

Outcome judge_class_drift(const HostFacts& facts) {
  Groups groups;
  std::size_t ports = 0;
  for (const PortFacts& port : facts.ports) {
    if (!is_comparable(port) || chain_break(port) != ChainBreak::none) continue;
    const PrioritySet data = lossless_data_priorities(port);
    if (data.size() > facts.policy.most_lossless_priorities && data != facts.declared.lossless) continue;
    ++ports;
    groups[fmt::format("DSCP {}, priority {}, PFC {}", port.roce_class->dscp->value(),
                       port.roce_class->priority.value(), to_text(data))]
        .push_back(port.port.name);
  }
  return compare(groups, ports, "class map", "DCB", Severity::warning,
                 "a class must be the same on every NIC and switch port.",
                 "Choose one class map, and set it on all of them.");
}

Outcome judge_mtu_drift(const HostFacts& facts) {
  Groups groups;
  std::size_t ports = 0;
  for (const PortFacts& port : facts.ports) {
    if (!is_comparable(port) || port.port.mtu < facts.policy.minimum_mtu) continue;
    ++ports;
    groups[fmt::format("{} B", port.port.mtu.count())].push_back(port.port.name);
  }
  return compare(groups, ports, "MTU", source::kNetdev, Severity::warning,
                 "both ends of a connection must agree, and a mismatch hangs rather than fails.",
                 "Set one MTU on all of them, and test with full-size packets that may not be fragmented.");
}

Outcome judge_firmware_drift(const HostFacts& facts) {
  Groups groups;
  std::size_t ports = 0;
  for (const PortFacts& port : facts.ports) {
    if (!is_comparable(port) || !port.port.firmware) continue;
    ++ports;
    groups[fmt::format("{} firmware {}", port.port.pci_id.value_or(port.port.nic), *port.port.firmware)]
        .push_back(port.port.name);
  }
  return compare(groups, ports, "NIC and firmware", "ethtool", Severity::info,
                 "their CNP pacing and defaults may differ.",
                 "Bring them to one firmware; mix generations only after an incast test.");
}

}  // namespace

std::span<const Rule> drift_rules() {
  static constexpr Rule kRules[] = {
      {.id = "MAP-3",
       .title = "All RoCE ports of a host have one class map",
       .condition = "DSCP, priority and PFC of the RoCE class are the same on every RoCE port.",
       .why = "A rail with another class is lossy somewhere in the fabric.",
       .needs = "Class map and PFC of at least two RoCE ports.",
       .decided = "Ports whose own class map is broken are named by their own rule and left out here.",
       .fix = "Choose one.",
       .source = "Guo et al., SIGCOMM 2016",
       .gates = {},
       .judge = judge_class_drift},
      {.id = "MTU-2",
       .title = "All RoCE ports of a host have one MTU",
       .condition = "The netdev MTU is the same on every RoCE port.",
       .why = "Both ends must agree on the path MTU; a mismatch hangs rather than fails.",
       .needs = "MTU of at least two RoCE ports.",
       .decided =
           "Ports below MTU-1's minimum are named there and left out here. The other end is not visible.",
       .fix = "Choose one.",
       .source = "NVIDIA/nccl#1957; ROCm/rocSHMEM#214",
       .gates = {},
       .judge = judge_mtu_drift},
      {.id = "ECN-6",
       .title = "All RoCE ports of a host have one kind of NIC and firmware",
       .condition = "NIC and firmware are the same on every RoCE port.",
       .why = "Generations pace CNPs differently, and firmware changes defaults.",
       .needs = "PCI id and firmware of at least two RoCE ports.",
       .decided = "Info if they differ.",
       .fix = "One firmware.",
       .source = "Azure and Lumina publications on mixed NICs",
       .gates = {},
       .judge = judge_firmware_drift},
  };
  return kRules;
}

}  // namespace rocetune::diagnose
