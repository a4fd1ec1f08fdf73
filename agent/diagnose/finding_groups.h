// Findings that say the same of several subjects, told once.
#pragma once

#include <string>
#include <vector>

#include "agent/diagnose/finding.h"

namespace rocetune::diagnose {

struct FindingGroup {
  const Finding* first;               // its evidence and commands stand for all
  std::vector<std::string> subjects;  // in order, the first's in front
  // "eth0 on node1, eth0 on node2 and 998 more".
  std::string subject_text() const;
};

// Findings of one rule, severity, cause and fix are a group; groups in the order of their first. `report`
// must outlive them.
std::vector<FindingGroup> grouped(const Report& report);

}  // namespace rocetune::diagnose
