#include "dataplane/html/heat_map.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "dataplane/html/time_columns.h"

namespace rocetune::html {
namespace {

constexpr int kHeatLevels = 9;

char ramp_letter(Ramp ramp) { return ramp == Ramp::plain ? 'q' : 'w'; }

// 0: nothing to see; else which ninth of `most` it lies in.
int heat_level(double value, double most) {
  if (!(value > 0 && most > 0)) return 0;
  return static_cast<int>(std::clamp(std::ceil(kHeatLevels * value / most), 1.0, double{kHeatLevels}));
}

// One path a level, not one element a value.
std::string strip(const TimeAxis& axis, const HeatMap& map, double most, const std::vector<double>& columns,
                  const std::string& label) {
  std::array<std::string, kHeatLevels + 1> paths;
  for (std::size_t i = 0; i < columns.size();) {
    const int level = heat_level(columns[i], most);
    std::size_t end = i + 1;
    while (end < columns.size() && heat_level(columns[end], most) == level) ++end;
    if (level > 0) {
      paths[static_cast<std::size_t>(level)] += fmt::format("M{} 0H{}V1H{}z", column_start(axis, i),
                                                            column_start(axis, end), column_start(axis, i));
    }
    i = end;
  }
  std::string out = fmt::format(
      "<svg viewBox='0 0 {} 1' preserveAspectRatio='none' shape-rendering='crispEdges' role='img' "
      "aria-label='{}'>",
      std::max<std::size_t>(1, steps_of(axis)), escaped(label));
  for (std::size_t level = 1; level <= kHeatLevels; ++level) {
    if (!paths[level].empty())
      out += fmt::format("<path class='{}{}' d='{}'/>", ramp_letter(map.ramp), level, paths[level]);
  }
  return out + "</svg>";
}

std::string ramp_key(const HeatMap& map, double most) {
  std::string out =
      "<span class='ramp'>0 <svg viewBox='0 0 9 1' preserveAspectRatio='none' aria-hidden='true'>";
  for (int level = 1; level <= kHeatLevels; ++level)
    out += fmt::format("<path class='{}{}' d='M{} 0h1v1h-1z'/>", ramp_letter(map.ramp), level, level - 1);
  return out + "</svg> " + quantity_text(most, map.unit) + "</span>";
}

}  // namespace

std::string heat_map(const TimeAxis& axis, const HeatMap& map) {
  std::vector<std::vector<double>> columns;
  double most = map.most;
  for (const HeatMap::Row& row : map.rows) {
    columns.push_back(columns_of(axis, row.values, map.fold));
    if (map.most <= 0) most = std::max(most, highest_of(columns.back()));
  }
  std::string out = "<div class='lanehead'><b>" + escaped(map.title) + "</b>" + ramp_key(map, most);
  if (!map.note.empty()) out += "<small>" + escaped(map.note) + "</small>";
  out += "</div>\n";
  for (std::size_t i = 0; i < map.rows.size(); ++i) {
    const HeatMap::Row& row = map.rows[i];
    const bool is_mean = map.fold == Fold::mean;
    const std::string number =
        quantity_text(is_mean ? mean_of(row.values) : highest_of(columns[i]), map.unit);
    const std::string note = row.note.empty() ? std::string() : "<small>" + escaped(row.note) + "</small>";
    out += fmt::format(
        "<figure class='strip'><figcaption class='name'>{}{}</figcaption><div class='plot'>{}</div>"
        "<div class='out'>{}</div></figure>\n",
        escaped(row.label), note,
        strip(axis, map, most, columns[i],
              fmt::format("{}, {}: {} {}", map.title, row.label, is_mean ? "mean" : "at most", number)),
        read_out(axis, columns[i], map.unit, number));
  }
  return out;
}

}  // namespace rocetune::html
