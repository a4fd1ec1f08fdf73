#include "agent/tune/settings_plan.h"

#include <algorithm>

#include "agent/tune/arrange.h"

namespace rocetune::tune {
namespace {

Expected<Change> change_of(const host::Host& host, const WantedSetting& wanted, const host::NicTable& nics) {
  const host::Port* port = host.find_port(wanted.knob.port);
  if (port == nullptr) {
    return fail(ErrorKind::bad_input, "{}: found no such port on {}, allowed: one that inspect shows",
                wanted.knob.port, host.name);
  }
  const host::NicRow* traits = nics.find(port->nic);
  if (traits == nullptr) {
    return fail(ErrorKind::bad_input, "{} of {}: found the unknown kind of NIC \"{}\"", port->name, host.name,
                port->nic);
  }
  if (!host::is_valid(wanted.knob.kind, wanted.value)) {
    return fail(ErrorKind::bad_input, "{} of {}: found a value that it cannot have", to_text(wanted.knob),
                host.name);
  }
  const auto now = host::value_of(host, wanted.knob);
  if (!now && !host::is_hidden(now.error())) {
    return fail(ErrorKind::bad_input, "{} of {}: {}", to_text(wanted.knob), host.name, now.error().why);
  }
  Change change;
  change.knob = wanted.knob;
  if (now) change.before = *now;
  change.after = wanted.value;
  change.rule = wanted.rule;
  change.why = wanted.why;
  annotate(change, *traits);
  return change;
}

}  // namespace

Expected<Plan> settings_plan(const host::Host& host, const std::vector<WantedSetting>& settings,
                             const std::string& name, const host::NicTable& nics, std::int64_t now_unix_ns) {
  Plan plan;
  plan.host = host.name;
  plan.profile = name;
  plan.made_at_unix_ns = now_unix_ns;
  std::vector<Change> changes;
  for (const WantedSetting& wanted : settings) {
    auto change = change_of(host, wanted, nics);
    if (!change) return tl::unexpected(change.error());
    add_unique(plan.ports, wanted.knob.port);
    std::erase_if(changes, [&](const Change& earlier) { return earlier.knob == wanted.knob; });
    if (change->before && *change->before == change->after) continue;
    changes.push_back(std::move(*change));
  }
  plan.steps = arrange(std::move(changes), host, nics);
  plan.facts = facts_of(host, plan.bound_ports(host));
  plan.facts_sha256 = sha256_of(plan.facts);
  return plan;
}

}  // namespace rocetune::tune
