#include "agent/tune/restoration.h"

#include <algorithm>
#include <array>

namespace rocetune::tune {
namespace {

using host::Knob;
using host::KnobKind;

const Change* first_change(const Entry& entry, const Knob& knob) {
  for (const Step& step : entry.begin.plan.steps) {
    for (const Change& change : step.changes) {
      if (change.knob == knob) return &change;
    }
  }
  return nullptr;
}

bool was_written(const Entry& entry, const Knob& knob, const host::KnobValue& value) {
  for (const std::size_t index : entry.intended) {
    if (index >= entry.begin.plan.steps.size()) continue;
    for (const Change& change : entry.begin.plan.steps[index].changes) {
      if (change.knob == knob && change.after == value) return true;
    }
  }
  return false;
}

bool is_hidden_until_made(const Entry& entry, const Knob& knob) {
  const Change* change = first_change(entry, knob);
  return change != nullptr && !change->before;
}

// Kinds that share registers in NICs: a write of one may change another. Batches in the order of a rollback.
using Batch = std::vector<KnobKind>;
const std::array<Batch, 5> kCoupled{
    Batch{KnobKind::mtu}, Batch{KnobKind::ets, KnobKind::pfc, KnobKind::app_table}, Batch{KnobKind::buffers},
    Batch{KnobKind::global_pause}, Batch{KnobKind::dcbx_mode}};
bool is_coupled(KnobKind kind) {
  return std::any_of(kCoupled.begin(), kCoupled.end(), [&](const Batch& batch) {
    return std::find(batch.begin(), batch.end(), kind) != batch.end();
  });
}

// Ports on which something else than the written knobs may have changed: those with a coupled change, and
// the members of a bond with one (they are in the baseline without a step of their own).
std::vector<std::string> disturbed_ports(const Entry& entry) {
  std::vector<std::string> ports;
  bool any = false;
  for (const std::size_t index : entry.intended) {
    if (index >= entry.begin.plan.steps.size()) continue;
    const Step& step = entry.begin.plan.steps[index];
    const bool coupled = std::any_of(step.changes.begin(), step.changes.end(),
                                     [](const Change& change) { return is_coupled(change.knob.kind); });
    if (!coupled) continue;
    any = true;
    ports.push_back(step.port);
  }
  if (!any) return ports;
  for (const PortBaseline& baseline : entry.begin.baseline) {
    const bool has_step = std::any_of(entry.begin.plan.steps.begin(), entry.begin.plan.steps.end(),
                                      [&](const Step& step) { return step.port == baseline.port; });
    if (!has_step) ports.push_back(baseline.port);
  }
  return ports;
}

}  // namespace

std::optional<host::KnobValue> value_to_restore(const Entry& entry, const Knob& knob) {
  for (const PortBaseline& baseline : entry.begin.baseline) {
    if (baseline.port != knob.port) continue;
    if (const host::KnobValue* value = baseline.value_of(knob)) return *value;
  }
  const auto revealed = entry.revealed.find(knob);
  if (revealed != entry.revealed.end()) return revealed->second;
  return std::nullopt;
}

bool needs_restoring(const Entry& entry, const host::Host& host, const Knob& knob, bool rebooted) {
  const auto found = host::value_of(host, knob);
  const auto wanted = value_to_restore(entry, knob);
  if (rebooted) return found && wanted && *found != *wanted && was_written(entry, knob, *found);
  if (is_hidden_until_made(entry, knob)) return found.has_value();
  return wanted && (!found || *found != *wanted);
}

std::vector<Restoration> restorations(const Entry& entry, const host::Host& host, bool rebooted) {
  std::vector<Restoration> out;
  const Plan& plan = entry.begin.plan;
  std::vector<Knob> covered;
  for (auto index = entry.intended.rbegin(); index != entry.intended.rend(); ++index) {
    if (*index >= plan.steps.size()) continue;
    const Step& step = plan.steps[*index];
    Restoration batch{*index, step.port, step.interrupts_link, {}};
    for (const Change& change : step.changes) {
      if (std::find(covered.begin(), covered.end(), change.knob) != covered.end()) continue;
      covered.push_back(change.knob);
      if (needs_restoring(entry, host, change.knob, rebooted)) batch.knobs.push_back(change.knob);
    }
    if (!batch.knobs.empty()) out.push_back(std::move(batch));
  }
  if (rebooted) return out;
  for (const std::string& port : disturbed_ports(entry)) {
    for (const Batch& kinds : kCoupled) {
      Restoration batch{plan.steps.size(), port, false, {}};
      for (const KnobKind kind : kinds) {
        const Knob knob{port, kind, ""};
        if (std::find(covered.begin(), covered.end(), knob) != covered.end()) continue;
        if (!needs_restoring(entry, host, knob, rebooted)) continue;
        covered.push_back(knob);
        batch.knobs.push_back(knob);
        batch.interrupts_link |= kind == KnobKind::pfc || kind == KnobKind::mtu;
      }
      if (!batch.knobs.empty()) out.push_back(std::move(batch));
    }
  }
  return out;
}

std::vector<std::string> residue(const Entry& entry, const host::Host& host, bool rebooted) {
  std::vector<std::string> lines;
  for (const Restoration& batch : restorations(entry, host, rebooted)) {
    for (const Knob& knob : batch.knobs) {
      const auto wanted = value_to_restore(entry, knob);
      if (wanted) {
        lines.push_back(to_text(Difference{knob, *wanted, host::value_of(host, knob)}));
      } else {
        lines.push_back(host::to_text(knob) + ": its configfs directory was not there before and still is");
      }
    }
  }
  return lines;
}

}  // namespace rocetune::tune
