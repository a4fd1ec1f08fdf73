#include "agent/tune/derived_plans.h"

#include <algorithm>

#include "agent/tune/arrange.h"
#include "agent/tune/verification.h"

namespace rocetune::tune {
namespace {

void bind(Plan& plan, const host::Host& host, std::int64_t now_unix_ns) {
  plan.host = host.name;
  plan.made_at_unix_ns = now_unix_ns;
  plan.facts = facts_of(host, plan.touched_ports(host));
  plan.facts_sha256 = sha256_of(plan.facts);
}

const host::Port* find_port(const host::Host& host, const ConfirmedPort& wanted) {
  if (wanted.pci_address.empty()) return host.find_port(wanted.port);
  // Two ports of one function (ConnectX-3, IPoIB children) share an address: the name then decides.
  const host::Port* by_name = host.find_port(wanted.port);
  if (by_name != nullptr && by_name->pci_address == wanted.pci_address) return by_name;
  const auto found = std::find_if(host.ports.begin(), host.ports.end(), [&](const host::Port& port) {
    return port.pci_address == wanted.pci_address;
  });
  return found == host.ports.end() ? nullptr : &*found;
}

// As drivers start: no PFC, one traffic class, no entries, the standard MTU, DCBX with the firmware where it
// takes it. The others keep their value: writing them stops nothing.
void forget(host::Port& port, const host::Knob& knob, const host::NicRow* row) {
  switch (knob.kind) {
    case host::KnobKind::dcbx_mode:
      if (port.dcb.dcbx && row != nullptr && row->dcb.dcbx_firmware_takes_over) port.dcb.dcbx->host = false;
      break;
    case host::KnobKind::pfc:
      if (port.dcb.pfc) port.dcb.pfc->enabled = PrioritySet();
      break;
    case host::KnobKind::ets:
      if (port.dcb.ets) port.dcb.ets->tc_of_priority.fill(TrafficClass(0));
      break;
    case host::KnobKind::app_table:
      if (port.dcb.app) port.dcb.app->clear();
      break;
    case host::KnobKind::buffers:
      if (port.dcb.buffers) port.dcb.buffers->buffer_of_priority.fill(0);
      break;
    case host::KnobKind::global_pause:
      if (port.pause) port.pause->receive = !port.pause->receive;
      break;
    case host::KnobKind::mtu:
      port.mtu = Bytes(1500);
      break;
    default:
      break;
  }
}

}  // namespace

Awakening awakening(const host::Host& host, const Plan& plan, const host::NicTable& nics) {
  Awakening out{host, {}};
  ConfirmedState state;
  for (const Kept& kept : plan.kept) {
    const auto port = std::find_if(out.host.ports.begin(), out.host.ports.end(),
                                   [&](const host::Port& p) { return p.name == kept.knob.port; });
    if (port == out.host.ports.end()) continue;
    forget(*port, kept.knob, nics.find(port->nic));
    state.ports.push_back({port->name, port->pci_address.value_or(""), {{kept.knob, kept.value}}});
  }
  out.plan = boot_plan(out.host, state, nics, 0);
  return out;
}

Expected<Plan> undo_plan(const host::Host& host, const Entry& entry, const host::NicTable& nics,
                         bool overwrite_drift, std::int64_t now_unix_ns) {
  const Plan& done = entry.begin.plan;
  const std::vector<Difference> drift = differences(host, values_after(done, done.steps.size()));
  if (!drift.empty() && !overwrite_drift) {
    std::string text;
    for (const Difference& difference : drift) text += "; " + to_text(difference);
    return fail(ErrorKind::conflict,
                "the host no longer shows what transaction {} made (--allow overwrite-drift takes it back "
                "nevertheless){}",
                entry.id, text);
  }
  Plan plan;
  plan.kind = PlanKind::undo;
  plan.undoes = entry.id;
  plan.profile = fmt::format("undo of transaction {}", entry.id);
  bool trust_first = false;
  for (auto step = done.steps.rbegin(); step != done.steps.rend(); ++step) {
    const host::Port* port = host.find_port(step->port);
    if (port == nullptr) return fail(ErrorKind::absent, "port {} has gone", step->port);
    Step back{step->port, step->interrupts_link, {}, step->effect};
    for (const Change& change : step->changes) {
      const host::KnobValue* after = entry.before(change);
      const auto now = host::value_of(host, change.knob);
      if (after == nullptr || !now) {
        return fail(ErrorKind::conflict, "{} cannot be taken back: {}", host::to_text(change.knob),
                    now ? "its value before was not recorded" : now.error().why);
      }
      if (!change.before) plan.conceal.push_back(change.knob);
      const bool is_table =
          change.knob.kind == host::KnobKind::ets || change.knob.kind == host::KnobKind::pfc;
      const bool reset = is_table && nics.named(port->nic).dcb.dscp_trust_resets_tables;
      if (*now == *after && !reset) continue;
      Change reverse{change.knob, *now,
                     *after,      Revert::exact,
                     change.rule, fmt::format("as it was before transaction {}", entry.id),
                     ""};
      annotate(reverse, nics.named(port->nic));
      take_effect(back, effect_of(reverse, nics.named(port->nic)));
      back.changes.push_back(std::move(reverse));
    }
    if (!back.changes.empty()) plan.steps.push_back(std::move(back));
    trust_first |= nics.named(port->nic).dcb.dscp_trust_resets_tables;
  }
  if (trust_first) {  // backwards, the trust would come last and reset what was taken back before it
    std::vector<Change> changes;
    for (const Step& step : plan.steps) {
      changes.insert(changes.end(), step.changes.begin(), step.changes.end());
    }
    plan.steps = arrange(std::move(changes), host, nics);
  }
  bind(plan, host, now_unix_ns);
  return plan;
}

Plan boot_plan(const host::Host& host, const ConfirmedState& state, const host::NicTable& nics,
               std::int64_t now_unix_ns) {
  Plan plan;
  plan.kind = PlanKind::boot;
  plan.profile = "confirmed state";
  std::vector<Change> changes;
  for (const ConfirmedPort& wanted : state.ports) {
    const host::Port* port = find_port(host, wanted);
    if (port == nullptr) {
      plan.remarks.push_back(fmt::format("{} ({}) is not there", wanted.port, wanted.pci_address));
      continue;
    }
    for (const auto& [knob, value] : wanted.values) {
      const host::Knob here{port->name, knob.kind, knob.parameter};
      const auto now = host::value_of(host, here);
      Change change{here, std::nullopt, value, Revert::exact, "OPS-1", "the confirmed state", ""};
      if (now) {
        if (*now == value) continue;
        change.before = *now;
      } else if (!host::is_hidden(now.error())) {
        plan.remarks.push_back(fmt::format("{} is left alone: {}", host::to_text(here), now.error().why));
        continue;
      }
      annotate(change, nics.named(port->nic));
      changes.push_back(std::move(change));
    }
  }
  plan.steps = arrange(std::move(changes), host, nics);
  bind(plan, host, now_unix_ns);
  return plan;
}

}  // namespace rocetune::tune
