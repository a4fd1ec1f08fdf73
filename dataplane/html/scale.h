// An axis: from where to where, and which round values are marked on it.
#pragma once

#include <string>
#include <vector>

#include "dataplane/html/quantity.h"

namespace rocetune::html {

struct Tick {
  double share = 0;  // of the axis' length, 0..1
  std::string text;
};

struct Scale {
  double low = 0, high = 1;     // low < high
  std::vector<Tick> ticks;      // the last one says the unit
  bool is_logarithmic = false;  // then low > 0
  // Where a value lies, 0..1; values outside lie at the ends.
  double share(double value) const;
};

// About `about` steps of 1, 2 or 5 times a power of ten, its ends round. `low` and `high` in any order; ends
// that are no number count as 0, and an empty range becomes one of size 1.
Scale scale_around(double low, double high, const Unit& unit, int about);
// Logarithmic, from one power of ten to another, marked at each. 0 < low <= high.
Scale scale_of_decades(double low, double high, const Unit& unit);
// The same marks between ends that stay as they are: time from the first step to the last.
Scale scale_between(double low, double high, const Unit& unit, int about);
// The ticks of an upright axis as markup, to stand beside a plot of the same height.
std::string marks_beside(const Scale& scale);

}  // namespace rocetune::html
