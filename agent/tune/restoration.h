// What a rollback still has to do on a host as it is now. Pure: looking decides, not what was recorded as
// done.
#pragma once

#include <string>
#include <vector>

#include "agent/tune/ledger.h"
#include "agent/tune/verification.h"

namespace rocetune::tune {

// One batch to restore together.
struct Restoration {
  std::size_t step = 0;  // index into the plan; behind the last: what the writes changed besides
  std::string port;
  bool interrupts_link = false;
  std::vector<host::Knob> knobs;
};

// The knob's value in the state before; empty: it was hidden, or not shown.
std::optional<host::KnobValue> value_to_restore(const Entry& entry, const host::Knob& knob);

// Whether the knob is not as it was before. `rebooted`: the kernel's state is of a later boot, so only what
// still shows a value that this transaction wrote is wrong.
bool needs_restoring(const Entry& entry, const host::Host& host, const host::Knob& knob, bool rebooted);

// Batches in the order to do them: steps that may have been written in reverse, then what differs besides on
// the ports they touched. Empty: the state before is in force.
std::vector<Restoration> restorations(const Entry& entry, const host::Host& host, bool rebooted);

// One line per knob that is not as it was.
std::vector<std::string> residue(const Entry& entry, const host::Host& host, bool rebooted);

}  // namespace rocetune::tune
