#include <fmt/core.h>

#include "agent/diagnose/class_map.h"
#include "agent/diagnose/rule.h"

namespace rocetune::diagnose {
namespace {

// ---- MAP-2 ----

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
      "queues them with other traffic and senders slow down late.",
      dscp->value(),
      mapped ? fmt::format("which is in priority {}", mapped->value()) : "which it does not know",
      w.cnp_dscp.value(), w.cnp_priority.value());
  finding.fix = change_settings(facts, fmt::format("Send CNPs with DSCP {}.", w.cnp_dscp.value()),
                                set_parameter(facts, "np_cnp_dscp", w.cnp_dscp.value()));
  const bool certain = facts.declared.cnp_dscp || is_chosen(facts.port, w.cnp_dscp);
  finding.confidence = certain ? Confidence::high : Confidence::medium;
  return Outcome::found(std::move(finding));
}

// ---- MAP-7 ----

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
        "congestion control stops when it is needed.",
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

}  // namespace

std::span<const Rule> cnp_class_rules() {
  static constexpr Rule kRules[] = {
      {.id = "MAP-7",
       .title = "CNPs never travel in a PFC priority",
       .condition = "The priority of CNPs has no PFC, and its traffic class is not that of the data.",
       .why = "A paused CNP cannot slow its sender: PFC and congestion control then hold each other up.",
       .needs = "PFC; np_cnp_dscp and np_cnp_prio; DSCP map; ETS.",
       .decided = "The priority that the NIC was told for CNPs, else the one the class map gives their DSCP "
                  "(confidence medium), must not be in the PFC set.",
       .fix = "Turn PFC off for the CNPs' priority, or move CNPs out of the data priority.",
       .source = "Cumulus RoCE guide; ROCm/mori",
       .gates = {},
       .judge = judge_cnp_not_paused},
      {.id = "MAP-2",
       .title = "CNPs carry the DSCP and priority that the class map keeps for them",
       .condition =
           "np_cnp_dscp is the declared CNP DSCP, the default plan's, or one that the operator's map "
           "gives a class of its own.",
       .why = "CNPs that queue with bulk traffic arrive late, and congestion control overshoots.",
       .needs = "np_cnp_dscp, np_cnp_prio and np_cnp_prio_mode; DSCP map.",
       .decided =
           "Another DSCP is accepted if an entry somebody chose puts it into a priority that is neither "
           "the data's nor 0. A DSCP that leads to a PFC priority is MAP-7's matter.",
       .fix = "Set np_cnp_dscp (or np_cnp_prio) to the class map's value.",
       .source = "Cumulus and Juniper RoCE defaults; Linux hw/mlx5/cong.c",
       .gates = {},
       .judge = judge_cnp_class},
  };
  return kRules;
}

}  // namespace rocetune::diagnose
