// What a report says the same of several subjects, told once; and how many subjects are named.
#pragma once

#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "agent/diagnose/finding.h"

namespace rocetune::diagnose {

// "a, b, c and 3 more": at most so many by name.
std::string named(const std::vector<std::string>& names,
                  std::size_t most = std::numeric_limits<std::size_t>::max());
// More subjects of one finding or line are counted.
inline constexpr std::size_t kMostSubjects = 6;

struct FindingGroup {
  const Finding* first;               // its evidence and commands stand for all
  std::vector<std::string> subjects;  // in order, the first's in front
  // "eth0 on node1, eth0 on node2 and 998 more".
  std::string subject_text() const;
};

// Findings of one rule, severity, cause and fix are a group; groups in the order of their first. `report`
// must outlive them.
std::vector<FindingGroup> grouped(const Report& report);

// Rules that were not checked for one reason, and on what; each once, in order.
struct NotCheckedGroup {
  std::string reason;
  std::vector<std::string> rules, subjects;
};
// By the reason that `reason_of` gives; groups in the order of their first.
std::vector<NotCheckedGroup> grouped(const std::vector<NotChecked>& not_checked,
                                     const std::function<std::string(const NotChecked&)>& reason_of);

}  // namespace rocetune::diagnose
