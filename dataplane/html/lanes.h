// Charts above one another over one axis of time: what rose when something else fell is seen at a glance.
// Values are one a step from 0 on; one that is no number is not known and leaves a gap.
#pragma once

#include <string>
#include <vector>

#include "dataplane/html/markup.h"
#include "dataplane/html/quantity.h"

namespace rocetune::html {

struct TimeAxis {
  double end_s = 0;
  double step_s = 0;       // of the values; 0 if there are none
  bool reads_out = false;  // carries every value as text for the page's script
  // Steps are drawn one a column up to here, then several: more than a screen has.
  static constexpr std::size_t kMostColumns = 512;
  std::size_t steps_a_column() const;
  double column_s() const;
};

// What becomes of several steps in one column.
enum class Fold { mean, sum, largest };

struct Curve {
  std::string label;  // not shown if it is the only one
  Hue hue = Hue::blue;
  std::vector<double> values;
};
struct CurveLane {
  std::string title;
  std::string note;
  Unit unit;
  Fold fold = Fold::mean;
  std::vector<Curve> curves;
};
// Lines from 0 up to the highest of them, a single one filled below.
std::string curve_lane(const TimeAxis& axis, const CurveLane& lane);

struct Span {
  double start_s = 0, end_s = 0;
  Hue hue = Hue::orange;
  std::string explanation = {};  // shown when one points at it
};
// When something was so; later spans are drawn over earlier ones.
std::string span_lane(const TimeAxis& axis, const std::string& title, const std::vector<Span>& spans);

// `content`: what the functions above and heat_map() made for the same axis; its marks are put below.
std::string lanes(const TimeAxis& axis, const std::string& content);

}  // namespace rocetune::html
