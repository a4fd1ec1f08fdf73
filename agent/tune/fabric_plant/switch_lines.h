// What switches should have after a plan, as lines to be pasted: the class map as a whole, by the writers of
// `rocetune switch-config`.
#pragma once

#include <string>
#include <vector>

#include "agent/evidence/switches/switch_plan.h"
#include "agent/tune/fabric_plant/fabric_plant.h"

namespace rocetune::fabric_plant {

struct SwitchSnippet {
  std::string where;                // "all switches", "switch2,switch5"
  std::string system;               // enum_name of the writer: "sonic"
  std::string text;                 // empty: of this plan the writer can say nothing
  std::vector<std::string> notes;   // how to load it, and what else the switch needs
  std::vector<std::string> unsaid;  // of the plan what the lines do not hold: the knob, and what it should be
  static constexpr void fields(auto&& visit, auto&... self) {
    visit("where", self.where...);
    visit("system", self.system...);
    visit("text", self.text...);
    visit("notes", self.notes...);
    visit("unsaid", self.unsaid...);
  }
};

// PORT stands for each port, in the lines.
inline constexpr std::string_view kAnyPort = "PORT";

// What a switch does with the classes in use, as a writer takes it. Where the file says nothing of shares,
// and there is one data class, that shares the link with the rest instead of passing it.
evidence::SwitchPlan switch_plan_of(const fabric::SwitchParameters& at, const DscpsInUse& dscps);

// Of what the candidate changes at switches; switches that then are alike are one, in the order of writers.
// Empty: it changes nothing there.
std::vector<SwitchSnippet> switch_lines_of(const FabricPlant& plant, const search::Candidate& candidate);

}  // namespace rocetune::fabric_plant
