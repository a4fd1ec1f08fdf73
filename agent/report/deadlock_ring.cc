#include "agent/report/deadlock_ring.h"

#include <fmt/core.h>

#include <cmath>
#include <numbers>

#include "dataplane/html/markup.h"
#include "dataplane/html/quantity.h"

namespace rocetune::report {
namespace {

using html::escaped;

constexpr double kWidth = 480, kHeight = 290, kRadius = 95, kNode = 12, kArrow = 9;
// The second of a turn that a node and an arrow's head take up, seen from the middle.
constexpr double kNodeAngle = (kNode + 4) / kRadius, kArrowAngle = kArrow / kRadius;

struct Place {
  double x, y;
};
// Angles from the top, clockwise.
Place on_circle(double angle, double radius) {
  return {kWidth / 2 + radius * std::sin(angle), kHeight / 2 - radius * std::cos(angle)};
}

std::string arrow(double from, double to) {
  const Place start = on_circle(from + kNodeAngle, kRadius);
  const Place neck = on_circle(to - kNodeAngle - kArrowAngle, kRadius);
  const Place tip = on_circle(to - kNodeAngle, kRadius);
  const Place outer = on_circle(to - kNodeAngle - kArrowAngle, kRadius + kArrow / 2);
  const Place inner = on_circle(to - kNodeAngle - kArrowAngle, kRadius - kArrow / 2);
  const int is_long = to - from - 2 * kNodeAngle > std::numbers::pi ? 1 : 0;
  return fmt::format(
      "<path class='arc' d='M{:.1f} {:.1f}A{r} {r} 0 {} 1 {:.1f} {:.1f}'/>"
      "<path class='solid' d='M{:.1f} {:.1f}L{:.1f} {:.1f}L{:.1f} {:.1f}z'/>\n",
      start.x, start.y, is_long, neck.x, neck.y, tip.x, tip.y, outer.x, outer.y, inner.x, inner.y,
      fmt::arg("r", kRadius));
}

std::string node(double angle, std::size_t number, const std::string& name) {
  const Place at = on_circle(angle, kRadius);
  const Place label = on_circle(angle, kRadius + kNode + 9);
  const double side = std::sin(angle);
  const std::string_view anchor = side > 0.2 ? "start" : side < -0.2 ? "end" : "middle";
  // A label in the middle stands above or below its node, the others beside it.
  const double lift = 4.5 - (anchor == "middle" ? 5 * std::cos(angle) : 0);
  return fmt::format(
      "<circle class='solid' cx='{0:.1f}' cy='{1:.1f}' r='{2}'/><text class='number' x='{0:.1f}' "
      "y='{3:.1f}'>{4}</text><text x='{5:.1f}' y='{6:.1f}' text-anchor='{7}'>{8}</text>\n",
      at.x, at.y, kNode, at.y + 4.5, number, label.x, label.y + lift, anchor, escaped(name));
}

}  // namespace

std::string deadlock_section(const fabric::Deadlock& deadlock) {
  std::string out = fmt::format(
      "<h2>Deadlock</h2>\n<p>Seen at {} on priority {}: {} ports wait for each other in a circle.</p>\n",
      html::quantity_text(deadlock.found_us / 1e6, html::kSeconds), deadlock.priority, deadlock.cycle.size());
  const std::size_t n = deadlock.cycle.size();
  if (n < 2 || n > kMostInRing) {
    out += "<ol>\n";
    for (const std::string& port : deadlock.cycle) out += "<li>" + escaped(port) + "</li>\n";
    return out + "</ol>\n<p class='faint'>Each waits for the next, the last for the first.</p>\n";
  }
  out += fmt::format(
      "<div class='ring'><svg class='bad' viewBox='0 0 {} {}' role='img' "
      "aria-label='ports that wait for each other'>\n",
      kWidth, kHeight);
  const double turn = 2 * std::numbers::pi / static_cast<double>(n);
  for (std::size_t i = 0; i < n; ++i) {
    const double angle = turn * static_cast<double>(i);
    out += arrow(angle, angle + turn) + node(angle, i + 1, deadlock.cycle[i]);
  }
  return out + "</svg></div>\n<p class='faint'>An arrow: waits for, because it is paused by it.</p>\n";
}

}  // namespace rocetune::report
