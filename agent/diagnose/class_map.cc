#include "agent/diagnose/class_map.h"

#include <fmt/core.h>

#include "agent/diagnose/rule.h"

namespace rocetune::diagnose {
namespace {

using host::AppSelector;

Evidence pfc_evidence(const host::Pfc& pfc) {
  return setting("PFC priorities", to_text(pfc.enabled), "", source::kPfc);
}

Evidence entry_evidence(const host::Port& port, Dscp dscp) {
  const auto mapped = host::priority_of_dscp(port.dcb, dscp);
  return setting(fmt::format("priority of DSCP {}", dscp.value()),
                 mapped ? fmt::format("{}", mapped->value()) : std::string("no entry"), "", source::kApp);
}

// The class as it should be: what was found or declared, filled up from the default plan.
struct WantedClass {
  Dscp dscp;
  Priority priority;
  Dscp cnp_dscp;
  Priority cnp_priority;
};
WantedClass wanted(const PortFacts& facts) {
  const DefaultPlan& plan = facts.policy.plan;
  WantedClass out{facts.declared.dscp.value_or(plan.data_dscp),
                  facts.declared.priority.value_or(plan.data_priority),
                  facts.declared.cnp_dscp.value_or(plan.cnp_dscp),
                  facts.declared.cnp_priority.value_or(plan.cnp_priority)};
  if (const auto& c = facts.roce_class) {
    out.dscp = c->dscp.value_or(out.dscp);
    out.priority = c->priority;
    out.cnp_dscp = c->cnp_dscp;
    if (c->cnp_priority != c->priority) out.cnp_priority = c->cnp_priority;
  }
  return out;
}

std::vector<Wanted> map_whole_class(const PortFacts& facts) {
  const WantedClass w = wanted(facts);
  return map_dscps(facts, {{w.dscp, w.priority}, {w.cnp_dscp, w.cnp_priority}});
}

// ---- MAP-1
// --------------------------------------------------------------------------------------------------

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
      "fall into "
      "priority 0 whatever their DSCP.";
  const WantedClass w = wanted(facts);
  finding.fix = change_settings(
      facts,
      fmt::format(
          "Trust DSCP: map DSCP {} to priority {} and DSCP {} to priority {}; the first DSCP entry switches "
          "the port over.",
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

// ---- MAP-2
// --------------------------------------------------------------------------------------------------

std::optional<std::int64_t> parameter(const PortFacts& facts, const std::string& name) {
  if (!facts.port.cc_params) return std::nullopt;
  const auto found = facts.port.cc_params->find(name);
  if (found == facts.port.cc_params->end()) return std::nullopt;
  return found->second;
}

std::optional<Dscp> cnp_dscp_in_use(const PortFacts& facts) {
  const auto value = parameter(facts, "np_cnp_dscp");
  if (!value || !Dscp::is_valid(*value)) return std::nullopt;
  return Dscp(static_cast<int>(*value));
}

// The fixed priority of CNPs, where the NIC was told one (np_cnp_prio_mode 0).
std::optional<Priority> fixed_cnp_priority(const PortFacts& facts) {
  const auto priority = parameter(facts, "np_cnp_prio");
  if (parameter(facts, "np_cnp_prio_mode") != 0 || !priority || !Priority::is_valid(*priority))
    return std::nullopt;
  return Priority(static_cast<int>(*priority));
}

// The priority that CNPs of this NIC leave in, as far as the host shows it.
std::optional<Priority> cnp_priority_in_use(const PortFacts& facts) {
  if (const auto fixed = fixed_cnp_priority(facts)) return fixed;
  if (const auto dscp = cnp_dscp_in_use(facts)) return host::priority_of_dscp(facts.port.dcb, *dscp);
  return std::nullopt;
}

bool is_lossless(const PortFacts& facts, Priority p) {
  return facts.port.dcb.pfc && facts.port.dcb.pfc->enabled.contains(p);
}

Outcome judge_cnp_class(const PortFacts& facts) {
  Needs need;
  if (need(facts.port.cc_params, "np_cnp_dscp") == nullptr) return need.not_checked();
  const auto dscp = cnp_dscp_in_use(facts);
  if (!dscp) return Outcome::not_checked("np_cnp_dscp is not among the parameters, or no DSCP");
  const WantedClass w = wanted(facts);
  std::vector<Evidence> evidence{setting("np_cnp_dscp", dscp->value(), "", source::kParameters)};
  if (facts.port.dcb.app) evidence.push_back(entry_evidence(facts.port, *dscp));

  Finding finding;
  if (const auto fixed = fixed_cnp_priority(facts)) {
    evidence.push_back(setting("np_cnp_prio", fixed->value(), "", source::kParameters));
    if (*fixed != w.cnp_priority && !is_lossless(facts, *fixed)) {
      finding.evidence = evidence;
      finding.cause = fmt::format("CNPs leave in priority {}, the class map keeps priority {} for them.",
                                  fixed->value(), w.cnp_priority.value());
      finding.fix = change_settings(facts, fmt::format("Send CNPs in priority {}.", w.cnp_priority.value()),
                                    set_parameter(facts, "np_cnp_prio", w.cnp_priority.value()));
      return Outcome::found(std::move(finding));
    }
  }
  if (*dscp == w.cnp_dscp) return Outcome::passed(std::move(evidence));
  const auto mapped = host::priority_of_dscp(facts.port.dcb, *dscp);
  if (mapped && is_lossless(facts, *mapped)) {
    return Outcome::not_checked("CNPs go to a priority with PFC: see MAP-7");
  }
  // A map of the operator's own that gives CNPs their class is as good as the default plan.
  const bool own_class =
      mapped && is_chosen(facts.port, *dscp) && *mapped != w.priority && *mapped != Priority(0);
  if (own_class && !facts.declared.cnp_dscp) return Outcome::passed(std::move(evidence));
  finding.evidence = std::move(evidence);
  finding.evidence.push_back(entry_evidence(facts.port, w.cnp_dscp));
  finding.cause = fmt::format(
      "CNPs leave with DSCP {}, {}; the class map keeps DSCP {} in priority {} for them, so the network "
      "queues them "
      "with other traffic and senders slow down late.",
      dscp->value(),
      mapped ? fmt::format("which is in priority {}", mapped->value()) : "which it does not know",
      w.cnp_dscp.value(), w.cnp_priority.value());
  finding.fix = change_settings(facts, fmt::format("Send CNPs with DSCP {}.", w.cnp_dscp.value()),
                                set_parameter(facts, "np_cnp_dscp", w.cnp_dscp.value()));
  const bool certain = facts.declared.cnp_dscp || is_chosen(facts.port, w.cnp_dscp);
  finding.confidence = certain ? Confidence::high : Confidence::medium;
  return Outcome::found(std::move(finding));
}

// ---- MAP-3
// --------------------------------------------------------------------------------------------------

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
        "loss makes "
        "its sender go back.",
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
        "own, and "
        "only priority {} is the RoCE class.",
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

// ---- MAP-4, MAP-8
// -------------------------------------------------------------------------------------------

// A byte below 64 that is our DSCP or priority was most likely written as such; the byte means DSCP byte
// >> 2.
bool is_raw_code(const PortFacts& facts, TosByte tos) {
  const WantedClass w = wanted(facts);
  const int byte = tos.wire();
  if (byte == 0 || tos.dscp() == w.dscp) return false;
  const auto leads = mapped_priority(facts.port, tos.dscp());
  if (leads && is_lossless(facts, *leads)) return false;
  return byte == w.dscp.value() || byte == w.priority.value() || byte == facts.policy.plan.data_dscp.value();
}

struct NamedTos {
  const char* name;
  const char* where;
  TosByte tos;
};
std::vector<NamedTos> tos_bytes(const host::RdmaPort& rdma) {
  std::vector<NamedTos> out;
  if (rdma.cm_default_tos) out.push_back({"default_roce_tos", "configfs rdma_cm", *rdma.cm_default_tos});
  if (rdma.global_traffic_class)
    out.push_back({"traffic_class", "sysfs tc/<port>", *rdma.global_traffic_class});
  return out;
}

Evidence tos_evidence(const NamedTos& named) {
  return setting(
      named.name,
      fmt::format("{} (DSCP {}, {})", named.tos.wire(), named.tos.dscp().value(), to_text(named.tos.ecn())),
      "", named.where);
}

Fix write_tos(const PortFacts& facts, const NamedTos& named, TosByte tos) {
  std::string text = fmt::format("Write {} into {}: DSCP {} times 4, plus ECT(0).", tos.wire(), named.name,
                                 tos.dscp().value());
  if (std::string_view(named.name) == "default_roce_tos") {
    return change_settings(
        facts, std::move(text),
        {{{facts.port.name, host::KnobKind::cm_default_tos, ""}, std::int64_t{tos.wire()}}});
  }
  return advise(std::move(text), {fmt::format("echo {} > /sys/class/infiniband/{}/tc/{}/traffic_class",
                                              tos.wire(), facts.rdma()->device, facts.rdma()->port)});
}

Outcome judge_tos_byte(const PortFacts& facts) {
  Needs need;
  const host::RdmaPort* rdma = need(facts.port.rdma, "RDMA device");
  if (rdma == nullptr) return need.not_checked();
  const std::vector<NamedTos> all = tos_bytes(*rdma);
  if (all.empty()) {
    need(rdma->cm_default_tos, "default_roce_tos");
    need(rdma->global_traffic_class, "traffic_class");
    return need.not_checked();
  }
  const TosByte right = tos_of(wanted(facts).dscp);
  std::vector<Finding> findings;
  std::vector<Evidence> seen;
  for (const NamedTos& named : all) {
    seen.push_back(tos_evidence(named));
    Finding finding;
    finding.evidence = {seen.back()};
    finding.fix = write_tos(facts, named, right);
    if (is_raw_code(facts, named.tos)) {
      finding.cause = fmt::format(
          "{} holds {}: that is a bare DSCP or priority where the whole ToS byte belongs, so packets leave "
          "with DSCP {}.",
          named.name, named.tos.wire(), named.tos.dscp().value());
      findings.push_back(std::move(finding));
    } else if (!facts.nic->ignores_ecn_of_tos && named.tos.dscp() == right.dscp() &&
               named.tos.ecn() == Ecn::not_ect) {
      finding.severity = Severity::info;
      finding.confidence = Confidence::medium;
      finding.cause =
          fmt::format("{} leaves the ECN bits at 00: on this kind of NIC switches may not mark such packets.",
                      named.name);
      findings.push_back(std::move(finding));
    }
  }
  return findings.empty() ? Outcome::passed(std::move(seen)) : Outcome::found(std::move(findings));
}

Outcome judge_cm_class(const PortFacts& facts) {
  Needs need;
  const host::RdmaPort* rdma = need(facts.port.rdma, "RDMA device");
  const TosByte* tos = rdma == nullptr ? nullptr : need(rdma->cm_default_tos, "default_roce_tos");
  if (tos == nullptr) return need.not_checked();
  if (!facts.roce_class || !facts.roce_class->dscp)
    return Outcome::not_checked("no RoCE class to compare with");
  if (is_raw_code(facts, *tos)) return Outcome::not_checked("default_roce_tos holds a bare code: see MAP-4");
  const NamedTos named{"default_roce_tos", "configfs rdma_cm", *tos};
  const RoceClass& c = *facts.roce_class;
  const bool leads_there = tos->dscp() == c.dscp || mapped_priority(facts.port, tos->dscp()) == c.priority;
  if (leads_there) return Outcome::passed({tos_evidence(named)});
  Finding finding;
  finding.evidence = {tos_evidence(named)};
  finding.fix = write_tos(facts, named, tos_of(*c.dscp));
  if (tos->wire() == 0) {
    finding.severity = Severity::info;
    finding.cause =
        "Queue pairs made by rdma_cm (UCX, storage, perftest -R) leave unmarked unless the application sets "
        "a ToS.";
  } else {
    finding.cause =
        fmt::format("Queue pairs made by rdma_cm leave with DSCP {}, which is not the RoCE class (DSCP {}).",
                    tos->dscp().value(), c.dscp->value());
  }
  finding.confidence = c.confidence;
  return Outcome::found(std::move(finding));
}

// ---- MAP-5
// --------------------------------------------------------------------------------------------------

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
      "in "
      "priority {}.",
      c.dscp->value(), mapped.value(), lossless ? "another lossless one" : "which is lossy",
      c.priority.value());
  finding.fix =
      change_settings(facts, fmt::format("Map DSCP {} to priority {}.", c.dscp->value(), c.priority.value()),
                      map_dscps(facts, {{*c.dscp, c.priority}}));
  finding.confidence = c.confidence;
  return finding;
}

Finding missing_entry(const PortFacts& facts) {
  const RoceClass& c = *facts.roce_class;
  Finding finding;
  finding.severity = Severity::critical;
  finding.evidence = chain_evidence(facts);
  const WantedClass w = wanted(facts);
  finding.evidence.push_back(entry_evidence(facts.port, w.dscp));
  finding.cause = fmt::format(
      "The chain breaks at DSCP -> priority: {} leads to priority {}, so nothing uses the RoCE class.",
      c.dscp ? fmt::format("DSCP {} has no entry, no other DSCP", c.dscp->value()) : "no DSCP",
      c.priority.value());
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

// ---- MAP-7
// --------------------------------------------------------------------------------------------------

Outcome judge_cnp_not_paused(const PortFacts& facts) {
  Needs need;
  const host::Pfc* pfc = need(facts.port.dcb.pfc, "PFC");
  if (pfc == nullptr) return need.not_checked();
  const auto in_use = cnp_priority_in_use(facts);
  const WantedClass w = wanted(facts);
  // What the NIC was told counts; where that cannot be read, the class map's own word for CNPs.
  const Priority cnp = in_use.value_or(facts.roce_class ? facts.roce_class->cnp_priority : w.cnp_priority);
  if (!in_use && !facts.roce_class)
    return Outcome::not_checked("no RoCE class is set up, and CNPs' priority is not known");

  std::vector<Evidence> evidence{pfc_evidence(*pfc), setting("priority of CNPs", cnp.value(), "",
                                                             in_use ? source::kParameters : source::kApp)};
  if (const auto dscp = cnp_dscp_in_use(facts)) {
    evidence.push_back(setting("np_cnp_dscp", dscp->value(), "", source::kParameters));
  }
  Finding finding;
  finding.confidence = in_use ? Confidence::high : Confidence::medium;
  if (pfc->enabled.contains(cnp)) {
    finding.evidence = std::move(evidence);
    finding.cause = fmt::format(
        "CNPs travel in priority {}, which has PFC: while it is paused no CNP reaches a sender, so "
        "congestion control "
        "stops when it is needed.",
        cnp.value());
    if (cnp == w.priority) {
      finding.fix = change_settings(
          facts,
          fmt::format("Send CNPs with DSCP {} in priority {}.", w.cnp_dscp.value(), w.cnp_priority.value()),
          join(map_dscps(facts, {{w.cnp_dscp, w.cnp_priority}}),
               set_parameter(facts, "np_cnp_dscp", w.cnp_dscp.value())));
    } else {
      const PrioritySet right = pfc->enabled.without(cnp).with(w.priority);
      finding.fix = change_settings(facts, fmt::format("Turn PFC on for {} alone.", to_text(right)),
                                    set_pfc(facts, right));
    }
    return Outcome::found(std::move(finding));
  }
  if (facts.port.dcb.ets && facts.roce_class && !pfc->enabled.is_empty()) {
    const auto& tc = facts.port.dcb.ets->tc_of_priority;
    const TrafficClass data_tc = tc[static_cast<std::size_t>(facts.roce_class->priority.value())];
    const TrafficClass cnp_tc = tc[static_cast<std::size_t>(cnp.value())];
    evidence.push_back(setting("traffic class of CNPs", cnp_tc.value(), "", source::kEts));
    if (data_tc == cnp_tc && cnp != facts.roce_class->priority) {
      finding.evidence = std::move(evidence);
      finding.cause = fmt::format(
          "CNPs and RoCE data share traffic class {}: a pause of the data holds CNPs too.", cnp_tc.value());
      finding.fix = advise("Give the CNPs' priority a strict traffic class of its own.");
      return Outcome::found(std::move(finding));
    }
  }
  return Outcome::passed(std::move(evidence));
}

constexpr Rule kRules[] = {
    {.id = "MAP-1",
     .title = "The port trusts DSCP",
     .condition = "A RoCE v2 port classifies by DSCP, on host and switch.",
     .why = "PCP exists only in a VLAN tag and is lost at the first router; RoCE v2 is routed UDP.",
     .needs = "DCB trust; GIDs and VLANs over the port.",
     .decided = "Finding if trust is pcp and nobody declared PCP. Only worth knowing (info) if a GID sits on "
                "a VLAN over "
                "the port, where PCP can carry the class.",
     .fix = "Map the data and CNP DSCPs; on mlx5 the first DSCP entry switches trust.",
     .source = "Guo et al., SIGCOMM 2016; Linux mlx5/core/en_dcbnl.c (trust follows the application table)",
     .gates = {},
     .judge = judge_trust},
    {.id = "MAP-5",
     .title = "DSCP, priority, PFC, buffer and traffic class form one chain",
     .condition = "The RoCE DSCP leads to the RoCE priority, and that priority has PFC.",
     .why = "A break anywhere sends RoCE through a lossy queue while every single setting looks plausible.",
     .needs = "DSCP map, PFC; buffers and ETS as evidence; the RoCE class, declared or inferred.",
     .decided = "The chain is followed link by link; the finding names the link where it breaks. Critical if "
                "RoCE ends up "
                "lossy.",
     .fix = "Correct the link that breaks; a map entry rather than a PFC bit where both would do, since a "
            "PFC write "
            "bounces the link.",
     .source = "Linux mlx5/core/en_dcbnl.c; SONiC default maps",
     .gates = {},
     .judge = judge_chain},
    {.id = "MAP-3",
     .title = "PFC is on for exactly one data priority",
     .condition =
         "Exactly one data priority has PFC, or those that a profile declares; none where lossy operation is "
         "meant.",
     .why = "Without PFC an incast drops RoCE; every further lossless priority takes headroom and can spread "
            "pause on its "
            "own.",
     .needs = "PFC; whether lossy operation is declared or adaptive retransmission is at work.",
     .decided =
         "Priorities with PFC are counted without the CNPs' own, which is MAP-7's matter. None: critical if "
         "a RoCE "
         "class is visible, else warning. Not judged where 802.3x pause is what keeps PFC off (PFC-1).",
     .fix = "Turn PFC on for the RoCE priority alone.",
     .source = "Guo et al., SIGCOMM 2016",
     .gates = {},
     .judge = judge_lossless_priorities},
    {.id = "MAP-7",
     .title = "CNPs never travel in a PFC priority",
     .condition = "The priority of CNPs has no PFC, and its traffic class is not that of the data.",
     .why = "A paused CNP cannot slow its sender: PFC and congestion control then hold each other up.",
     .needs = "PFC; np_cnp_dscp and np_cnp_prio; DSCP map; ETS.",
     .decided = "The priority that the NIC was told for CNPs, else the one the class map gives their DSCP "
                "(confidence "
                "medium), must not be in the PFC set.",
     .fix = "Turn PFC off for the CNPs' priority, or move CNPs out of the data priority.",
     .source = "Cumulus RoCE guide; ROCm/mori",
     .gates = {},
     .judge = judge_cnp_not_paused},
    {.id = "MAP-2",
     .title = "CNPs carry the DSCP and priority that the class map keeps for them",
     .condition = "np_cnp_dscp is the declared CNP DSCP, the default plan's, or one that the operator's map "
                  "gives a class "
                  "of its own.",
     .why = "CNPs that queue with bulk traffic arrive late, and congestion control overshoots.",
     .needs = "np_cnp_dscp, np_cnp_prio and np_cnp_prio_mode; DSCP map.",
     .decided = "Another DSCP is accepted if an entry somebody chose puts it into a priority that is neither "
                "the data's "
                "nor 0. A DSCP that leads to a PFC priority is MAP-7's matter.",
     .fix = "Set np_cnp_dscp (or np_cnp_prio) to the class map's value.",
     .source = "Cumulus and Juniper RoCE defaults; Linux hw/mlx5/cong.c",
     .gates = {},
     .judge = judge_cnp_class},
    {.id = "MAP-4",
     .title = "ToS bytes hold DSCP times 4, plus ECN",
     .condition = "default_roce_tos and traffic_class do not hold a bare DSCP or priority.",
     .why = "26 written as a ToS byte means DSCP 6: the most common mistake of the field.",
     .needs = "configfs rdma_cm default_roce_tos; on vendor drivers sysfs tc/<port>/traffic_class.",
     .decided = "Finding if the byte equals the class's DSCP or priority and its own DSCP leads to no "
                "lossless class. "
                "Info if the ECN bits are 00 on a NIC that sends them as given.",
     .fix = "Write DSCP * 4 + 2.",
     .source = "dmf-mxl/mxl#603; Linux hw/mlx5/qp.c (DSCP = traffic_class >> 2)",
     .gates = {},
     .judge = judge_tos_byte},
    {.id = "MAP-8",
     .title = "Connections made by rdma_cm carry the class",
     .condition = "default_roce_tos leads to the RoCE class.",
     .why = "It is the only class of applications that use rdma_cm and set no ToS themselves. Verbs "
            "applications and DevX "
            "queue pairs do not use it: their class is in their own settings, which a host does not show.",
     .needs = "configfs rdma_cm default_roce_tos; the RoCE class.",
     .decided = "Info if it is 0; warning if it holds another class. Not checked where the directory was "
                "never made.",
     .fix = "Write the class's ToS byte.",
     .source = "Linux drivers/infiniband/core/cma_configfs.c; NVIDIA/nccl#2383",
     .gates = {},
     .judge = judge_cm_class},
};

}  // namespace

std::span<const Rule> class_map_rules() { return kRules; }

}  // namespace rocetune::diagnose
