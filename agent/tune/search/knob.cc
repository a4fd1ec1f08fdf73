#include "agent/tune/search/knob.h"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace rocetune::search {
namespace {

struct Range {
  double low;
  double high;
};

// Steps from min that lie within the safe set, first and last.
Range safe_steps(const Knob& knob) {
  const double low = std::max(knob.min, knob.safe_min.value_or(knob.min));
  const double high = std::min(knob.max, knob.safe_max.value_or(knob.max));
  const double slack = 1e-9;
  return {std::ceil((low - knob.min) / knob.step - slack), std::floor((high - knob.min) / knob.step + slack)};
}

// A value with at most 12 significant digits: 0.1 + 2 * 0.1 is 0.3.
double rounded(double value) {
  if (value == 0) return 0;
  const double digits = std::pow(10.0, 11 - std::floor(std::log10(std::fabs(value))));
  return std::isfinite(digits) ? std::round(value * digits) / digits : value;
}

double at_step(const Knob& knob, double step) { return rounded(knob.min + step * knob.step); }

double scaled(const Knob& knob, double value) {
  return knob.scale == Scale::logarithmic ? std::log(std::max(value, 1e-300)) : value;
}

std::vector<std::string> choice_names(const Knob& knob) {
  if (knob.kind == KnobKind::toggle) return {"off", "on"};
  return knob.choices;
}

bool is_choice(const Knob& knob, double value) {
  const double count = knob.count();
  return value >= 0 && value < count && value == std::floor(value);
}

}  // namespace

double Knob::count() const {
  switch (kind) {
    case KnobKind::numeric:
      return std::floor((max - min) / step + 1e-9) + 1;
    case KnobKind::categorical:
      return static_cast<double>(choices.size());
    case KnobKind::toggle:
      return 2;
  }
  return 0;
}

bool Knob::is_safe(double value) const {
  if (value == start) return true;
  if (!is_numeric()) {
    if (!is_choice(*this, value)) return false;
    const auto index = static_cast<std::size_t>(value);
    return safe_choices.empty() || std::ranges::find(safe_choices, index) != safe_choices.end();
  }
  if (!std::isfinite(value)) return false;
  const Range steps = safe_steps(*this);
  const double step_number = (value - min) / step;
  return step_number >= steps.low - 1e-6 && step_number <= steps.high + 1e-6 &&
         std::fabs(step_number - std::round(step_number)) < 1e-6;
}

double Knob::nearest_safe(double value) const {
  if (is_safe(value)) return value;
  if (!is_numeric()) return start;
  const Range steps = safe_steps(*this);
  if (steps.low > steps.high) return start;
  return at_step(*this, std::clamp(std::round((value - min) / step), steps.low, steps.high));
}

double Knob::position(double value) const {
  if (!is_numeric()) return count() > 1 ? value / (count() - 1) : 0;
  const Range steps = safe_steps(*this);
  const double low = scaled(*this, min + steps.low * step);
  const double high = scaled(*this, min + steps.high * step);
  return high > low ? (scaled(*this, value) - low) / (high - low) : 0;
}

double Knob::at_position(double position) const {
  const double p = std::clamp(position, 0.0, 1.0);
  if (!is_numeric()) return nearest_safe(std::round(p * (count() - 1)));
  const Range steps = safe_steps(*this);
  if (steps.low > steps.high) return start;
  const double low = min + steps.low * step;
  const double high = min + steps.high * step;
  const double value = scale == Scale::logarithmic ? low * std::pow(high / low, p) : low + (high - low) * p;
  return at_step(*this, std::clamp(std::round((value - min) / step), steps.low, steps.high));
}

std::string Knob::text(double value) const {
  if (is_numeric()) return unit.empty() ? fmt::format("{}", value) : fmt::format("{} {}", value, unit);
  return is_choice(*this, value) ? choice_names(*this)[static_cast<std::size_t>(value)]
                                 : fmt::format("{}", value);
}

Expected<double> Knob::value_of(std::string_view text) const {
  if (!is_numeric()) {
    const std::vector<std::string> names = choice_names(*this);
    const auto found = std::ranges::find(names, text);
    if (found != names.end()) return static_cast<double>(found - names.begin());
    const std::string near = nearest_name(text, names);
    std::string all;
    for (const std::string& choice : names) all += (all.empty() ? "" : ", ") + choice;
    return fail(ErrorKind::bad_input, "{}: found \"{}\", allowed: {}{}", name, text, all,
                near.empty() ? std::string() : fmt::format("; did you mean {}?", near));
  }
  std::string_view number = text;
  if (!unit.empty() && number.ends_with(unit)) number.remove_suffix(unit.size());
  while (number.ends_with(' ')) number.remove_suffix(1);
  double value = 0;
  const auto [end, status] = std::from_chars(number.data(), number.data() + number.size(), value);
  if (status != std::errc() || end != number.data() + number.size() || !std::isfinite(value)) {
    return fail(ErrorKind::bad_input, "{}: found \"{}\", allowed: a number from {} to {}{}", name, text, min,
                max, unit.empty() ? std::string() : " " + unit);
  }
  return value;
}

}  // namespace rocetune::search
