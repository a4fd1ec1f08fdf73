#include "agent/tune/twin/host_meaning.h"

#include <fmt/core.h>

#include <algorithm>

#include "agent/tune/fabric_plant/fields.h"
#include "agent/tune/plan.h"
#include "agent/virtual_host/host_facts.h"
#include "agent/virtual_host/scenario_knobs.h"

namespace rocetune::twin {
namespace {

using host::KnobKind;

constexpr Bytes kAroundPath{96};  // of a netdev MTU around a path MTU: include/rdma/ib_addr.h

std::optional<std::int64_t> mtu_of_fabric(std::int64_t netdev) {
  for (const engine::PathMtu mtu : {engine::PathMtu::b4096, engine::PathMtu::b2048, engine::PathMtu::b1024,
                                    engine::PathMtu::b512, engine::PathMtu::b256}) {
    if (Bytes(netdev) >= Bytes(engine::bytes_of(mtu)) + kAroundPath)
      return virtual_host::netdev_mtu_for(mtu).count();
  }
  return std::nullopt;
}

std::vector<host::AppEntry> only_dscps(std::vector<host::AppEntry> entries) {
  std::erase_if(entries, [](const host::AppEntry& e) { return e.selector != host::AppSelector::dscp; });
  return entries;
}

// What of a value the fabric can have.
std::optional<host::KnobValue> fitting(KnobKind kind, const host::KnobValue& value) {
  switch (kind) {
    case KnobKind::mtu: {
      const auto mtu = mtu_of_fabric(std::get<std::int64_t>(value));
      return mtu ? std::optional<host::KnobValue>(*mtu) : std::nullopt;
    }
    case KnobKind::pfc:
      return host::PfcSetting{std::get<host::PfcSetting>(value).enabled, 0};
    case KnobKind::ets: {
      host::EtsSetting ets = std::get<host::EtsSetting>(value);
      ets.willing = false;
      ets.rx_share_percent = {};
      return ets;
    }
    case KnobKind::app_table:
      return only_dscps(std::get<std::vector<host::AppEntry>>(value));
    case KnobKind::cm_default_tos: {
      const TosByte tos = TosByte::from_wire(static_cast<std::uint8_t>(std::get<std::int64_t>(value)));
      return std::int64_t{TosByte(tos.dscp(), Ecn::ect0).wire()};
    }
    default:
      return value;
  }
}

std::optional<ControllerChoice::Kind> kind_of(host::CongestionControl algorithm) {
  switch (algorithm) {
    case host::CongestionControl::dcqcn:
      return ControllerChoice::Kind::dcqcn;
    case host::CongestionControl::off:
      return ControllerChoice::Kind::off;
    case host::CongestionControl::programmable:
      return std::nullopt;
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::string> give(fabric::Scenario& scenario, fabric::NodeId id, const host::Knob& knob,
                                const host::KnobValue& value) {
  // What they are already is all that the fabric knows of these.
  if (knob.kind == KnobKind::dcbx_mode) return "the fabric has no DCBX";
  if (knob.kind == KnobKind::global_pause) return "the fabric has no 802.3x pause";
  const auto target = fitting(knob.kind, value);
  if (!target) return "an MTU that carries no RDMA packet";
  host::Port port;
  port.name = virtual_host::kPort;
  const host::Knob there{virtual_host::kPort, knob.kind, knob.parameter};
  virtual_host::ScenarioKnobs knobs(scenario, id);
  const auto written = knobs.write(port, {{there, *target, *target}});
  if (written) return std::nullopt;
  // Without the port that the fabric calls its own.
  const std::string why = written.error().text();
  const std::string mine = host::to_text(there) + ": ";
  return why.starts_with(mine) ? why.substr(mine.size()) : why;
}

std::vector<Note> give_all(fabric::Scenario& scenario, fabric::NodeId id, const host::Host& host,
                           const host::Port& port) {
  std::vector<Note> out;
  const auto told = [](const host::Knob& knob) {
    return knob.parameter.empty() ? std::string(enum_name(knob.kind)) : knob.parameter;
  };
  for (const host::Knob& knob : tune::knobs_of(port)) {
    const auto value = host::value_of(host, knob);
    if (!value) {
      out.push_back(
          {told(knob), "the port does not show it (" + value.error().why + "): as the file has it"});
      continue;
    }
    if (auto why = give(scenario, id, knob, *value)) out.push_back({told(knob), std::move(*why)});
  }
  if (!port.congestion_control) {
    out.push_back({"congestion control", "the port does not show it: as the file has it"});
  } else if (const auto kind = kind_of(*port.congestion_control)) {
    fabric::HostParameters changed = virtual_host::parameters_of(scenario, id);
    changed.controller.kind = *kind;
    scenario.options.own_host.insert_or_assign(id, changed);
  } else {
    out.push_back({"congestion control", "a programmable algorithm, which the fabric cannot know"});
  }
  return out;
}

std::vector<std::string> differences(const fabric::Scenario& a, const fabric::Scenario& b,
                                     fabric::NodeId id) {
  const fabric::HostParameters& one = virtual_host::parameters_of(a, id);
  const fabric::HostParameters& other = virtual_host::parameters_of(b, id);
  std::vector<std::string> out;
  for (const fabric_plant::HostField& field : fabric_plant::host_fields()) {
    if (field.text(one) != field.text(other)) out.push_back("hosts." + field.name);
  }
  if (!(one.ets == other.ets) || one.class_of != other.class_of) out.emplace_back("hosts.ets");
  return out;
}

}  // namespace rocetune::twin
