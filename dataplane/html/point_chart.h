// A measure over what was varied, with its range where it was measured more than once.
#pragma once

#include <string>
#include <vector>

#include "dataplane/html/quantity.h"
#include "dataplane/html/scale.h"

namespace rocetune::html {

struct PointChart {
  struct Point {
    double share = 0;  // of the way across, 0..1
    double mean = 0, low = 0, high = 0;
    std::string explanation = {};  // shown when one points at it
  };
  struct Series {
    std::string label = {};
    std::vector<Point> points;
  };
  std::string title;
  std::string note;
  Unit unit;
  std::string across;         // what was varied
  std::vector<Tick> marks;    // its values; those that would overlap are not written
  bool is_connected = false;  // by lines, where it makes sense to think of values in between
  // Points of several series at one mark stand beside each other; not where their place is measured.
  bool are_side_by_side = true;
  std::vector<Series> series;
  // As many series have a colour and a mark of their own; the rest is grey.
  static constexpr std::size_t kMostColoured = 8;
};
std::string point_chart(const PointChart& chart);
// What colours and marks stand for, once for several charts of the same series; empty for a single one.
std::string point_legend(const PointChart& chart);

}  // namespace rocetune::html
