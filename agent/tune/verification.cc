#include "agent/tune/verification.h"

#include <algorithm>

namespace rocetune::tune {
namespace {

std::vector<Wanted>::iterator find(std::vector<Wanted>& wanted, const host::Knob& knob) {
  return std::find_if(wanted.begin(), wanted.end(), [&](const Wanted& w) { return w.knob == knob; });
}

}  // namespace

std::string to_text(const Difference& difference) {
  return fmt::format("{}: wanted {}, found {}", host::to_text(difference.knob),
                     host::to_text(difference.knob, difference.wanted),
                     difference.found ? host::to_text(difference.knob, *difference.found)
                                      : "nothing (" + difference.found.error().why + ")");
}

std::vector<Difference> differences(const host::Host& host, const std::vector<Wanted>& wanted) {
  std::vector<Difference> out;
  for (const Wanted& want : wanted) {
    auto found = host::value_of(host, want.knob);
    if (found && *found == want.value) continue;
    out.push_back({want.knob, want.value, std::move(found)});
  }
  return out;
}

std::vector<Wanted> values_after(const Plan& plan, std::size_t count) {
  ROCETUNE_ASSERT(count <= plan.steps.size());
  std::vector<Wanted> out;
  for (std::size_t i = 0; i < count; ++i) {
    for (const Change& change : plan.steps[i].changes) {
      const auto known = find(out, change.knob);
      if (known == out.end()) {
        out.push_back({change.knob, change.after});
      } else {
        known->value = change.after;
      }
    }
  }
  return out;
}

std::vector<Wanted> values_before(const Plan& plan) {
  std::vector<Wanted> out;
  for (const Step& step : plan.steps) {
    for (const Change& change : step.changes) {
      if (change.before && find(out, change.knob) == out.end()) out.push_back({change.knob, *change.before});
    }
  }
  return out;
}

Reading reading_of(const host::Host& host, const host::Knob& knob) {
  auto value = host::value_of(host, knob);
  if (!value) return {knob, std::nullopt, value.error().why};
  return {knob, std::move(*value), ""};
}

std::vector<PortBaseline> baseline_of(const host::Host& host, const std::vector<std::string>& ports) {
  std::vector<PortBaseline> out;
  for (const std::string& name : ports) {
    const host::Port* port = host.find_port(name);
    if (port == nullptr) continue;
    PortBaseline baseline{name,
                          port->pci_address.value_or(""),
                          port->link && port->link->carrier,
                          is_in_aggregate(host, name),
                          {}};
    for (const host::Knob& knob : knobs_of(*port)) baseline.knobs.push_back(reading_of(host, knob));
    out.push_back(std::move(baseline));
  }
  return out;
}

bool is_in_aggregate(const host::Host& host, const std::string& port) {
  return std::any_of(host.bonds.begin(), host.bonds.end(), [&](const host::Bond& bond) {
    return bond.mode == "802.3ad" && std::find(bond.active_members.begin(), bond.active_members.end(),
                                               port) != bond.active_members.end();
  });
}

Expected<> port_is_back(const host::Host& host, const PortBaseline& baseline) {
  const host::Port* port = host.find_port(baseline.port);
  if (port == nullptr) return fail(ErrorKind::conflict, "port {} has gone", baseline.port);
  if (baseline.carrier && !(port->link && port->link->carrier)) {
    return fail(ErrorKind::conflict, "the link of {} is down and was up before", baseline.port);
  }
  if (baseline.active_in_bond && !is_in_aggregate(host, baseline.port)) {
    return fail(ErrorKind::conflict, "{} is not back in its bond's aggregate", baseline.port);
  }
  return {};
}

}  // namespace rocetune::tune
