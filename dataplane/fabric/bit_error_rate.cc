#include "dataplane/fabric/bit_error_rate.h"

#include <charconv>

namespace rocetune::fabric {
namespace {

constexpr int kDecimals = 18;

bool read_digits(std::string_view text, std::int64_t& out) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  return error == std::errc() && end == text.data() + text.size() && out >= 0 && !text.starts_with('-');
}

// "2.5" as 25 and one decimal.
bool read_mantissa(std::string_view text, std::int64_t& digits, int& decimals) {
  const std::size_t dot = text.find('.');
  if (dot == std::string_view::npos) return text.size() <= 4 && read_digits(text, digits);
  const std::string_view after = text.substr(dot + 1);
  std::int64_t whole = 0;
  if (dot > 4 || after.empty() || after.size() > 4 || !read_digits(text.substr(0, dot), whole) ||
      !read_digits(after, digits))
    return false;
  decimals = static_cast<int>(after.size());
  for (int i = 0; i < decimals; ++i) whole *= 10;
  digits += whole;
  return true;
}

}  // namespace

BitErrorRate::BitErrorRate(std::int64_t of_kone)
    : of_kone_(of_kone),
      right_(static_cast<std::uint64_t>((UnsignedWide(static_cast<std::uint64_t>(kOne - of_kone)) << 64) /
                                        static_cast<std::uint64_t>(kOne))) {
  ROCETUNE_ASSERT(of_kone >= 0 && of_kone <= kMost);
}

Parsed<BitErrorRate> BitErrorRate::parse(std::string_view text) {
  const UnitError error{std::string(text),
                        "wrong bits in all, such as 1e-12, at most 1e-3 and no finer than 1e-18"};
  const std::size_t e = text.find("e-");
  std::int64_t digits = 0;
  std::int64_t exponent = 0;
  int decimals = 0;
  if (!read_mantissa(text.substr(0, e), digits, decimals) ||
      (e != std::string_view::npos && !read_digits(text.substr(e + 2), exponent)) || exponent > kDecimals ||
      exponent + decimals > kDecimals)
    return tl::unexpected(error);
  for (std::int64_t i = exponent + decimals; i < kDecimals; ++i) {
    digits *= 10;
    if (digits > kMost) return tl::unexpected(error);
  }
  return BitErrorRate(digits);
}

bool BitErrorRate::spoils(std::uint32_t bytes, std::uint64_t random) const {
  if (of_kone_ == 0) return false;
  // right_ to the power of the number of bits, by squaring; below 2^64 all the time.
  std::uint64_t all_right = UINT64_MAX;
  std::uint64_t base = right_;
  for (std::uint64_t bits = std::uint64_t{bytes} * 8; bits != 0; bits >>= 1) {
    if ((bits & 1) != 0) all_right = static_cast<std::uint64_t>(UnsignedWide(all_right) * base >> 64);
    base = static_cast<std::uint64_t>(UnsignedWide(base) * base >> 64);
  }
  return random >= all_right;
}

}  // namespace rocetune::fabric
