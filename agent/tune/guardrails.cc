#include "agent/tune/guardrails.h"

#include <algorithm>
#include <map>

#include "agent/tune/interruption.h"
#include "agent/tune/planner.h"

namespace rocetune::tune {
namespace {

using host::KnobKind;
using host::PortRole;
using Refusals = std::vector<Refusal>;

template <class Predicate>
bool has_change(const Plan& plan, std::string_view port, Predicate&& predicate) {
  for (const Step& step : plan.steps) {
    if (step.port != port) continue;
    if (std::any_of(step.changes.begin(), step.changes.end(), predicate)) return true;
  }
  return false;
}

// Names of the knobs that the plan changes on `port` and `wanted` picks, each once.
template <class Predicate>
std::vector<std::string> changed_knobs(const Plan& plan, const std::string& port, Predicate&& wanted) {
  std::vector<std::string> out;
  for (const Step& step : plan.steps) {
    for (const Change& change : step.changes) {
      if (step.port == port && wanted(change)) add_unique(out, std::string(enum_name(change.knob.kind)));
    }
  }
  return out;
}

Refusals other_owner(const GuardrailInput& in) {
  Refusals out;
  std::vector<std::string> ports;
  for (const Step& step : in.plan.steps) add_unique(ports, step.port);
  for (const std::string& port : ports) {
    if (!in.host.owners) {
      out.push_back(
          {"other-owner", port,
           "whether another program writes its settings is not known: " + in.host.owners.error().why});
      continue;
    }
    for (const host::Owner& owner : *in.host.owners) {
      const auto both = changed_knobs(in.plan, port, [&](const Change& change) {
        return in.limits.owners.may_write(owner.name, change.knob.kind);
      });
      if (both.empty()) continue;
      out.push_back({"other-owner", port,
                     fmt::format("{} may write {} too ({})", owner.name, joined(both), owner.evidence)});
    }
  }
  return out;
}

// The command that has to come first where the driver refuses DCB writes while the firmware's agent runs.
std::string agent_in_the_way(const GuardrailInput& in, const host::Port& port) {
  const host::NicRow* row = in.limits.nics.find(port.nic);
  const bool runs = port.dcb.dcbx && port.dcb.dcbx->lld_managed;
  return row == nullptr || !runs ? "" : host::firmware_agent_off(row->dcb, port.name);
}

Refusals firmware_agent(const GuardrailInput& in) {
  Refusals out;
  std::vector<std::string> ports;
  for (const Step& step : in.plan.steps) add_unique(ports, step.port);
  for (const std::string& name : ports) {
    const host::Port* port = in.host.find_port(name);
    const std::string command = port == nullptr ? "" : agent_in_the_way(in, *port);
    if (command.empty() || !has_change(in.plan, name, [](const Change& c) { return is_dcb(c.knob.kind); })) {
      continue;
    }
    out.push_back(
        {"", name,
         fmt::format("the NIC's firmware agent owns DCB and the driver refuses every write: {}, then "
                     "plan again",
                     command)});
  }
  return out;
}

// The bond that a port is in; empty: none.
std::string bond_of(const host::Host& host, const std::string& name) {
  for (const host::Bond& bond : host.bonds) {
    if (std::find(bond.members.begin(), bond.members.end(), name) != bond.members.end()) return bond.name;
  }
  const host::Port* port = host.find_port(name);
  return port == nullptr ? "" : port->bond.value_or("");
}

Refusals bonded_dcb(const GuardrailInput& in) {
  Refusals out;
  std::vector<std::string> ports;
  for (const Step& step : in.plan.steps) add_unique(ports, step.port);
  for (const std::string& name : ports) {
    const host::Port* port = in.host.find_port(name);
    const host::NicRow* row = port == nullptr ? nullptr : in.limits.nics.find(port->nic);
    const std::string bond = bond_of(in.host, name);
    const auto knobs = changed_knobs(in.plan, name, [](const Change& c) { return is_dcb(c.knob.kind); });
    if (row == nullptr || row->dcb.refuses_bond_members.empty() || bond.empty() || knobs.empty()) continue;
    out.push_back({"dcb-in-bond", name,
                   fmt::format("it is in {}, and its driver refuses to change {} of a port in a bond ({}): "
                               "take it out first",
                               bond, joined(knobs), row->dcb.refuses_bond_members)});
  }
  return out;
}

// What is gone when the netdev goes down, and does not come back with it (net/ipv6/addrconf.c,
// addrconf_ifdown without keep_addr_on_down; net/ipv4/fib_frontend.c, fib_disable_ip).
Refusals closed_interface(const GuardrailInput& in) {
  Refusals out;
  for (const Step& step : in.plan.steps) {
    const host::Port* port = in.host.find_port(step.port);
    const bool said =
        std::any_of(out.begin(), out.end(), [&](const Refusal& r) { return r.port == step.port; });
    if (step.effect != host::WriteEffect::closes_interface || port == nullptr || said) continue;
    std::vector<std::string> lost;
    for (const std::string& address : port->addresses) {
      if (address.find(':') != std::string::npos && !address.starts_with("fe80:")) lost.push_back(address);
    }
    if (port->attachments) {
      for (const std::string& route : port->attachments->gateway_routes) lost.push_back("route to " + route);
    }
    if (lost.empty()) continue;
    out.push_back(
        {"close-interface", step.port,
         fmt::format("its driver takes the interface down and up, and nothing but a network manager "
                     "puts back {}",
                     joined(lost))});
  }
  return out;
}

Refusals firmware_dcbx(const GuardrailInput& in) {
  Refusals out;
  std::vector<std::string> seen;
  for (const Step& step : in.plan.steps) {
    const host::Port* port = in.host.find_port(step.port);
    if (port == nullptr || std::find(seen.begin(), seen.end(), step.port) != seen.end()) continue;
    seen.push_back(step.port);
    const bool owned_by_firmware = port->dcb.dcbx && (port->dcb.dcbx->lld_managed || !port->dcb.dcbx->host);
    if (!owned_by_firmware || !agent_in_the_way(in, *port).empty() ||
        !has_change(in.plan, step.port, [](const Change& c) { return is_dcb(c.knob.kind); })) {
      continue;
    }
    const bool takes =
        has_change(in.plan, step.port, [](const Change& c) { return c.knob.kind == KnobKind::dcbx_mode; });
    out.push_back({"take-dcbx", step.port,
                   takes ? "the NIC's firmware owns DCB and would lose it to the host"
                         : "the NIC's firmware owns DCB and may overwrite what is written"});
  }
  return out;
}

// Without its port, which a refusal names already.
std::string name_of(const host::Knob& knob) {
  return knob.kind == KnobKind::cc_param ? "cc_params/" + knob.parameter : std::string(enum_name(knob.kind));
}

Refusals inexact_revert(const GuardrailInput& in) {
  Refusals out;
  for (const Step& step : in.plan.steps) {
    for (const Change& change : step.changes) {
      if (change.revert == Revert::exact) continue;
      out.push_back({"inexact-revert", step.port,
                     fmt::format("{} cannot be undone exactly: {}", name_of(change.knob),
                                 change.revert == Revert::impossible ? "the value before cannot be written"
                                                                     : change.risk)});
    }
  }
  return out;
}

// One refusal per touched port for which `judge` has a reason.
template <class Judge>
Refusals for_each_port(const GuardrailInput& in, std::string_view consent, Judge&& judge) {
  Refusals out;
  for (const std::string& name : in.plan.touched_ports(in.host)) {
    const host::Port* port = in.host.find_port(name);
    if (port == nullptr) continue;
    if (std::string reason = judge(*port); !reason.empty()) {
      out.push_back({std::string(consent), name, std::move(reason)});
    }
  }
  return out;
}

Refusals not_physical(const GuardrailInput& in) {
  return for_each_port(in, "not-physical", [](const host::Port& port) {
    const bool fine = port.role == PortRole::physical || port.role == PortRole::uplink_representor ||
                      port.role == PortRole::bond;
    return fine ? std::string()
                : fmt::format("it is not the physical port that has the settings but a {}",
                              host::role_text(port.role));
  });
}

Refusals unknown_nic(const GuardrailInput& in) {
  return for_each_port(in, "unknown-nic", [](const host::Port& port) {
    const bool known = port.role == PortRole::bond || (!port.nic.empty() && port.nic != "unknown");
    return known
               ? std::string()
               : fmt::format("driver {} is not known: what a write does to the link is a guess", port.driver);
  });
}

Refusals lockdown(const GuardrailInput& in) {
  Refusals out;
  if (!in.host.lockdown || *in.host.lockdown == host::Lockdown::none) return out;
  for (const std::string& name : in.plan.touched_ports(in.host)) {
    if (!has_change(in.plan, name, [](const Change& c) { return c.knob.kind == KnobKind::cc_param; }))
      continue;
    out.push_back({"", name,
                   fmt::format("the kernel is locked down ({}): debugfs and so cc_params are closed",
                               enum_name(*in.host.lockdown))});
  }
  return out;
}

// NICs that may run an algorithm of their own in place of DCQCN, which cc_params then do not reach.
Refusals unknown_algorithm(const GuardrailInput& in) {
  Refusals out;
  for (const std::string& name : in.plan.touched_ports(in.host)) {
    const host::Port* port = in.host.find_port(name);
    const host::NicRow* row = port == nullptr ? nullptr : in.limits.nics.find(port->nic);
    if (row == nullptr || port->congestion_control || !row->cc.may_be_programmable(port->pci_id) ||
        !has_change(in.plan, name, [](const Change& c) { return c.knob.kind == KnobKind::cc_param; })) {
      continue;
    }
    out.push_back({"unknown-cc", name,
                   fmt::format("whether cc_params steer anything is not known: {}",
                               port->congestion_control.error().why)});
  }
  return out;
}

Bytes sum_of(const host::BufferSetting& buffers) {
  Bytes sum;
  for (const Bytes size : buffers.size) sum += size;
  return sum;
}

// The buffers that the plan sets, and those that the driver has to make for the lossless priorities beside
// one frame of everything else.
Refusals buffer_total(const GuardrailInput& in) {
  std::map<std::string, Bytes> wanted;
  for (const Expectation& expected : in.plan.expectations) {
    wanted.try_emplace(expected.port, kLargestFrame).first->second += expected.minimum_buffer;
  }
  for (const Step& step : in.plan.steps) {
    for (const Change& change : step.changes) {
      const auto* buffers = std::get_if<host::BufferSetting>(&change.after);
      if (buffers == nullptr) continue;
      Bytes& sum = wanted[step.port];
      sum = std::max(sum, sum_of(*buffers));
    }
  }
  Refusals out;
  for (const auto& [name, sum] : wanted) {
    const host::Port* port = in.plan.is_empty() ? nullptr : in.host.find_port(name);
    if (port == nullptr || !port->dcb.buffers || sum <= port->dcb.buffers->total) continue;
    out.push_back(
        {"", name,
         fmt::format("buffers of {} B are more than the port's {} B: a shorter cable, a smaller MTU or "
                     "fewer lossless priorities",
                     sum.count(), port->dcb.buffers->total.count())});
  }
  return out;
}

}  // namespace

const std::vector<Guardrail>& guardrails() {
  static const std::vector<Guardrail> kAll{
      {"bounce-default-route", "interrupting a port that carries the default route", default_route},
      {"bounce-ssh", "interrupting a port that carries ssh sessions of this host, or may carry them",
       ssh_session},
      {"bounce-storage", "interrupting a port over which storage is reached, or may be", mounted_storage},
      {"rdma-traffic",
       "changing the class map or the link while RDMA traffic runs, or when that cannot be told",
       rdma_traffic},
      {"other-owner", "writing what another program of this host may write too", other_owner},
      {"take-dcbx", "taking DCB from the NIC's firmware, or writing while it owns DCB", firmware_dcbx},
      {"dcb-in-bond", "DCB settings of a port in a bond, which some drivers refuse (E810)", bonded_dcb},
      {"close-interface",
       "writes for which the driver closes the interface (E810), if addresses or routes would be lost by it",
       closed_interface},
      {"inexact-revert", "changes that cannot be undone exactly", inexact_revert},
      {"not-physical", "virtual functions, representors, DPU hosts, software devices", not_physical},
      {"unknown-nic", "NICs without a row in configs/nics", unknown_nic},
      {"unknown-cc", "cc_params of a NIC that may run another algorithm, which they do not reach",
       unknown_algorithm},
      {"", "cc_params under kernel lockdown", lockdown},
      {"", "DCB settings while the NIC's driver refuses them for its firmware's agent", firmware_agent},
      {"", "buffers larger than the port has", buffer_total},
  };
  return kAll;
}

std::vector<Refusal> refusals(const GuardrailInput& input) {
  std::vector<Refusal> out;
  for (const Guardrail& guardrail : guardrails()) {
    for (Refusal& refusal : guardrail.check(input)) out.push_back(std::move(refusal));
  }
  return out;
}

std::vector<Refusal> uncovered(const std::vector<Refusal>& refusals, const std::set<std::string>& consents) {
  std::vector<Refusal> out;
  for (const Refusal& refusal : refusals) {
    if (refusal.consent.empty() || !consents.contains(refusal.consent)) out.push_back(refusal);
  }
  return out;
}

std::string to_text(const Refusal& refusal) {
  return refusal.consent.empty()
             ? fmt::format("{}: {} (cannot be overridden)", refusal.port, refusal.reason)
             : fmt::format("{}: {} (--allow {})", refusal.port, refusal.reason, refusal.consent);
}

std::vector<std::string> consent_names() {
  std::vector<std::string> names;
  for (const Guardrail& guardrail : guardrails()) {
    if (!guardrail.consent.empty()) names.emplace_back(guardrail.consent);
  }
  names.emplace_back("unresolved-rollback");
  names.emplace_back("overwrite-drift");
  return names;
}

}  // namespace rocetune::tune
