// Values over time as the columns of a chart.
#pragma once

#include <string>
#include <vector>

#include "dataplane/html/lanes.h"

namespace rocetune::html {

// Whole steps that the axis has room for; the width of a chart's coordinates.
std::size_t steps_of(const TimeAxis& axis);
// axis.steps_a_column() steps in one; what is not known is left out of it, and NaN if nothing is.
std::vector<double> columns_of(const TimeAxis& axis, const std::vector<double>& values, Fold fold);
// Where a column begins, in steps.
std::size_t column_start(const TimeAxis& axis, std::size_t column);
// 0 if there is no positive one.
double highest_of(const std::vector<double>& values);
// Of those that are known; NaN if none is.
double mean_of(const std::vector<double>& values);
// An attribute with the columns' values as text, for the page's script; nothing if the axis does not read
// out.
std::string values_attribute(const TimeAxis& axis, const std::vector<double>& columns, const Unit& unit);
// `at_rest`, whose place the values take while one points at a moment.
std::string read_out(const TimeAxis& axis, const std::vector<double>& columns, const Unit& unit,
                     const std::string& at_rest);

}  // namespace rocetune::html
