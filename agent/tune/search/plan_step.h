// One thing to do to have what a search found: what to change where, by which words, and how to undo it.
#pragma once

#include <string>

#include "agent/tune/search/knob.h"

namespace rocetune::search {

struct PlanStep {
  std::string knob;
  std::string where;   // the host, the switch, "workload"
  std::string before;  // with unit
  std::string after;
  ChangeCost cost = ChangeCost::none;
  std::string how;   // the command, or the parameter of the switch
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

}  // namespace rocetune::search
