// NX-OS: class maps, the network-qos policy, the queuing policy. Source: Cisco Nexus 9000 QoS configuration
// guide.
#include <fmt/core.h>

#include "agent/evidence/switches/columns.h"
#include "agent/evidence/switches/switch_plan.h"

namespace rocetune::evidence {
namespace {

std::string nxos_size(Bytes size) {
  return size.count() % 1000 == 0 ? fmt::format("{} kbytes", size.count() / 1000)
                                  : fmt::format("{} bytes", size.count());
}

// System-defined class of a group: "c-out-8q-q3", "c-8q-nq-default".
std::string nxos_class(const char* prefix, TrafficClass group) {
  return group.value() == 0 ? fmt::format("{}-default", prefix) : fmt::format("{}{}", prefix, group.value());
}

}  // namespace

SwitchLines nxos_lines(const SwitchPlan& plan) {
  const SwitchModel model = model_of(plan, SwitchWriter::nxos);
  const SwitchSettings& settings = model.common;
  std::string out;
  const auto add = [&out](const std::string& line) { out += line + "\n"; };
  for (const PlannedClass& c : plan.classes) {
    add("class-map type qos match-any " + object_name(c));
    if (plan.trust == SwitchTrust::dscp) {
      std::vector<int> dscps;
      for (const Dscp dscp : c.dscps) dscps.push_back(dscp.value());
      add("  match dscp " + list_of(dscps));
    } else {
      add(fmt::format("  match cos {}", c.priority.value()));
    }
  }
  add("policy-map type qos ROCE-CLASSIFY");
  for (const PlannedClass& c : plan.classes) {
    add("  class " + object_name(c));
    add(fmt::format("    set qos-group {}", c.queue.value()));
  }
  add("  class class-default");
  add(fmt::format("    set qos-group {}", plan.default_queue.value()));
  add("policy-map type network-qos ROCE-NETWORK");
  for (const PlannedClass& c : plan.classes) {
    if (!c.lossless) continue;
    add("  class type network-qos " + nxos_class("c-8q-nq", c.queue));
    if (plan.mtu) add(fmt::format("    mtu {}", plan.mtu->count()));
    add(fmt::format("    pause pfc-cos {}", c.priority.value()));
  }
  add("  class type network-qos c-8q-nq-default");
  if (plan.mtu) add(fmt::format("    mtu {}", plan.mtu->count()));
  add("policy-map type queuing ROCE-EGRESS");
  for (const auto& [number, queue] : settings.queues) {
    add("  class type queuing " + nxos_class("c-out-8q-q", number));
    if (queue.strict.value_or(false)) {
      add("    priority level 1");
    } else {
      add(fmt::format("    bandwidth remaining percent {}", queue.share_percent.value_or(0)));
    }
    if (!queue.marks) continue;
    add(fmt::format(
        "    random-detect minimum-threshold {} maximum-threshold {} drop-probability {} weight 0 ecn",
        nxos_size(*queue.mark_from), nxos_size(*queue.mark_all), *queue.mark_percent));
  }
  add("system qos");
  add("  service-policy type network-qos ROCE-NETWORK");
  add("  service-policy type queuing output ROCE-EGRESS");
  const bool watched = plan.storm_after && !settings.pfc->is_empty();
  if (watched) {
    add("priority-flow-control watch-dog-interval on");
    add(fmt::format("priority-flow-control watch-dog interval {}", *plan.storm_after / milliseconds(1)));
  }
  for (const std::string& port : plan.ports) {
    add("interface " + port);
    if (plan.mtu) add(fmt::format("  mtu {}", plan.mtu->count()));
    add(fmt::format("  priority-flow-control mode {}", settings.pfc->is_empty() ? "off" : "on"));
    if (watched) add("  priority-flow-control watch-dog-interval on");
    add("  service-policy type qos input ROCE-CLASSIFY");
  }
  return {
      std::move(out),
      {"class names c-8q-nqN and c-out-8q-qN are those of platforms with eight queues (Nexus 9300 and later)",
       "a change of the network-qos policy may drop traffic for a moment on all ports",
       "prove it under load: show interface priority-flow-control, show queuing interface"}};
}

}  // namespace rocetune::evidence
