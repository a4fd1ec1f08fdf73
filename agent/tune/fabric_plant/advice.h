// A candidate as things to do: what to change where, by which words of switches and hosts, and how to undo
// it.
#pragma once

#include <string>
#include <vector>

#include "agent/tune/fabric_plant/fabric_plant.h"

namespace rocetune::fabric_plant {

struct Step {
  std::string knob;
  std::string where;   // "all switches", "switch2", "h5", "all hosts", "hosts and switches", "workload"
  std::string before;  // with unit
  std::string after;
  search::ChangeCost cost = search::ChangeCost::none;
  std::string how;   // a command of the host, a parameter of the switch; IFACE and BDF stand for the port
  std::string undo;  // the same with the value before
  static constexpr void fields(auto&& visit, auto&... self) {
    visit("knob", self.knob...);
    visit("where", self.where...);
    visit("before", self.before...);
    visit("after", self.after...);
    visit("cost", self.cost...);
    visit("how", self.how...);
    visit("undo", self.undo...);
  }
};

// In the order of the knobs.
std::vector<Step> steps_of(const FabricPlant& plant, const search::Candidate& candidate);

}  // namespace rocetune::fabric_plant
