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

}  // namespace

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
  for (auto step = done.steps.rbegin(); step != done.steps.rend(); ++step) {
    const host::Port* port = host.find_port(step->port);
    if (port == nullptr) return fail(ErrorKind::absent, "port {} has gone", step->port);
    Step back{step->port, step->interrupts_link, {}};
    for (const Change& change : step->changes) {
      const host::KnobValue* after = entry.before(change);
      const auto now = host::value_of(host, change.knob);
      if (after == nullptr || !now) {
        return fail(ErrorKind::conflict, "{} cannot be taken back: {}", host::to_text(change.knob),
                    now ? "its value before was not recorded" : now.error().why);
      }
      if (!change.before) plan.conceal.push_back(change.knob);
      if (*now == *after) continue;
      Change reverse{change.knob, *now,
                     *after,      Revert::exact,
                     change.rule, fmt::format("as it was before transaction {}", entry.id),
                     ""};
      annotate(reverse, nics.named(port->nic));
      back.changes.push_back(std::move(reverse));
    }
    if (!back.changes.empty()) plan.steps.push_back(std::move(back));
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
