// Plans that come from the ledger instead of a profile.
#pragma once

#include "agent/host/nic_row.h"
#include "agent/tune/ledger.h"
#include "agent/tune/plan.h"

namespace rocetune::tune {

// Takes back a committed transaction: its steps in reverse, values exchanged. Errors: conflict if the host no
// longer shows what was committed, one line per difference, unless `overwrite_drift`; absent if a port has
// gone.
Expected<Plan> undo_plan(const host::Host& host, const Entry& entry, const host::NicTable& nics,
                         bool overwrite_drift, std::int64_t now_unix_ns);

// Brings the confirmed state back after a reboot. Ports are found by PCI address, whatever they are called
// now. A plan without steps: it is in force.
Plan boot_plan(const host::Host& host, const ConfirmedState& state, const host::NicTable& nics,
               std::int64_t now_unix_ns);

// What a boot has to do for what `plan` keeps: the host as a reboot leaves it, where nobody has set these
// knobs, and the plan that brings them back. For guardrails.
struct Awakening {
  host::Host host;
  Plan plan;
};
Awakening awakening(const host::Host& host, const Plan& plan, const host::NicTable& nics);

}  // namespace rocetune::tune
