// Words and numbers of pasted lines.
#pragma once

#include <array>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <type_traits>

namespace rocetune::evidence {

// The words of a line, between blanks and tabs; what is behind the last that fits is left out.
class Words {
 public:
  static constexpr std::size_t kMost = 64;
  explicit Words(std::string_view text);
  std::size_t size() const { return size_; }
  // Empty behind the end.
  std::string_view operator[](std::size_t index) const {
    return index < size_ ? at_[index] : std::string_view();
  }
  const std::string_view* begin() const { return at_.data(); }
  const std::string_view* end() const { return at_.data() + size_; }

 private:
  std::array<std::string_view, kMost> at_;
  std::size_t size_ = 0;
};

constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }
constexpr bool is_hex_digit(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

// Takes the number that a text begins with off its front. Nothing, with the text as it was, if none does, and
// for one that is out of range, infinite or no number.
template <class Number>
std::optional<Number> take_number(std::string_view& text, int base = 10) {
  Number value{};
  std::from_chars_result result{};
  if constexpr (std::is_floating_point_v<Number>) {
    result = std::from_chars(text.data(), text.data() + text.size(), value);
    if (result.ec == std::errc() && !std::isfinite(value)) return std::nullopt;
  } else {
    result = std::from_chars(text.data(), text.data() + text.size(), value, base);
  }
  if (result.ec != std::errc()) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(result.ptr - text.data()));
  return value;
}

// The whole text as a number; nothing if anything else stands there. Decimal, finite: "12", "-1", "3.5e-07".
std::optional<double> decimal_of(std::string_view text);
std::optional<std::int64_t> integer_of(std::string_view text);
// "0x1f" as well.
std::optional<std::int64_t> integer_of_any_base(std::string_view text);
// "1,234,567" as well; "1,23" is none.
std::optional<std::uint64_t> count_of(std::string_view text);

// What stands behind the first `mark`, without blanks in front; nothing if it does not occur.
std::optional<std::string_view> behind(std::string_view text, std::string_view mark);
// The number that begins there; what follows it is ignored.
std::optional<double> leading_decimal(std::string_view text);
std::optional<std::int64_t> leading_integer(std::string_view text);
// The integer right behind the first `mark` (blanks, '=' and '(' in between allowed).
std::optional<std::int64_t> integer_behind(std::string_view text, std::string_view mark);
// The same in hexadecimal, with or without "0x".
std::optional<std::int64_t> hexadecimal_behind(std::string_view text, std::string_view mark);
// The first word behind `mark`: up to a blank or one of ",;)]".
std::string_view word_behind(std::string_view text, std::string_view mark);

bool contains(std::string_view text, std::string_view part);
bool contains_any(std::string_view text, std::initializer_list<std::string_view> parts);
// Letters of ASCII only.
std::string lower_case(std::string_view text);
// What people read: "4M", "64K", "1G", "8" as bytes (powers of 1024); nothing else.
std::optional<std::uint64_t> size_of(std::string_view text);

}  // namespace rocetune::evidence
