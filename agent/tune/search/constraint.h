// What physics or a standard forbids, whatever it would gain: a candidate that breaks one is refused before a
// trial is spent.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "agent/tune/search/space.h"

namespace rocetune::search {

struct Constraint {
  std::string id;      // "ecn-below-xoff"
  std::string rule;    // "Kmin < Kmax < Xoff", for people
  std::string origin;  // paper, clause, vendor document
  // The knobs it speaks of. A candidate that leaves all of them at their start values never breaks it: what
  // was found was not our doing (doctor says so), and turning other knobs must stay possible.
  std::vector<std::size_t> knobs;
  // Why the candidate breaks it, with figures; none: it does not. Pure.
  std::function<std::optional<std::string>(const Candidate&)> broken;
};

struct BrokenConstraint {
  std::size_t constraint = 0;  // place in the plant's list
  std::string why;
};
// The first constraint the candidate breaks.
std::optional<BrokenConstraint> broken(const std::vector<Constraint>& constraints, const Space& space,
                                       const Candidate& candidate);

}  // namespace rocetune::search
