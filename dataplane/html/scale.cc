#include "dataplane/html/scale.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

namespace rocetune::html {
namespace {

// What binary fractions leave over when a round end is divided by a round step.
constexpr double kSlack = 1e-6;

double round_step(double range, const Unit& unit, int about) {
  double least = range / std::max(about, 1);
  // Nothing happens half a time.
  if (unit.is_whole) least = std::max(least, 1.0);
  const double power = std::pow(10, std::floor(std::log10(least)));
  for (const double digit : {1.0, 2.0, 5.0}) {
    if (digit * power >= least * (1 - kSlack)) return digit * power;
  }
  return 10 * power;
}

std::pair<double, double> in_order(double low, double high) {
  if (!std::isfinite(low)) low = 0;
  if (!std::isfinite(high)) high = 0;
  if (low > high) std::swap(low, high);
  // Also where both are so close that no step between them changes a bit.
  if (high - low <= 1e-9 * std::max(std::abs(low), std::abs(high))) high = low + std::max(1.0, std::abs(low));
  return {low, high};
}

void add_ticks(Scale& scale, double step, const Unit& unit) {
  const auto first = static_cast<long long>(std::ceil(scale.low / step - kSlack));
  const auto last = static_cast<long long>(std::floor(scale.high / step + kSlack));
  const Written written = written_for(std::max(std::abs(scale.low), std::abs(scale.high)), unit);
  const double shown_step = step * written.factor;
  const int decimals = static_cast<int>(std::clamp(std::ceil(-std::log10(shown_step) - kSlack), 0.0, 9.0));
  for (long long i = first; i <= last; ++i) {
    const double value = static_cast<double>(i) * step;
    std::string text = i == 0          ? "0"
                       : decimals == 0 ? number_text(std::round(value * written.factor), 1)
                                       : fmt::format("{:.{}f}", value * written.factor, decimals);
    if (i == last && !written.symbol.empty()) text += "\u00a0" + written.symbol;
    scale.ticks.push_back({scale.share(value), std::move(text)});
  }
}

}  // namespace

double Scale::share(double value) const {
  if (is_logarithmic && !(value > 0)) return 0;
  const double share =
      is_logarithmic ? std::log(value / low) / std::log(high / low) : (value - low) / (high - low);
  return share > 0 ? std::min(share, 1.0) : 0;
}

Scale scale_around(double low, double high, const Unit& unit, int about) {
  Scale out;
  std::tie(out.low, out.high) = in_order(low, high);
  const double step = round_step(out.high - out.low, unit, about);
  out.low = std::floor(out.low / step + kSlack) * step;
  out.high = std::ceil(out.high / step - kSlack) * step;
  add_ticks(out, step, unit);
  return out;
}

Scale scale_of_decades(double low, double high, const Unit& unit) {
  const auto first = static_cast<int>(std::floor(std::log10(low) + kSlack));
  const auto last = std::max(first + 1, static_cast<int>(std::ceil(std::log10(high) - kSlack)));
  Scale out{.low = std::pow(10, first), .high = std::pow(10, last), .is_logarithmic = true};
  for (int power = first; power <= last; ++power) {
    const double value = std::pow(10, power);
    out.ticks.push_back({out.share(value), quantity_text(value, unit)});
  }
  return out;
}

Scale scale_between(double low, double high, const Unit& unit, int about) {
  Scale out;
  std::tie(out.low, out.high) = in_order(low, high);
  add_ticks(out, round_step(out.high - out.low, unit, about), unit);
  return out;
}

std::string marks_beside(const Scale& scale) {
  std::string out = "<div class='y'>";
  for (const Tick& tick : scale.ticks)
    out += fmt::format("<span style='bottom:{:.4g}%'>{}</span>", 100 * tick.share, tick.text);
  return out + "</div>";
}

}  // namespace rocetune::html
