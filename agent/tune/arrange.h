// Puts changes into the order in which they can be made, batch by batch.
#pragma once

#include <vector>

#include "agent/host/nic_row.h"
#include "agent/tune/plan.h"

namespace rocetune::tune {

// Steps in order: bond members one after another and before their bond, the active member of an active-backup
// bond after its backups, other ports as the host lists them;
// inside a port as docs/decisions/0004-transaction.md says. `changes` in any order.
std::vector<Step> arrange(std::vector<Change> changes, const host::Host& host, const host::NicTable& nics);

// What writing the change does to its port's traffic; from the NIC's row.
host::WriteEffect effect_of(const Change& change, const host::NicRow& traits);
// Adds it to what the step's writes do: the worst of them counts.
void take_effect(Step& step, host::WriteEffect effect);

// The plan as this version knows the NICs: a file that was edited, or comes from another version, may say
// that a step interrupts nothing or can be undone exactly. What is more careful wins.
Plan with_known_effects(Plan plan, const host::Host& host, const host::NicTable& nics);

// How well `before` can be restored, and what the write does to traffic; from the NIC's row.
void annotate(Change& change, const host::NicRow& traits);

}  // namespace rocetune::tune
