// EOS: a qos profile and the global DSCP map. Source: Arista EOS user manual, Quality of Service.
#include <fmt/core.h>

#include "agent/evidence/switches/columns.h"
#include "agent/evidence/switches/switch_plan.h"

namespace rocetune::evidence {
namespace {

// EOS takes whole kilobytes of 1000, or bytes.
std::string eos_size(Bytes size) {
  return size.count() % 1000 == 0 ? fmt::format("{} kbytes", size.count() / 1000)
                                  : fmt::format("{} bytes", size.count());
}

}  // namespace

SwitchLines eos_lines(const SwitchPlan& plan) {
  const SwitchModel model = model_of(plan, SwitchWriter::eos);
  const SwitchSettings& settings = model.common;
  std::string out;
  const auto add = [&out](const std::string& line) { out += line + "\n"; };
  for (const auto& [dscp, priority] : settings.priority_of_dscp)
    add(fmt::format("qos map dscp {} to traffic-class {}", dscp.value(), priority.value()));
  for (const auto& [priority, queue] : settings.queue_of_priority)
    add(fmt::format("qos map traffic-class {} to tx-queue {}", priority.value(), queue.value()));
  add("!");
  add("qos profile ROCE");
  add(fmt::format("   qos trust {}", plan.trust == SwitchTrust::dscp ? "dscp" : "cos"));
  if (settings.pfc->is_empty()) {
    add("   no priority-flow-control");
  } else {
    add("   priority-flow-control on");
    for (int p = 0; p < 8; ++p) {
      if (settings.pfc->contains(Priority(p)))
        add(fmt::format("   priority-flow-control priority {} no-drop", p));
    }
  }
  for (const auto& [number, queue] : settings.queues) {
    add(fmt::format("   uc-tx-queue {}", number.value()));
    if (queue.strict.value_or(false)) {
      add("      priority strict");
    } else {
      add("      no priority");
      add(fmt::format("      bandwidth percent {}", queue.share_percent.value_or(0)));
    }
    if (!queue.marks) continue;
    add(fmt::format(
        "      random-detect ecn minimum-threshold {} maximum-threshold {} max-mark-probability {} weight 0",
        eos_size(*queue.mark_from), eos_size(*queue.mark_all), *queue.mark_percent));
  }
  add("!");
  if (plan.storm_after && !settings.pfc->is_empty()) {
    add(fmt::format("priority-flow-control pause watchdog default timeout {:g}",
                    plan.storm_after->seconds()));
    add("priority-flow-control pause watchdog action drop");
    add("!");
  }
  for (const std::string& port : plan.ports) {
    add("interface " + port);
    if (plan.mtu) add(fmt::format("   mtu {}", plan.mtu->count()));
    add("   service-profile ROCE");
    add("!");
  }
  return {std::move(out),
          {"paste it in a configure session, look at `show session-config diffs`, then commit",
           "on platforms with virtual output queues the word is tx-queue, not uc-tx-queue",
           "prove it under load: show priority-flow-control counters, show interfaces counters queue"}};
}

}  // namespace rocetune::evidence
