// Junos: class-of-service by `set` lines. Source: Juniper QFX traffic management guide, DSCP-based PFC.
#include <fmt/core.h>

#include "agent/evidence/switches/switch_plan.h"

namespace rocetune::evidence {
namespace {

std::string binary(int value, int bits) {
  std::string out;
  for (int bit = bits - 1; bit >= 0; --bit) out += (value >> bit & 1) != 0 ? '1' : '0';
  return out;
}

constexpr const char* kBestEffort = "BEST-EFFORT";

}  // namespace

SwitchLines junos_lines(const SwitchPlan& plan) {
  std::string out;
  const auto set = [&out](const std::string& line) { out += "set class-of-service " + line + "\n"; };
  const bool by_dscp = plan.trust == SwitchTrust::dscp;
  const std::string classifier = by_dscp ? "dscp" : "ieee-802.1";
  set(fmt::format("forwarding-classes class {} queue-num {}", kBestEffort, plan.default_queue.value()));
  for (const PlannedClass& c : plan.classes) {
    const bool names_priority = c.lossless || c.priority.value() != c.queue.value();
    set(fmt::format("forwarding-classes class {} queue-num {}{}{}", object_name(c), c.queue.value(),
                    c.lossless ? " no-loss" : "",
                    names_priority ? fmt::format(" pfc-priority {}", c.priority.value()) : ""));
  }
  for (const PlannedClass& c : plan.classes) {
    const std::string begin = fmt::format(
        "classifiers {} ROCE forwarding-class {} loss-priority low code-points ", classifier, object_name(c));
    if (!by_dscp) set(begin + binary(c.priority.value(), 3));
    for (const Dscp dscp : c.dscps) {
      if (by_dscp) set(begin + binary(dscp.value(), 6));
    }
  }
  const bool lossless = !plan.lossless().is_empty();
  for (const PlannedClass& c : plan.classes) {
    if (!c.lossless) continue;
    if (!by_dscp) {
      set(fmt::format("congestion-notification-profile ROCE-PFC input ieee-802.1 code-point {} pfc",
                      binary(c.priority.value(), 3)));
    }
    for (const Dscp dscp : c.dscps) {
      if (by_dscp)
        set(fmt::format("congestion-notification-profile ROCE-PFC input dscp code-point {} pfc",
                        binary(dscp.value(), 6)));
    }
    set(fmt::format(
        "congestion-notification-profile ROCE-PFC output ieee-802.1 code-point {} flow-control-queue {}",
        binary(c.priority.value(), 3), c.queue.value()));
  }
  if (lossless && plan.storm_after) set("congestion-notification-profile ROCE-PFC pfc-watchdog");
  const auto schedule = [&](const std::string& name, bool strict, int share, bool marks) {
    set(fmt::format("scheduler-maps ROCE forwarding-class {} scheduler {}", name, name));
    set(fmt::format("schedulers {} priority {}", name, strict ? "strict-high" : "low"));
    if (!strict) set(fmt::format("schedulers {} transmit-rate percent {}", name, share));
    if (marks) set(fmt::format("schedulers {} explicit-congestion-notification", name));
  };
  schedule(kBestEffort, false, plan.default_share_percent, false);
  for (const PlannedClass& c : plan.classes)
    schedule(object_name(c), c.strict, c.share_percent, plan.marks(c));
  for (const std::string& port : plan.ports) {
    if (lossless) set(fmt::format("interfaces {} congestion-notification-profile ROCE-PFC", port));
    set(fmt::format("interfaces {} scheduler-map ROCE", port));
    set(fmt::format("interfaces {} unit 0 classifiers {} ROCE", port, classifier));
    if (plan.mtu) out += fmt::format("set interfaces {} mtu {}\n", port, plan.mtu->count());
  }
  SwitchLines lines{
      std::move(out),
      {"ECN thresholds are shares of the buffer in Junos: give the lossless scheduler a drop profile "
       "whose fill level "
       "begins well below the PFC threshold",
       "unit 0 is taken; the interval of the PFC watchdog is the platform's",
       "load it with `load set terminal`, look at `show | compare`, then `commit confirmed 5`"}};
  if (!lossless) {
    lines.notes.emplace_back(
        "PFC that is on already stays on: delete the congestion-notification-profile of these interfaces");
  }
  return lines;
}

}  // namespace rocetune::evidence
