#include "agent/evidence/switches/switch_plan.h"

namespace rocetune::evidence {
namespace {

// Queues of classes and of the rest.
void plan_queues(const SwitchPlan& plan, SwitchWriter writer, SwitchSettings& out) {
  SwitchQueue& rest = out.queues[plan.default_queue];
  rest.strict = false;
  rest.share_percent = plan.default_share_percent;
  for (const PlannedClass& c : plan.classes) {
    SwitchQueue& queue = out.queues[c.queue];
    queue = {};
    queue.strict = c.strict;
    if (!c.strict) queue.share_percent = c.share_percent;
    if (!plan.marks(c)) continue;
    queue.marks = true;
    if (writer == SwitchWriter::junos) continue;  // thresholds are shares of the buffer there
    queue.mark_from = plan.mark_from;
    queue.mark_all = plan.mark_all;
    queue.mark_percent = plan.mark_percent;
  }
}

void plan_maps(const SwitchPlan& plan, SwitchWriter writer, SwitchSettings& out) {
  if (writer == SwitchWriter::sonic || writer == SwitchWriter::nvue) {
    for (int p = 0; p < 8; ++p) out.queue_of_priority[Priority(p)] = plan.default_queue;
  }
  if (writer == SwitchWriter::junos)
    out.queue_of_priority[Priority(plan.default_queue.value())] = plan.default_queue;
  if (writer == SwitchWriter::sonic && plan.trust == SwitchTrust::dscp) {
    for (int d = 0; d < 64; ++d) out.priority_of_dscp[Dscp(d)] = Priority(0);
  }
  for (const PlannedClass& c : plan.classes) {
    // NX-OS knows priorities of lossless groups only.
    const bool by_group = writer == SwitchWriter::nxos && !c.lossless;
    const Priority priority = by_group ? Priority(c.queue.value()) : c.priority;
    out.queue_of_priority[priority] = c.queue;
    if (plan.trust != SwitchTrust::dscp) continue;
    for (const Dscp dscp : c.dscps) out.priority_of_dscp[dscp] = priority;
  }
}

}  // namespace

PrioritySet SwitchPlan::lossless() const {
  PrioritySet out;
  for (const PlannedClass& c : classes) {
    if (c.lossless) out = out.with(c.priority);
  }
  return out;
}

SwitchSystem system_of(SwitchWriter writer) {
  switch (writer) {
    case SwitchWriter::sonic:
      return SwitchSystem::sonic;
    case SwitchWriter::nvue:
      return SwitchSystem::nvue;
    case SwitchWriter::eos:
      return SwitchSystem::eos;
    case SwitchWriter::nxos:
      return SwitchSystem::nxos;
    case SwitchWriter::junos:
      return SwitchSystem::junos;
  }
  return SwitchSystem::unknown;
}

std::string object_name(const PlannedClass& planned) {
  std::string out;
  for (const char c : planned.name) out += c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  return out;
}

SwitchLines lines_of(const SwitchPlan& plan, SwitchWriter writer) {
  switch (writer) {
    case SwitchWriter::sonic:
      return sonic_lines(plan);
    case SwitchWriter::nvue:
      return nvue_lines(plan);
    case SwitchWriter::eos:
      return eos_lines(plan);
    case SwitchWriter::nxos:
      return nxos_lines(plan);
    case SwitchWriter::junos:
      return junos_lines(plan);
  }
  return {};
}

SwitchModel model_of(const SwitchPlan& plan, SwitchWriter writer) {
  SwitchModel out;
  out.system = system_of(writer);
  SwitchSettings settings;
  settings.trust = plan.trust;
  settings.pfc = plan.lossless();
  plan_maps(plan, writer, settings);
  plan_queues(plan, writer, settings);
  out.common = settings;
  for (const std::string& port : plan.ports) {
    SwitchSettings& own = out.ports[port];
    own.mtu = plan.mtu;
    if (!plan.storm_after || plan.lossless().is_empty()) continue;
    SwitchWatchdog watchdog;
    if (writer != SwitchWriter::junos) watchdog.detection = plan.storm_after;
    if (writer == SwitchWriter::sonic) watchdog.restoration = plan.storm_after;
    if (writer == SwitchWriter::sonic || writer == SwitchWriter::eos) watchdog.action = "drop";
    own.watchdog = watchdog;
  }
  return out;
}

}  // namespace rocetune::evidence
