// A plan as a network engineer wants to read it before saying yes.
#pragma once

#include <string>
#include <vector>

#include "agent/tune/guardrails.h"
#include "agent/tune/plan.h"

namespace rocetune::tune {

// A real host is changed by apply and changed back by rollback; a scenario of the virtual fabric is what a
// command makes its hosts of, anew each time.
enum class AppliesTo : std::uint8_t { host, scenario };

// Steps in order, each change as before -> after with the rule that asks for it, the equivalent commands,
// what is interrupted, how it is undone; then what the profile could not have. `refusals`: what `apply` would
// object to now.
std::string plan_text(const Plan& plan, const host::Host& host, const std::vector<Refusal>& refusals,
                      bool with_mlnx_qos, AppliesTo applies_to = AppliesTo::host);

// The plan's own JSON, as apply takes it, and beside it what the text tells too: "commands", the lines of
// each change in the plan's order, and "refusals", what apply would object to now.
std::string plan_json(const Plan& plan, const host::Host& host, const std::vector<Refusal>& refusals,
                      bool with_mlnx_qos);

// The commands that do the same by hand, in the plan's order.
std::vector<std::string> commands_of(const Change& change, const host::Port& port, bool with_mlnx_qos);

}  // namespace rocetune::tune
