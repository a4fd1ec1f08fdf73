#include "dataplane/html/quantity.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace rocetune::html {
namespace {

constexpr std::string_view kNarrowSpace = "\u202f";
constexpr std::string_view kFixedSpace = "\u00a0";

struct SiPrefix {
  double size;
  std::string_view symbol;
};
constexpr std::array kSiPrefixes{
    SiPrefix{1e15, "P"}, SiPrefix{1e12, "T"}, SiPrefix{1e9, "G"},  SiPrefix{1e6, "M"},  SiPrefix{1e3, "k"},
    SiPrefix{1, ""},     SiPrefix{1e-3, "m"}, SiPrefix{1e-6, "µ"}, SiPrefix{1e-9, "n"}, SiPrefix{1e-12, "p"}};
// What three digits round up to the next prefix.
constexpr double kRoundsUp = 0.9995;

std::string grouped(std::string digits) {
  for (std::size_t at = digits.size(); at > 3;) {
    at -= 3;
    digits.insert(at, kNarrowSpace);
  }
  return digits;
}

}  // namespace

Written written_for(double most, const Unit& unit) {
  const double size = std::isfinite(most) ? std::abs(most) * unit.factor : 0;
  const bool is_prefixed = unit.prefixes != Unit::Prefixes::none && size > 0;
  const double smallest = unit.prefixes == Unit::Prefixes::large ? 1 : kSiPrefixes.back().size;
  SiPrefix used{1, ""};
  for (const SiPrefix& prefix : kSiPrefixes) {
    if (!is_prefixed || (size < kRoundsUp * prefix.size && prefix.size > smallest)) continue;
    used = prefix;
    break;
  }
  const double shown = size / used.size;
  const int decimals =
      shown > 0 && !unit.is_whole ? std::clamp(2 - static_cast<int>(std::floor(std::log10(shown))), 0, 6) : 0;
  return {unit.factor / used.size, fmt::format("{}{}", used.symbol, unit.symbol), decimals};
}

std::string Written::text(double value) const {
  if (!std::isfinite(value)) return "–";
  return decimals == 0 ? number_text(value * factor) : fmt::format("{:.{}f}", value * factor, decimals);
}

std::string number_text(double value, int digits) {
  if (!std::isfinite(value)) return "–";
  const double size = std::abs(value);
  if (size < std::pow(10, digits) - 0.5) return fmt::format("{:.{}g}", value, digits);
  const std::string whole = grouped(fmt::format("{:.0f}", size));
  return value < 0 ? "-" + whole : whole;
}

std::string quantity_text(double value, const Unit& unit, int digits) {
  if (!std::isfinite(value)) return "–";
  const Written written = written_for(value, unit);
  const std::string number = number_text(value * written.factor, digits);
  return written.symbol.empty() ? number : fmt::format("{}{}{}", number, kFixedSpace, written.symbol);
}

std::string count_text(std::uint64_t count) { return grouped(fmt::format("{}", count)); }

std::string counted(std::uint64_t count, std::string_view one, std::string_view many) {
  return fmt::format("{} {}", count_text(count), count == 1 ? one : many);
}

}  // namespace rocetune::html
