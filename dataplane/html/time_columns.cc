#include "dataplane/html/time_columns.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

namespace rocetune::html {
namespace {

// Whatever the two are, columns can be counted.
constexpr double kMostSteps = 1e15;

double fold_of(const double* first, const double* last, Fold fold) {
  double sum = 0, largest = NAN;
  std::size_t known = 0;
  for (const double* v = first; v != last; ++v) {
    if (!std::isfinite(*v)) continue;
    ++known;
    sum += *v;
    largest = known == 1 ? *v : std::max(largest, *v);
  }
  if (known == 0) return NAN;
  if (fold == Fold::largest) return largest;
  return fold == Fold::sum ? sum : sum / static_cast<double>(known);
}

}  // namespace

std::size_t steps_of(const TimeAxis& axis) {
  if (!(axis.step_s > 0 && axis.end_s > 0)) return 0;
  // A whole number of steps may come out of the division a little above it.
  return static_cast<std::size_t>(std::min(std::ceil(axis.end_s / axis.step_s - 1e-6), kMostSteps));
}

std::size_t TimeAxis::steps_a_column() const {
  return std::max<std::size_t>(1, (steps_of(*this) + kMostColumns - 1) / kMostColumns);
}

double TimeAxis::column_s() const { return step_s * static_cast<double>(steps_a_column()); }

std::vector<double> columns_of(const TimeAxis& axis, const std::vector<double>& values, Fold fold) {
  const std::size_t each = axis.steps_a_column();
  const std::size_t count = std::min(values.size(), steps_of(axis));
  std::vector<double> out;
  for (std::size_t i = 0; i < count; i += each)
    out.push_back(fold_of(values.data() + i, values.data() + std::min(i + each, count), fold));
  return out;
}

std::size_t column_start(const TimeAxis& axis, std::size_t column) {
  return std::min(column * axis.steps_a_column(), steps_of(axis));
}

double highest_of(const std::vector<double>& values) {
  double out = 0;
  for (const double v : values) out = v > out ? v : out;
  return out;
}

double mean_of(const std::vector<double>& values) {
  return fold_of(values.data(), values.data() + values.size(), Fold::mean);
}

std::string values_attribute(const TimeAxis& axis, const std::vector<double>& columns, const Unit& unit) {
  if (!axis.reads_out || columns.empty()) return {};
  std::string values;
  for (std::size_t i = 0; i < columns.size(); ++i)
    values += (i == 0 ? "" : "|") + quantity_text(columns[i], unit);
  return " data-v='" + values + "'";
}

std::string read_out(const TimeAxis& axis, const std::vector<double>& columns, const Unit& unit,
                     const std::string& at_rest) {
  return "<output" + values_attribute(axis, columns, unit) + ">" + at_rest + "</output>";
}

}  // namespace rocetune::html
