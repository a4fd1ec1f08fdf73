#include "agent/tune/arrange.h"

#include <algorithm>

namespace rocetune::tune {
namespace {

using host::KnobKind;
using host::WriteEffect;

// One member after another; of an active-backup bond the active one last, so that traffic moves once, to a
// member that is done.
std::vector<std::string> member_order(const host::Bond& bond) {
  std::vector<std::string> order = bond.members;
  if (bond.mode == "active-backup") {
    std::stable_partition(order.begin(), order.end(), [&](const std::string& member) {
      return std::find(bond.active_members.begin(), bond.active_members.end(), member) ==
             bond.active_members.end();
    });
  }
  return order;
}

std::vector<std::string> port_order(const host::Host& host) {
  std::vector<std::string> order;
  for (const host::Port& port : host.ports) {
    const auto bond = std::find_if(host.bonds.begin(), host.bonds.end(), [&](const host::Bond& b) {
      return b.name == port.name ||
             std::find(b.members.begin(), b.members.end(), port.name) != b.members.end();
    });
    if (bond != host.bonds.end()) {
      for (const std::string& member : member_order(*bond)) add_unique(order, member);
      add_unique(order, bond->name);
    } else {
      add_unique(order, port.name);
    }
  }
  return order;
}

bool mask_changes(const Change& change) {
  const auto* after = std::get_if<host::PfcSetting>(&change.after);
  if (after == nullptr || !change.before) return false;
  return std::get<host::PfcSetting>(*change.before).enabled != after->enabled;
}

// PFC leaves priorities and enters none: then buffers may shrink only behind it.
bool only_removes_pfc(const std::vector<Change>& changes) {
  for (const Change& change : changes) {
    if (!mask_changes(change)) continue;
    const std::uint8_t before = std::get<host::PfcSetting>(*change.before).enabled.mask();
    const std::uint8_t after = std::get<host::PfcSetting>(change.after).enabled.mask();
    return (after & ~before) == 0;
  }
  return false;
}

// Batches of one port in order. Kinds of one row share a kernel message or at least a moment.
int stage_of(const Change& change, bool buffers_last, const host::NicRow& traits) {
  switch (change.knob.kind) {
    case KnobKind::dcbx_mode:
      return 0;
    case KnobKind::global_pause:
      return 1;
    case KnobKind::buffers:
      return buffers_last ? 4 : 2;
    case KnobKind::app_table:
      return 3;
    case KnobKind::ets:
    case KnobKind::pfc:
      // Where a change of the trust resets them they come behind it.
      return traits.dcb.dscp_trust_resets_tables ? 4 : 3;
    case KnobKind::mtu:
      return 5;
    case KnobKind::pfc_prevention:
      return 6;
    case KnobKind::cc_param:
      return 7;
    case KnobKind::cm_default_tos:
      return 8;
  }
  return 9;
}

bool is_negotiated(const host::KnobValue& value) {
  const auto* pause = std::get_if<host::GlobalPause>(&value);
  return pause != nullptr && pause->autonegotiate;
}

std::string risk_of(const Change& change, WriteEffect effect) {
  switch (effect) {
    case WriteEffect::none:
      return "";
    case WriteEffect::stops_traffic:
      return "traffic stops while the NIC's queues are built anew; the link stays up";
    case WriteEffect::closes_interface:
      return "the driver takes the interface down and up, the link stays up: its IPv6 addresses and every "
             "route through a gateway over it are lost unless a network manager puts them back";
    case WriteEffect::bounces_link:
      return change.knob.kind == KnobKind::global_pause ? "the link renegotiates: seconds without carrier"
                                                        : "the link bounces: seconds without carrier";
  }
  return "";
}

}  // namespace

WriteEffect effect_of(const Change& change, const host::NicRow& traits) {
  switch (change.knob.kind) {
    case KnobKind::pfc:
      return mask_changes(change) ? traits.writes.pfc : WriteEffect::none;
    case KnobKind::ets:
      return traits.writes.ets;
    case KnobKind::app_table:
      return traits.writes.app;
    case KnobKind::mtu:
      return traits.writes.mtu;
    case KnobKind::global_pause:
      return is_negotiated(change.after) || (change.before && is_negotiated(*change.before))
                 ? WriteEffect::bounces_link
                 : traits.writes.pause;
    default:
      return WriteEffect::none;
  }
}

void take_effect(Step& step, WriteEffect effect) {
  step.effect = std::max(step.effect, effect);
  step.interrupts_link |= effect != WriteEffect::none;
}

Plan with_known_effects(Plan plan, const host::Host& host, const host::NicTable& nics) {
  for (Step& step : plan.steps) {
    const host::Port* port = host.find_port(step.port);
    const host::NicRow* row = port == nullptr ? nullptr : nics.find(port->nic);
    if (row == nullptr) continue;
    for (Change& change : step.changes) {
      take_effect(step, effect_of(change, *row));
      Change known = change;
      known.revert = Revert::exact;
      annotate(known, *row);
      if (known.revert > change.revert) change.revert = known.revert;
      if (change.risk.empty()) change.risk = known.risk;
    }
  }
  return plan;
}

std::vector<Step> arrange(std::vector<Change> changes, const host::Host& host, const host::NicTable& nics) {
  std::vector<Step> steps;
  for (const std::string& name : port_order(host)) {
    const host::Port* port = host.find_port(name);
    if (port == nullptr) continue;
    std::vector<Change> mine;
    for (Change& change : changes) {
      if (change.knob.port == name) mine.push_back(std::move(change));
    }
    std::erase_if(changes,
                  [&](const Change& change) { return change.knob.port == name || change.knob.port.empty(); });
    if (mine.empty()) continue;  // its kind of NIC need not be known
    const bool buffers_last = only_removes_pfc(mine);
    const host::NicRow& traits = nics.named(port->nic);
    const auto stage_in = [&](const Change& change) { return stage_of(change, buffers_last, traits); };
    std::stable_sort(mine.begin(), mine.end(), [&](const Change& a, const Change& b) {
      return std::pair(stage_in(a), a.knob) < std::pair(stage_in(b), b.knob);
    });
    int stage = -1;
    for (Change& change : mine) {
      if (stage_in(change) != stage) {
        stage = stage_in(change);
        steps.push_back({.port = name});
      }
      take_effect(steps.back(), effect_of(change, traits));
      steps.back().changes.push_back(std::move(change));
    }
  }
  return steps;
}

void annotate(Change& change, const host::NicRow& traits) {
  switch (change.knob.kind) {
    case KnobKind::buffers:
      if (traits.dcb.buffer_write_is_sticky) {
        change.revert = Revert::needs_driver_reload;
        change.risk =
            "the driver stops sizing buffers by itself until it is reloaded; the sizes can be restored";
      }
      break;
    case KnobKind::pfc:
    case KnobKind::ets:
    case KnobKind::app_table:
    case KnobKind::mtu:
    case KnobKind::global_pause:
      change.risk = risk_of(change, effect_of(change, traits));
      break;
    case KnobKind::dcbx_mode: {
      const auto* before = change.before ? std::get_if<host::DcbxMode>(&*change.before) : nullptr;
      if (traits.dcb.dcbx_firmware_takes_over && before != nullptr && !before->host) {
        change.risk = "the NIC's firmware no longer follows what the switch announces by DCBX";
      }
      break;
    }
    default:
      break;
  }
}

}  // namespace rocetune::tune
