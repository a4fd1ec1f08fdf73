#include "agent/evidence/words.h"

#include <algorithm>

#include "agent/evidence/line.h"

namespace rocetune::evidence {
namespace {

template <class Number>
std::optional<Number> whole(std::string_view text, int base = 10) {
  const auto value = take_number<Number>(text, base);
  return text.empty() ? value : std::nullopt;
}

std::string_view number_behind(std::string_view text, std::string_view mark) {
  const auto rest = behind(text, mark);
  if (!rest) return {};
  std::string_view out = *rest;
  while (!out.empty() &&
         (out.front() == ' ' || out.front() == '=' || out.front() == '(' || out.front() == ':')) {
    out.remove_prefix(1);
  }
  return out;
}

}  // namespace

Words::Words(std::string_view text) {
  std::size_t i = 0;
  while (size_ < kMost) {
    while (i < text.size() && (text[i] == ' ' || text[i] == '\t')) ++i;
    if (i >= text.size()) return;
    const std::size_t begin = i;
    while (i < text.size() && text[i] != ' ' && text[i] != '\t') ++i;
    at_[size_++] = text.substr(begin, i - begin);
  }
}

std::optional<double> decimal_of(std::string_view text) { return whole<double>(text); }
std::optional<std::int64_t> integer_of(std::string_view text) { return whole<std::int64_t>(text); }

std::optional<std::int64_t> integer_of_any_base(std::string_view text) {
  if (text.starts_with("0x") || text.starts_with("0X")) return whole<std::int64_t>(text.substr(2), 16);
  return integer_of(text);
}

std::optional<std::uint64_t> count_of(std::string_view text) {
  if (text.find(',') == std::string_view::npos) return whole<std::uint64_t>(text);
  std::string digits;
  std::size_t group = 0;
  bool first = true;
  for (const char c : text) {
    if (c == ',') {
      if (group == 0 || group > 3 || (!first && group != 3)) return std::nullopt;
      first = false;
      group = 0;
    } else if (is_digit(c)) {
      digits += c;
      ++group;
    } else {
      return std::nullopt;
    }
  }
  if (group != 3) return std::nullopt;
  return whole<std::uint64_t>(digits);
}

std::optional<std::string_view> behind(std::string_view text, std::string_view mark) {
  const auto at = text.find(mark);
  if (at == std::string_view::npos) return std::nullopt;
  std::string_view out = text.substr(at + mark.size());
  while (!out.empty() && (out.front() == ' ' || out.front() == '\t')) out.remove_prefix(1);
  return out;
}

std::optional<double> leading_decimal(std::string_view text) { return take_number<double>(text); }
std::optional<std::int64_t> leading_integer(std::string_view text) { return take_number<std::int64_t>(text); }

std::optional<std::int64_t> integer_behind(std::string_view text, std::string_view mark) {
  return leading_integer(number_behind(text, mark));
}

std::optional<std::int64_t> hexadecimal_behind(std::string_view text, std::string_view mark) {
  std::string_view number = number_behind(text, mark);
  if (number.starts_with("0x")) number.remove_prefix(2);
  return take_number<std::int64_t>(number, 16);
}

std::string_view word_behind(std::string_view text, std::string_view mark) {
  const auto rest = behind(text, mark);
  if (!rest) return {};
  return rest->substr(0, rest->find_first_of(" \t,;)]"));
}

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

bool contains_any(std::string_view text, std::initializer_list<std::string_view> parts) {
  return std::any_of(parts.begin(), parts.end(), [&](std::string_view part) { return contains(text, part); });
}

std::string lower_case(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return out;
}

std::optional<std::uint64_t> size_of(std::string_view text) {
  const auto value = take_number<std::uint64_t>(text);
  if (!value || *value > (std::uint64_t{1} << 40)) return std::nullopt;
  const std::string unit = lower_case(text);
  if (unit.empty() || unit == "b") return value;
  if (unit == "k" || unit == "kb" || unit == "kib") return *value << 10;
  if (unit == "m" || unit == "mb" || unit == "mib") return *value << 20;
  if (unit == "g" || unit == "gb" || unit == "gib") return *value << 30;
  return std::nullopt;
}

}  // namespace rocetune::evidence
