#include <fmt/core.h>

#include <algorithm>

#include "agent/diagnose/class_map.h"
#include "agent/diagnose/rule.h"

namespace rocetune::diagnose {
namespace {

// ---- NET-3 ----

Outcome judge_link_layer(const PortFacts& facts) {
  Needs need;
  const host::RdmaPort* rdma = need(facts.port.rdma, "RDMA device");
  if (rdma == nullptr) return need.not_checked();
  const Evidence seen = setting("link_layer", enum_name(rdma->link_layer), "", source::kRdma);
  if (rdma->link_layer == host::LinkLayer::unknown)
    return Outcome::not_checked("the link layer is not known");
  if (rdma->link_layer == host::LinkLayer::ethernet) return Outcome::passed({seen});
  Finding finding;
  finding.severity = Severity::info;
  finding.evidence = {seen};
  finding.cause =
      "The link is InfiniBand: PFC, DSCP, ECN, GID and MTU advice for Ethernet does not apply and is "
      "withheld.";
  finding.fix = advise("None: use the subnet manager's QoS for this port.");
  return Outcome::found(std::move(finding));
}

// ---- OPS-4 ----

Outcome judge_known_hardware(const PortFacts& facts) {
  if (facts.nic == nullptr) {
    return Outcome::not_checked(
        fmt::format("unknown kind of NIC \"{}\" (driver {}): no verdict on it, good or bad", facts.port.nic,
                    facts.port.driver.empty() ? "not known" : facts.port.driver));
  }
  return Outcome::passed({setting("kind of NIC", facts.port.nic, "", facts.nic->origin)});
}

// ---- HOST-1 ----

Outcome judge_function(const PortFacts& facts) {
  const host::PortRole role = facts.port.role;
  const Evidence seen = setting("role", enum_name(role), "", source::kNetdev);
  if (role != host::PortRole::virtual_function && role != host::PortRole::dpu_host)
    return Outcome::passed({seen});
  Finding finding;
  finding.severity = Severity::info;
  finding.evidence = {seen};
  if (role == host::PortRole::virtual_function) {
    const std::string physical = facts.port.physical_function.value_or("its physical function");
    finding.evidence.push_back(setting("physical function", physical, "", source::kNetdev));
    finding.cause = "A virtual function has no class map, PFC or buffers of its own.";
    finding.fix = advise(fmt::format("Inspect and set QoS on {}, in the host that owns it.", physical));
  } else {
    finding.cause =
        "The port belongs to the DPU's own processor: what this host writes is refused or ignored.";
    finding.fix = advise("Run rocetune on the DPU.");
  }
  return Outcome::found(std::move(finding));
}

// ---- PFC-2 ----

std::vector<host::Owner> dcb_daemons(const PortFacts& facts) {
  std::vector<host::Owner> out;
  if (!facts.host.owners) return out;
  for (const host::Owner& owner : *facts.host.owners) {
    const auto& names = facts.policy.dcb_daemons;
    if (std::find(names.begin(), names.end(), owner.name) != names.end()) out.push_back(owner);
  }
  return out;
}

Finding left_to_firmware(const PortFacts& facts, const host::DcbxMode& mode, Evidence seen) {
  Finding finding;
  finding.evidence = {std::move(seen)};
  finding.cause =
      "DCBX is left to the firmware, which is willing: what the switch announces replaces settings of this "
      "host seconds after they are written.";
  const std::string command =
      facts.nic == nullptr ? "" : host::firmware_agent_off(facts.nic->row.dcb, facts.port.name);
  if (mode.lld_managed && !command.empty()) {
    finding.evidence.push_back(setting("firmware agent", "owns DCB (lld_managed)", "",
                                       facts.nic->row.name + " row of configs/nics"));
    finding.fix = advise(fmt::format(
        "{}: until then the driver refuses every DCB write, that of the DCBX mode included.", command));
    return finding;
  }
  host::DcbxMode ours = mode;
  ours.host = true;
  ours.lld_managed = false;
  finding.fix = change_settings(
      facts, "Take DCBX for the host, or leave the class map to the switch and check it there.",
      {{{facts.port.name, host::KnobKind::dcbx_mode, ""}, ours}});
  if (facts.port.dcb.peer_pfc) {
    finding.evidence.push_back(
        setting("switch announces PFC", to_text(facts.port.dcb.peer_pfc->enabled), "", "DCBX peer"));
  }
  return finding;
}

Outcome judge_owner(const PortFacts& facts) {
  Needs need;
  const host::DcbxMode* mode = need(facts.port.dcb.dcbx, "DCBX mode");
  if (mode == nullptr) return need.not_checked();
  std::vector<Evidence> evidence{setting("DCBX owner", mode->host ? "host" : "firmware", "", source::kDcbx)};
  if (!mode->host) return Outcome::found(left_to_firmware(facts, *mode, std::move(evidence[0])));

  std::vector<Finding> findings;
  if (facts.port.dcb.ets) {
    evidence.push_back(setting("willing", facts.port.dcb.ets->willing ? "yes" : "no", "", source::kEts));
    if (facts.port.dcb.ets->willing) {
      Finding finding;
      finding.evidence = evidence;
      finding.cause = "The port is willing: a DCBX daemon may replace its class map by the switch's.";
      const host::Ets& ets = *facts.port.dcb.ets;
      finding.fix = change_settings(facts, "Set willing off.",
                                    {{{facts.port.name, host::KnobKind::ets, ""},
                                      host::EtsSetting{false, ets.tc_of_priority, ets.tsa,
                                                       ets.tx_share_percent, ets.rx_share_percent}}});
      findings.push_back(std::move(finding));
    }
  }
  for (const host::Owner& daemon : dcb_daemons(facts)) {
    Finding finding;
    finding.confidence = Confidence::medium;
    finding.evidence = {evidence[0], setting("program that writes DCB", daemon.name, "", daemon.evidence)};
    finding.cause =
        fmt::format("{} runs on this host and writes DCB too: two owners overwrite each other.", daemon.name);
    finding.fix = advise(
        fmt::format("Stop {} for this port, or set the class map there and nowhere else.", daemon.name));
    findings.push_back(std::move(finding));
  }
  return findings.empty() ? Outcome::passed(std::move(evidence)) : Outcome::found(std::move(findings));
}

// ---- SW-4 ----

Outcome judge_switch_announcement(const PortFacts& facts) {
  Needs need;
  const host::Pfc* peer = need(facts.port.dcb.peer_pfc, "what the switch announces");
  if (peer == nullptr) return need.not_checked();
  if (!facts.roce_class) return Outcome::not_checked("no RoCE class is set up to compare with");
  if (is_lossy_on_purpose(facts)) return Outcome::not_checked("lossy operation: PFC need not agree");
  const Priority p = facts.roce_class->priority;
  std::vector<Evidence> seen{setting("switch announces PFC", to_text(peer->enabled), "", "DCBX peer"),
                             setting("RoCE priority", p.value(), "", "class map")};
  if (peer->enabled.contains(p)) return Outcome::passed(std::move(seen));
  Finding finding;
  finding.evidence = std::move(seen);
  finding.confidence = facts.roce_class->confidence;
  finding.cause = fmt::format(
      "The switch announces PFC for {}, RoCE of this port is in priority {}: one side is not lossless.",
      to_text(peer->enabled), p.value());
  finding.fix = advise(fmt::format(
      "Turn PFC on for priority {} on the switch port, or move RoCE to the switch's priority.", p.value()));
  return Outcome::found(std::move(finding));
}

}  // namespace

std::span<const Rule> ownership_rules() {
  static constexpr Rule kRules[] = {
      {.id = "NET-3",
       .title = "The link is Ethernet",
       .condition = "Ethernet rules are applied to Ethernet links only.",
       .why = "Class maps, PFC, ECN and GIDs of RoCE mean nothing on InfiniBand.",
       .needs = "link_layer of the RDMA port.",
       .decided = "Info on InfiniBand; every Ethernet rule is then not checked.",
       .fix = "None.",
       .source = "Linux sysfs infiniband/<dev>/ports/<n>/link_layer",
       .gates = {.infiniband_too = true, .any_function = true, .any_nic = true},
       .judge = judge_link_layer},
      {.id = "OPS-4",
       .title = "The hardware is known",
       .condition = "The kind of NIC has a row in configs/rules.toml.",
       .why = "A tool that passes what it does not know is worse than none.",
       .needs = "The kind of NIC, by its driver.",
       .decided =
           "Passes or abstains; on an unknown NIC no rule ever passes. Idle ports are treated alike, by "
           "every rule that needs traffic.",
       .fix = "None.",
       .source = "GoogleCloudPlatform/cluster-toolkit#5917; awslabs/awsome-distributed-ai PR #1201",
       .gates = {.infiniband_too = true, .any_function = true, .any_nic = true},
       .judge = judge_known_hardware},
      {.id = "HOST-1",
       .title = "QoS is set where the port is owned",
       .condition = "RoCE QoS of a virtual function is set on its physical function; of a DPU in DPU mode, "
                    "on the DPU.",
       .why = "Only the owner has DCB operations.",
       .needs = "The role of the port.",
       .decided = "Info on virtual functions and the host side of a DPU; rules about the class map are then "
                  "not checked.",
       .fix = "Go to the owner.",
       .source = "Linux mlx5/core/en_dcbnl.c (operations on the PF only); Mellanox/network-operator#269",
       .gates = {.infiniband_too = true, .any_function = true, .any_nic = true},
       .judge = judge_function},
      {.id = "PFC-2",
       .title = "DCB has one owner",
       .condition = "The host owns DCBX, is not willing, and no other program writes DCB.",
       .why = "A second owner undoes the class map seconds or days later.",
       .needs = "DCBX mode; the ETS willing bit; programs that are known to write DCB.",
       .decided = "Finding if the firmware owns DCBX, if the port is willing, or if such a program runs "
                  "(confidence medium).",
       .fix = "Take DCBX for the host, or leave all of it to the other owner.",
       .source = "Linux mlx5/core/en_dcbnl.c; Azure/AzureLocal-Supportability#289-#292",
       .gates = {},
       .judge = judge_owner},
      {.id = "SW-4",
       .title = "What the switch announces fits the class",
       .condition = "PFC as announced by DCBX has the RoCE priority.",
       .why = "PFC needs both ends.",
       .needs = "PFC of the DCBX peer, where a driver keeps it; the RoCE class.",
       .decided = "The RoCE priority must be in the announced set.",
       .fix = "Agree on one priority.",
       .source = "IEEE 802.1Qaz",
       .gates = {},
       .judge = judge_switch_announcement},
  };
  return kRules;
}

}  // namespace rocetune::diagnose
