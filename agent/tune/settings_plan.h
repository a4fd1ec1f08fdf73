// A plan that sets single knobs, whatever profile the host has: a fix of doctor's, or what a search tries.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "agent/tune/plan.h"

namespace rocetune::tune {

struct WantedSetting {
  host::Knob knob;
  host::KnobValue value;
  std::string rule;  // id of the rule that asks for it; empty: none
  std::string why;   // one sentence
};

// Of several settings of one knob the last counts; what the host has already is left out. `name` stands where
// a profile's name would. Errors: bad_input for a port that the host does not have, a knob that it does not
// show (with the reason), a value that does not belong to its knob, a NIC without a row.
Expected<Plan> settings_plan(const host::Host& host, const std::vector<WantedSetting>& settings,
                             const std::string& name, const host::NicTable& nics, std::int64_t now_unix_ns);

}  // namespace rocetune::tune
