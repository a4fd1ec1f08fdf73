#include <fmt/core.h>

#include "agent/diagnose/class_map.h"

namespace rocetune::diagnose {

bool is_lossy_on_purpose(const PortFacts& facts) {
  if (facts.declared.lossy) return true;
  if (!facts.port.dcb.pfc || !facts.port.dcb.pfc->enabled.is_empty()) return false;
  return facts.delta != nullptr && facts.delta->increment("adaptive_retransmissions").value_or(0) > 0;
}

bool has_global_pause(const PortFacts& facts) {
  return facts.port.pause && (facts.port.pause->receive || facts.port.pause->transmit);
}

bool has_pause_in_place_of_pfc(const PortFacts& facts) {
  return facts.nic != nullptr && facts.nic->row.dcb.pause_excludes_pfc && has_global_pause(facts) &&
         facts.port.dcb.pfc && facts.port.dcb.pfc->enabled.is_empty();
}

PrioritySet lossless_data_priorities(const PortFacts& facts) {
  if (!facts.port.dcb.pfc) return {};
  const PrioritySet enabled = facts.port.dcb.pfc->enabled;
  if (!facts.roce_class) return enabled.without(facts.policy.plan.cnp_priority);
  if (facts.roce_class->cnp_priority == facts.roce_class->priority) return enabled;
  return enabled.without(facts.roce_class->cnp_priority);
}

ChainBreak chain_break(const PortFacts& facts) {
  const host::Dcb& dcb = facts.port.dcb;
  if (!facts.roce_class || !dcb.app || !dcb.pfc) return ChainBreak::unknown;
  const RoceClass& c = *facts.roce_class;
  if (dcb.trust && *dcb.trust == host::Trust::pcp) return ChainBreak::trust;
  if (!c.dscp) return ChainBreak::no_entry;
  const auto mapped = host::priority_of_dscp(dcb, *c.dscp);
  if (!mapped) return ChainBreak::no_entry;
  if (*mapped != c.priority) return ChainBreak::map;
  if (!dcb.pfc->enabled.contains(c.priority)) return ChainBreak::pfc;
  return ChainBreak::none;
}

std::optional<Priority> where_data_goes(const PortFacts& facts) {
  if (!facts.roce_class || !facts.port.dcb.app) return std::nullopt;
  if (!facts.roce_class->dscp) return Priority(0);
  return mapped_priority(facts.port, *facts.roce_class->dscp).value_or(Priority(0));
}

TosByte tos_of(Dscp dscp) { return {dscp, Ecn::ect0}; }

bool is_chosen(const host::Port& port, Dscp dscp) {
  const auto mapped = host::priority_of_dscp(port.dcb, dscp);
  if (!mapped) return false;
  int listed = 0;
  for (const host::AppEntry& entry : *port.dcb.app) listed += entry.selector == host::AppSelector::dscp;
  return listed < Dscp::kCount || mapped->value() != dscp.value() >> 3;
}

Evidence pfc_evidence(const host::Pfc& pfc) {
  return setting("PFC priorities", to_text(pfc.enabled), "", source::kPfc);
}

Evidence entry_evidence(const host::Port& port, Dscp dscp) {
  const auto mapped = host::priority_of_dscp(port.dcb, dscp);
  return setting(fmt::format("priority of DSCP {}", dscp.value()),
                 mapped ? fmt::format("{}", mapped->value()) : std::string("no entry"), "", source::kApp);
}

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

bool is_lossless(const PortFacts& facts, Priority p) {
  return facts.port.dcb.pfc && facts.port.dcb.pfc->enabled.contains(p);
}

}  // namespace rocetune::diagnose
