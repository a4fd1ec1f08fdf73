// Faults to plant into a healthy host, and the one rule that has to name each.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "tests/agent/diagnose/host_builder.h"

namespace rocetune::diagnose {

struct Fault {
  std::string name;
  std::string rule;
  // What it is planted into: two faults of one place cannot both be there.
  std::vector<std::string> places;
  std::function<void(Scenario&)> plant;

  bool shares_place_with(const Fault& other) const;
};

const std::vector<Fault>& all_faults();

}  // namespace rocetune::diagnose
