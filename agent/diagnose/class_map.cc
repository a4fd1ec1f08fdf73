#include "agent/diagnose/class_map.h"

#include <fmt/core.h>

#include <algorithm>

#include "agent/diagnose/rule.h"

namespace rocetune::diagnose {
namespace {

// ---- MAP-1 ----

std::vector<Wanted> map_whole_class(const PortFacts& facts) {
  const WantedClass w = wanted(facts);
  return map_dscps(facts, {{w.dscp, w.priority}, {w.cnp_dscp, w.cnp_priority}});
}

bool has_gid_on_vlan(const PortFacts& facts) {
  if (facts.rdma() == nullptr) return false;
  for (const host::Gid& gid : facts.rdma()->gids) {
    for (const std::string& upper : facts.port.uppers) {
      if (gid.netdev == upper) return true;
    }
  }
  return false;
}

Outcome judge_trust(const PortFacts& facts) {
  Needs need;
  const host::Trust* trust = need(facts.port.dcb.trust, "trust");
  if (trust == nullptr) return need.not_checked();
  const Evidence seen = setting("trust", enum_name(*trust), "", source::kTrust);
  if (*trust == facts.declared.trust.value_or(host::Trust::dscp)) return Outcome::passed({seen});

  Finding finding;
  finding.evidence = {seen};
  if (*trust == host::Trust::dscp) {
    finding.cause =
        "The port classifies by DSCP although PCP was declared: tagged traffic is sorted by another field.";
    finding.fix = advise("Delete the DSCP entries of the application table, or declare trust dscp.");
    return Outcome::found(std::move(finding));
  }
  finding.cause =
      "The port classifies by PCP: RoCE v2 packets without a VLAN tag, and every packet behind a router, "
      "fall into priority 0 whatever their DSCP.";
  const WantedClass w = wanted(facts);
  finding.fix = change_settings(
      facts,
      fmt::format("Trust DSCP: map DSCP {} to priority {} and DSCP {} to priority {}; the first DSCP entry "
                  "switches the port over.",
                  w.dscp.value(), w.priority.value(), w.cnp_dscp.value(), w.cnp_priority.value()),
      map_whole_class(facts));
  if (has_gid_on_vlan(facts)) {
    finding.severity = Severity::info;
    finding.confidence = Confidence::medium;
    finding.cause =
        "The port classifies by PCP; that is legal while all RoCE stays inside its VLAN, and lost at the "
        "first router.";
    finding.evidence.push_back(setting("GID on a VLAN", "yes", "", source::kRdma));
  }
  return Outcome::found(std::move(finding));
}

// ---- MAP-5 ----

std::vector<Evidence> chain_evidence(const PortFacts& facts) {
  const host::Dcb& dcb = facts.port.dcb;
  const RoceClass& c = *facts.roce_class;
  const auto index = static_cast<std::size_t>(c.priority.value());
  std::vector<Evidence> out;
  if (c.dscp && dcb.app) out.push_back(entry_evidence(facts.port, *c.dscp));
  if (dcb.pfc) out.push_back(pfc_evidence(*dcb.pfc));
  if (dcb.buffers) {
    const std::uint8_t buffer = dcb.buffers->buffer_of_priority[index];
    out.push_back(setting(fmt::format("receive buffer of priority {}", index), buffer, "", source::kBuffers));
    if (buffer < 8) {
      out.push_back(setting(fmt::format("size of buffer {}", buffer), dcb.buffers->size[buffer].count(), "B",
                            source::kBuffers));
    }
  }
  if (dcb.ets) {
    out.push_back(setting(fmt::format("traffic class of priority {}", index),
                          dcb.ets->tc_of_priority[index].value(), "", source::kEts));
  }
  return out;
}

Finding broken_map(const PortFacts& facts) {
  const RoceClass& c = *facts.roce_class;
  const Priority mapped = *host::priority_of_dscp(facts.port.dcb, *c.dscp);
  const bool lossless = is_lossless(facts, mapped);
  Finding finding;
  finding.severity = lossless ? Severity::warning : Severity::critical;
  finding.evidence = chain_evidence(facts);
  finding.cause = fmt::format(
      "The chain breaks at DSCP -> priority: DSCP {} is mapped to priority {}, {}, and not to the RoCE class "
      "in priority {}.",
      c.dscp->value(), mapped.value(), lossless ? "another lossless one" : "which is lossy",
      c.priority.value());
  finding.fix =
      change_settings(facts, fmt::format("Map DSCP {} to priority {}.", c.dscp->value(), c.priority.value()),
                      map_dscps(facts, {{*c.dscp, c.priority}}));
  finding.confidence = c.confidence;
  return finding;
}

// "no other DSCP leads to priority 3, so nothing uses the RoCE class", or which one does.
std::string others_in_class(const PortFacts& facts) {
  const Priority priority = facts.roce_class->priority;
  std::string others;
  for (const host::AppEntry& entry : *facts.port.dcb.app) {
    if (entry.selector == host::AppSelector::dscp && entry.priority == priority)
      others += (others.empty() ? "DSCP " : ", ") + std::to_string(entry.protocol);
  }
  if (others.empty())
    return fmt::format("no other DSCP leads to priority {}, so nothing uses the RoCE class",
                       priority.value());
  return fmt::format("in its place {} leads to the RoCE class in priority {}", others, priority.value());
}

Finding missing_entry(const PortFacts& facts) {
  const RoceClass& c = *facts.roce_class;
  Finding finding;
  finding.severity = Severity::critical;
  finding.evidence = chain_evidence(facts);
  const WantedClass w = wanted(facts);
  if (!c.dscp) finding.evidence.push_back(entry_evidence(facts.port, w.dscp));
  finding.cause = fmt::format(
      "The chain breaks at DSCP -> priority: {}.",
      c.dscp
          ? fmt::format("DSCP {} has no entry, {}", c.dscp->value(), others_in_class(facts))
          : fmt::format("no DSCP leads to priority {}, so nothing uses the RoCE class", c.priority.value()));
  finding.fix =
      change_settings(facts, fmt::format("Map DSCP {} to priority {}.", w.dscp.value(), w.priority.value()),
                      map_dscps(facts, {{w.dscp, w.priority}}));
  finding.confidence = c.confidence;
  return finding;
}

Finding class_without_pfc(const PortFacts& facts) {
  const RoceClass& c = *facts.roce_class;
  Finding finding;
  finding.severity = Severity::critical;
  finding.evidence = chain_evidence(facts);
  finding.cause = fmt::format(
      "The chain breaks at priority -> PFC: RoCE goes to priority {}, PFC is on for {} and so protects "
      "something else.",
      c.priority.value(), to_text(facts.port.dcb.pfc->enabled));
  finding.fix = change_settings(
      facts,
      fmt::format("Turn PFC on for priority {} alone, on this port and its switch port.", c.priority.value()),
      set_pfc(facts, PrioritySet::of(c.priority)));
  finding.confidence = c.confidence;
  return finding;
}

Outcome judge_chain(const PortFacts& facts) {
  Needs need;
  const auto* app = need(facts.port.dcb.app, "DSCP map");
  const host::Pfc* pfc = need(facts.port.dcb.pfc, "PFC");
  if (app == nullptr || pfc == nullptr) return need.not_checked();
  if (!facts.roce_class)
    return Outcome::not_checked("no RoCE class is set up to follow: see MAP-3 and MAP-1");

  const RoceClass& c = *facts.roce_class;
  const bool trusts_pcp = facts.port.dcb.trust && *facts.port.dcb.trust == host::Trust::pcp;
  const auto mapped = c.dscp ? host::priority_of_dscp(facts.port.dcb, *c.dscp) : std::nullopt;
  if (mapped && *mapped != c.priority) return Outcome::found(broken_map(facts));
  if (trusts_pcp) {
    return facts.declared.trust == host::Trust::pcp
               ? Outcome::not_checked("the class is carried by PCP, which applications and VLANs set")
               : Outcome::not_checked("the port does not look at DSCP: see MAP-1");
  }
  if (!mapped) return Outcome::found(missing_entry(facts));
  if (is_lossless(facts, c.priority) || is_lossy_on_purpose(facts))
    return Outcome::passed(chain_evidence(facts));
  if (pfc->enabled.is_empty()) {
    return Outcome::not_checked(has_pause_in_place_of_pfc(facts) ? "PFC is off: see PFC-1"
                                                                 : "PFC is off: see MAP-3");
  }
  if (lossless_data_priorities(facts).is_empty()) {
    return Outcome::not_checked("PFC is on for the CNPs' priority only: see MAP-7");
  }
  return Outcome::found(class_without_pfc(facts));
}

// ---- MAP-3 ----

Outcome no_lossless_class(const PortFacts& facts, const host::Pfc& pfc) {
  if (is_lossy_on_purpose(facts)) {
    std::vector<Evidence> evidence{pfc_evidence(pfc)};
    if (facts.declared.lossy) evidence.push_back(setting("declared", "lossy", "", facts.declared.origin));
    if (facts.delta != nullptr) {
      for (Evidence& e : counters_seen(*facts.delta, {"adaptive_retransmissions"}))
        evidence.push_back(std::move(e));
    }
    return Outcome::passed(std::move(evidence));
  }
  if (has_pause_in_place_of_pfc(facts)) {
    return Outcome::not_checked("802.3x pause is on, which excludes PFC on this NIC: see PFC-1");
  }
  const WantedClass w = wanted(facts);
  Finding finding;
  finding.severity = facts.roce_class ? Severity::critical : Severity::warning;
  finding.evidence = {pfc_evidence(pfc)};
  if (facts.roce_class) {
    finding.cause = fmt::format(
        "PFC is off on every priority: the RoCE class in priority {} is dropped under congestion, and each "
        "loss makes its sender go back.",
        w.priority.value());
    finding.confidence = facts.roce_class->confidence;
  } else {
    finding.cause =
        "No lossless class is set up: no priority has PFC, and nothing shows that lossy operation is meant.";
    finding.confidence = Confidence::medium;
  }
  finding.fix = change_settings(
      facts,
      fmt::format("Turn PFC on for priority {} alone, on this port and its switch port.", w.priority.value()),
      set_pfc(facts, PrioritySet::of(w.priority)));
  return Outcome::found(std::move(finding));
}

Outcome judge_lossless_priorities(const PortFacts& facts) {
  Needs need;
  const host::Pfc* pfc = need(facts.port.dcb.pfc, "PFC");
  if (pfc == nullptr) return need.not_checked();
  if (pfc->enabled.is_empty()) return no_lossless_class(facts, *pfc);

  const PrioritySet data = lossless_data_priorities(facts);
  if (data.is_empty()) return Outcome::not_checked("PFC is on for the CNPs' priority only: see MAP-7");
  const PrioritySet declared = facts.declared.lossless.value_or(PrioritySet());
  const int allowed = std::max(facts.policy.most_lossless_priorities, declared.size());
  const WantedClass w = wanted(facts);
  Finding finding;
  finding.evidence = {pfc_evidence(*pfc)};
  if (facts.declared.lossy) {
    finding.cause = "PFC is on although lossy operation was declared.";
    finding.fix = change_settings(facts, "Turn PFC off on every priority.", set_pfc(facts, PrioritySet()));
  } else if (declared.size() > 1 && data != declared) {
    finding.cause = fmt::format("PFC is on for {}, declared are {}.", to_text(data), to_text(declared));
    finding.fix = change_settings(facts, fmt::format("Turn PFC on for {} alone.", to_text(declared)),
                                  set_pfc(facts, declared));
  } else if (data.size() > allowed) {
    finding.cause = fmt::format(
        "PFC is on for {} data priorities: each takes headroom from one receive buffer and can pause on its "
        "own, and only priority {} is the RoCE class.",
        data.size(), w.priority.value());
    finding.fix = change_settings(
        facts,
        fmt::format("Turn PFC on for priority {} alone, on every port of the fabric.", w.priority.value()),
        set_pfc(facts, PrioritySet::of(w.priority)));
    if (facts.roce_class) finding.confidence = facts.roce_class->confidence;
  } else {
    return Outcome::passed({pfc_evidence(*pfc)});
  }
  return Outcome::found(std::move(finding));
}

}  // namespace

std::span<const Rule> class_map_rules() {
  static constexpr Rule kRules[] = {
      {.id = "MAP-1",
       .title = "The port trusts DSCP",
       .condition = "A RoCE v2 port classifies by DSCP, on host and switch.",
       .why = "PCP exists only in a VLAN tag and is lost at the first router; RoCE v2 is routed UDP.",
       .needs = "DCB trust; GIDs and VLANs over the port.",
       .decided =
           "Finding if trust is pcp and nobody declared PCP. Only worth knowing (info) if a GID sits on "
           "a VLAN over the port, where PCP can carry the class.",
       .fix = "Map the data and CNP DSCPs; on mlx5 the first DSCP entry switches trust.",
       .source = "Guo et al., SIGCOMM 2016; Linux mlx5/core/en_dcbnl.c (trust follows the application table)",
       .gates = {.any_nic = true},
       .judge = judge_trust},
      {.id = "MAP-5",
       .title = "DSCP, priority, PFC, buffer and traffic class form one chain",
       .condition = "The RoCE DSCP leads to the RoCE priority, and that priority has PFC.",
       .why = "A break anywhere sends RoCE through a lossy queue while every single setting looks plausible.",
       .needs = "DSCP map, PFC; buffers and ETS as evidence; the RoCE class, declared or inferred.",
       .decided =
           "The chain is followed link by link; the finding names the link where it breaks. Critical if "
           "RoCE ends up lossy.",
       .fix = "Correct the link that breaks; a map entry rather than a PFC bit where both would do, since a "
              "PFC write bounces the link.",
       .source = "Linux mlx5/core/en_dcbnl.c; SONiC default maps",
       .gates = {.any_nic = true},
       .judge = judge_chain},
      {.id = "MAP-3",
       .title = "PFC is on for exactly one data priority",
       .condition = "Exactly one data priority has PFC, or those that a profile declares; none where lossy "
                    "operation is meant.",
       .why =
           "Without PFC an incast drops RoCE; every further lossless priority takes headroom and can spread "
           "pause on its own.",
       .needs = "PFC; whether lossy operation is declared or adaptive retransmission is at work.",
       .decided = "Priorities with PFC are counted without the CNPs' own, which is MAP-7's matter. None: "
                  "critical if a RoCE class is visible, else warning. Not judged where 802.3x pause is what "
                  "keeps PFC off (PFC-1).",
       .fix = "Turn PFC on for the RoCE priority alone.",
       .source = "Guo et al., SIGCOMM 2016",
       .gates = {.any_nic = true},
       .judge = judge_lossless_priorities},
  };
  return kRules;
}

}  // namespace rocetune::diagnose
