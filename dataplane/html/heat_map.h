// Many quantities of one kind over time, a strip each: brightness instead of height.
#pragma once

#include <string>
#include <vector>

#include "dataplane/html/lanes.h"

namespace rocetune::html {

// From little to much of a quantity, or of what is unwelcome.
enum class Ramp { plain, unwelcome };
struct HeatMap {
  std::string title;
  std::string note;
  Unit unit;
  Ramp ramp = Ramp::plain;
  double most = 0;  // what the strongest colour stands for; 0: the largest value
  // Of a column's steps; with mean, the number beside a strip is the mean of it all, else the largest value.
  Fold fold = Fold::largest;
  struct Row {
    std::string label;
    std::string note = {};
    std::vector<double> values;
  };
  std::vector<Row> rows;
};
// One colour scale for all. Goes into lanes().
std::string heat_map(const TimeAxis& axis, const HeatMap& map);

}  // namespace rocetune::html
