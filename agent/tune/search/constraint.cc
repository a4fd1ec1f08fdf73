#include "agent/tune/search/constraint.h"

#include <algorithm>

namespace rocetune::search {

std::optional<BrokenConstraint> broken(const std::vector<Constraint>& constraints, const Space& space,
                                       const Candidate& candidate) {
  for (std::size_t i = 0; i < constraints.size(); ++i) {
    const bool turned = std::ranges::any_of(
        constraints[i].knobs, [&](std::size_t knob) { return candidate.values[knob] != space[knob].start; });
    if (!turned) continue;
    if (auto why = constraints[i].broken(candidate)) return BrokenConstraint{i, std::move(*why)};
  }
  return std::nullopt;
}

}  // namespace rocetune::search
