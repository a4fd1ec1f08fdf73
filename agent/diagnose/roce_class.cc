#include "agent/diagnose/roce_class.h"

#include <fmt/core.h>

#include <algorithm>
#include <vector>

namespace rocetune::diagnose {
namespace {

struct DscpEntry {
  Dscp dscp;
  Priority priority;
};

// DSCP entries that somebody chose. A driver that lists all 64 shows the hardware's reset map too
// (priority = DSCP >> 3, mlx5's dscp2prio after reset): in a full table only what differs was chosen.
std::vector<DscpEntry> chosen_entries(const host::Port& port) {
  std::vector<DscpEntry> entries;
  if (!port.dcb.app) return entries;
  for (const host::AppEntry& entry : *port.dcb.app) {
    if (entry.selector == host::AppSelector::dscp && Dscp::is_valid(entry.protocol)) {
      entries.push_back({Dscp(entry.protocol), entry.priority});
    }
  }
  if (entries.size() < Dscp::kCount) return entries;
  std::erase_if(entries, [](const DscpEntry& e) { return e.priority.value() == e.dscp.value() >> 3; });
  return entries;
}

std::optional<Priority> entry_of(const host::Port& port, Dscp d) {
  return host::priority_of_dscp(port.dcb, d);
}

struct Choice {
  Priority priority;
  std::string origin;
  Confidence confidence;
};

// CNPs' DSCP: declared, or the plan's. Their priority: declared, or where the map sends that DSCP, or the
// plan's.
Dscp intended_cnp_dscp(const Intent& declared, const DefaultPlan& plan) {
  return declared.cnp_dscp.value_or(plan.cnp_dscp);
}

Priority intended_cnp_priority(const host::Port& port, const Intent& declared, const DefaultPlan& plan) {
  if (declared.cnp_priority) return *declared.cnp_priority;
  const auto mapped = entry_of(port, intended_cnp_dscp(declared, plan));
  return mapped.value_or(plan.cnp_priority);
}

std::optional<Choice> from_single_pfc(PrioritySet lossless) {
  if (lossless.size() != 1) return std::nullopt;
  return Choice{lossless.members().front(), "the one data priority with PFC", Confidence::high};
}

// Of several candidates: the one a chosen DSCP leads to, else the one with its own buffer, else the plan's.
std::optional<Choice> from_several(const host::Port& port, PrioritySet candidates, Dscp cnp_dscp,
                                   const DefaultPlan& plan) {
  const auto named = entry_of(port, plan.data_dscp);
  if (named && candidates.contains(*named)) {
    return Choice{
        *named,
        fmt::format("DSCP {} of the default plan leads to it, and it has PFC", plan.data_dscp.value()),
        Confidence::high};
  }
  for (const DscpEntry& entry : chosen_entries(port)) {
    if (entry.dscp != cnp_dscp && candidates.contains(entry.priority)) {
      return Choice{entry.priority, fmt::format("DSCP {} leads to it, and it has PFC", entry.dscp.value()),
                    Confidence::medium};
    }
  }
  if (candidates.contains(plan.data_priority)) {
    return Choice{plan.data_priority, "the default plan's priority, and it has PFC", Confidence::medium};
  }
  return std::nullopt;
}

// Where no priority has PFC: what else was set up for one.
std::optional<Choice> from_traces(const host::Port& port, Priority cnp, const DefaultPlan& plan) {
  if (port.dcb.buffers) {
    const auto own = priority_with_own_buffer(*port.dcb.buffers);
    if (own && *own != cnp)
      return Choice{*own, "the one priority with its own receive buffer", Confidence::medium};
  }
  std::optional<Choice> out;
  for (const DscpEntry& entry : chosen_entries(port)) {
    if (entry.priority == Priority(0) || entry.priority == cnp) continue;
    const bool planned = entry.dscp == plan.data_dscp;
    if (out && !planned) continue;
    out = Choice{entry.priority, fmt::format("DSCP {} leads to it", entry.dscp.value()),
                 planned ? Confidence::medium : Confidence::low};
  }
  return out;
}

std::optional<Choice> choose_priority(const host::Port& port, const Intent& declared, Dscp cnp_dscp,
                                      Priority cnp, const DefaultPlan& plan) {
  if (declared.priority) return Choice{*declared.priority, declared.origin, Confidence::high};
  if (port.dcb.pfc) {
    const PrioritySet data = port.dcb.pfc->enabled.without(cnp);
    if (auto one = from_single_pfc(data)) return one;
    // PFC on the CNPs' priority alone: data may have been put there as well.
    const PrioritySet several = data.is_empty() ? port.dcb.pfc->enabled : data;
    if (auto one = from_several(port, several, cnp_dscp, plan)) return one;
  }
  if (declared.dscp) {
    if (const auto mapped = entry_of(port, *declared.dscp)) {
      return Choice{
          *mapped, fmt::format("the map of DSCP {}, declared by {}", declared.dscp->value(), declared.origin),
          Confidence::medium};
    }
  }
  return from_traces(port, cnp, plan);
}

// The DSCP of the data class: declared, or the one that leads to the priority, or the plan's if it is mapped
// somewhere at all (then it leads to the wrong place).
std::optional<Dscp> choose_dscp(const host::Port& port, const Intent& declared, Priority priority,
                                Dscp cnp_dscp, const DefaultPlan& plan) {
  if (declared.dscp) return declared.dscp;
  const std::vector<DscpEntry> chosen = chosen_entries(port);
  const auto leads_there = [&](const DscpEntry& e) { return e.priority == priority && e.dscp != cnp_dscp; };
  if (entry_of(port, plan.data_dscp) == priority) return plan.data_dscp;
  if (const auto e = std::find_if(chosen.begin(), chosen.end(), leads_there); e != chosen.end())
    return e->dscp;
  if (entry_of(port, plan.data_dscp)) return plan.data_dscp;
  for (const DscpEntry& entry : chosen) {
    if (entry.dscp != cnp_dscp && entry.priority != Priority(0)) return entry.dscp;
  }
  return std::nullopt;
}

}  // namespace

std::optional<Priority> mapped_priority(const host::Port& port, Dscp d) {
  if (port.dcb.trust && *port.dcb.trust == host::Trust::pcp) return std::nullopt;
  return entry_of(port, d);
}

std::optional<Priority> priority_with_own_buffer(const host::PortBuffers& buffers) {
  std::array<int, 256> users{};
  for (const std::uint8_t buffer : buffers.buffer_of_priority) ++users[buffer];
  std::optional<Priority> own;
  for (int p = 0; p < Priority::kCount; ++p) {
    if (users[buffers.buffer_of_priority[static_cast<std::size_t>(p)]] != 1) continue;
    if (own) return std::nullopt;
    own = Priority(p);
  }
  return own;
}

std::optional<RoceClass> class_of(const host::Port& port, const Intent& declared, const DefaultPlan& plan) {
  const Dscp cnp_dscp = intended_cnp_dscp(declared, plan);
  const Priority cnp = intended_cnp_priority(port, declared, plan);
  auto choice = choose_priority(port, declared, cnp_dscp, cnp, plan);
  if (!choice && declared.dscp && *declared.dscp == plan.data_dscp) {
    choice =
        Choice{plan.data_priority, "the default plan's priority of the declared DSCP", Confidence::medium};
  }
  if (!choice) return std::nullopt;
  RoceClass out;
  out.priority = choice->priority;
  out.dscp = choose_dscp(port, declared, choice->priority, cnp_dscp, plan);
  out.cnp_dscp = cnp_dscp;
  out.cnp_priority = cnp;
  out.origin = choice->origin;
  out.confidence = choice->confidence;
  out.declared = declared.priority.has_value();
  return out;
}

std::string to_text(const RoceClass& c) {
  return fmt::format("{} -> priority {}, CNP DSCP {} -> priority {} ({}: {}; confidence {})",
                     c.dscp ? fmt::format("DSCP {}", c.dscp->value()) : "no DSCP", c.priority.value(),
                     c.cnp_dscp.value(), c.cnp_priority.value(), c.declared ? "declared" : "inferred",
                     c.origin, enum_name(c.confidence));
}

}  // namespace rocetune::diagnose
