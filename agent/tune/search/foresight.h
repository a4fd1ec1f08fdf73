// How well a guide foretold what the plant then did.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "agent/tune/search/outcome.h"

namespace rocetune::search {

enum class Belief {
  believed,      // what helps and by how much
  directions,    // what helps, not by how much
  not_believed,  // neither
  unchecked,     // nothing that it foretold was tried
};

struct Foresight {
  Belief belief = Belief::unchecked;
  int right = 0;  // candidates that got better, worse, or neither, as foretold
  int of = 0;
  // Spearman's, of what was tried and the baseline, equal values at their mean rank (Spearman, American
  // Journal of Psychology 15, 1904). None: fewer than three, or all alike.
  std::optional<double> rank_correlation;
  std::optional<double> median_error_percent;  // |foretold - measured|, points of gain; none: nothing ran
  std::string says;                            // one sentence
  bool holds() const { return belief == Belief::believed || belief == Belief::directions; }
};

// `tolerance`: gains closer to 0, or to each other, are no gains; a score. A candidate that did not run got
// worse. Foretold gains hold where two thirds go as foretold, and the ranks not against it; if any was
// foretold to gain, one that was did.
Foresight foresight_of(const std::vector<Foretold>& foretold, double tolerance, double loss_weight = 1);
Foresight foresight_of(const Guidance& guidance);

}  // namespace rocetune::search

namespace rocetune {
ROCETUNE_ENUM(search::Belief, P{E::believed, "believed"}, P{E::directions, "directions"},
              P{E::not_believed, "not_believed"}, P{E::unchecked, "unchecked"});
}  // namespace rocetune
