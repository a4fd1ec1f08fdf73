// What several things are worth, as bars from 0 with the range that each lies in: a row a thing, a bar each
// way of asking.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "dataplane/html/markup.h"
#include "dataplane/html/quantity.h"

namespace rocetune::html {

struct IntervalBars {
  struct Bar {
    double mid = 0, low = 0, high = 0;  // any sign
  };
  struct Way {
    std::string label;
    Hue hue = Hue::blue;
  };
  struct Row {
    std::string label;
    std::string note = {};
    std::vector<std::optional<Bar>> bars;  // one for each of `ways`; none: not known, and said so
  };
  std::string title;
  std::string note;
  Unit unit;
  std::vector<Way> ways;
  std::vector<Row> rows;
};
// One axis for all rows, from the lowest to the highest of them and 0. Nothing without rows.
std::string interval_bars(const IntervalBars& chart);

}  // namespace rocetune::html
