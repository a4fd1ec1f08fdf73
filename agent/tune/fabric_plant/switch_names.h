// The changes of switches by the names that SONiC, Cumulus Linux and EOS have for them.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "agent/tune/fabric_plant/fabric_plant.h"

namespace rocetune::fabric_plant {

struct SwitchNames {
  std::string knob;
  std::string where;  // "all switches", "switch2"
  std::string value;
  // Commands, with "; " between them. Empty: that system has no such setting that we know of. PORT stands for
  // each port.
  std::string sonic;  // a command of sonic-utilities, or TABLE|KEY field value of its configuration database
  std::string nvue;
  std::string eos;
  static constexpr void fields(auto&& visit, auto&... self) {
    visit("knob", self.knob...);
    visit("where", self.where...);
    visit("value", self.value...);
    visit("sonic", self.sonic...);
    visit("nvue", self.nvue...);
    visit("eos", self.eos...);
  }
};
// As the members after `value` are called.
inline constexpr std::array<std::string_view, 3> kSwitchSystems{"SONiC", "Cumulus Linux (NVUE)",
                                                                "Arista EOS"};

// Of what the candidate changes at switches, in the order of the knobs.
std::vector<SwitchNames> switch_names_of(const FabricPlant& plant, const search::Candidate& candidate);

}  // namespace rocetune::fabric_plant
