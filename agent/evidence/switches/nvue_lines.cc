// Cumulus Linux: `nv set` lines for the default profiles. Source: NVUE command reference, QoS.
#include <fmt/core.h>

#include "agent/evidence/switches/columns.h"
#include "agent/evidence/switches/switch_plan.h"

namespace rocetune::evidence {

SwitchLines nvue_lines(const SwitchPlan& plan) {
  const SwitchModel model = model_of(plan, SwitchWriter::nvue);
  const SwitchSettings& settings = model.common;
  std::string out;
  const auto set = [&out](const std::string& line) { out += "nv set " + line + "\n"; };
  set(fmt::format("qos mapping default-global trust {}", plan.trust == SwitchTrust::dscp ? "l3" : "l2"));
  for (const auto& [dscp, priority] : settings.priority_of_dscp)
    set(fmt::format("qos mapping default-global dscp {} switch-priority {}", dscp.value(), priority.value()));
  for (const auto& [priority, queue] : settings.queue_of_priority) {
    set(fmt::format("qos egress-queue-mapping default-global switch-priority {} traffic-class {}",
                    priority.value(), queue.value()));
  }
  if (!settings.pfc->is_empty()) {
    for (int p = 0; p < 8; ++p) {
      if (settings.pfc->contains(Priority(p)))
        set(fmt::format("qos pfc default-global switch-priority {}", p));
    }
    set("qos pfc default-global tx enable");
    set("qos pfc default-global rx enable");
  }
  for (const auto& [number, queue] : settings.queues) {
    const std::string prefix =
        fmt::format("qos egress-scheduler default-global traffic-class {} ", number.value());
    set(prefix + (queue.strict.value_or(false) ? "mode strict" : "mode dwrr"));
    if (queue.share_percent) set(prefix + fmt::format("bw-percent {}", *queue.share_percent));
  }
  for (const auto& [number, queue] : settings.queues) {
    if (!queue.marks) continue;
    const std::string prefix =
        fmt::format("qos congestion-control default-global traffic-class {} ", number.value());
    set(prefix + "ecn enable");
    set(prefix + fmt::format("min-threshold {}", queue.mark_from->count()));
    set(prefix + fmt::format("max-threshold {}", queue.mark_all->count()));
    set(prefix + fmt::format("probability {}", *queue.mark_percent));
  }
  if (plan.storm_after && !settings.pfc->is_empty() && !plan.ports.empty()) {
    // Two polls in a row.
    set(fmt::format("qos pfc-watchdog polling-interval {}", *plan.storm_after / milliseconds(2)));
    set("qos pfc-watchdog robustness 2");
  }
  for (const std::string& port : plan.ports) {
    if (plan.mtu) set(fmt::format("interface {} link mtu {}", port, plan.mtu->count()));
    if (plan.storm_after && !settings.pfc->is_empty())
      set(fmt::format("interface {} qos pfc-watchdog state enable", port));
  }
  out += "nv config apply\n";
  SwitchLines lines{std::move(out), {"the default-global profiles are those of every port"}};
  if (plan.ports.empty())
    lines.notes.emplace_back("no ports were named: MTU and PFC watchdog are left as they are");
  lines.notes.emplace_back("prove it under load: nv show interface swp1 counters qos");
  return lines;
}

}  // namespace rocetune::evidence
