// Reasons not to change a host, each a pure function with a name. A refusal that a person may override names
// the consent that does it; one that nobody can override has none.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "agent/counters/model.h"
#include "agent/host/model.h"
#include "agent/tune/limits.h"
#include "agent/tune/plan.h"

namespace rocetune::tune {

struct Refusal {
  std::string consent;  // name for --allow; empty: cannot be overridden
  std::string port;
  std::string reason;
  bool operator==(const Refusal&) const = default;
  static constexpr void fields(auto&& visit, auto&... self) {
    visit("consent", self.consent...);
    visit("port", self.port...);
    visit("reason", self.reason...);
  }
};

struct GuardrailInput {
  const host::Host& host;
  const Plan& plan;
  const Observed<counters::Interval>& traffic;  // of the moment before the first write
  const Limits& limits;
};

struct Guardrail {
  std::string_view consent;  // empty: cannot be overridden
  std::string_view meaning;  // for --help: what is refused without it
  std::vector<Refusal> (*check)(const GuardrailInput&);
};
// All of them, in the order they are reported.
const std::vector<Guardrail>& guardrails();

std::vector<Refusal> refusals(const GuardrailInput& input);
// Those that `consents` do not cover.
std::vector<Refusal> uncovered(const std::vector<Refusal>& refusals, const std::set<std::string>& consents);
// "eth0: carries the default route (--allow bounce-default-route)".
std::string to_text(const Refusal& refusal);
// Names for --allow, for help and for nearest-name errors.
std::vector<std::string> consent_names();

}  // namespace rocetune::tune
