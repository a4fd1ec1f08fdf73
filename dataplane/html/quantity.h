// Numbers for people: three digits and a unit. What is measured or compared by a program is in the JSON.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace rocetune::html {

struct Unit {
  enum class Prefixes {
    none,   // 12 345
    large,  // 12.3 kB, but never mB
    all,    // 12.3 µs
  };
  std::string_view symbol = {};
  Prefixes prefixes = Prefixes::none;
  double factor = 1;      // shown for 1
  bool is_whole = false;  // has decimals only where it is a mean
};
constexpr Unit kCount{.is_whole = true};
constexpr Unit kIndex{};                            // a plain number, such as a fairness of 0.987
constexpr Unit kBytes{"B", Unit::Prefixes::large};  // powers of 1000
constexpr Unit kBitRate{"b/s", Unit::Prefixes::large};
constexpr Unit kSeconds{"s", Unit::Prefixes::all};
constexpr Unit kMicroseconds{"s", Unit::Prefixes::all, 1e-6};    // values in microseconds
constexpr Unit kGigabitRate{"b/s", Unit::Prefixes::large, 1e9};  // in gigabits per second
constexpr Unit kPercent{"%", Unit::Prefixes::none, 100};         // of a ratio

// How numbers up to `most` are written so that they compare at a glance: one prefix and as many decimals for
// all, which gives `most` three digits.
struct Written {
  double factor = 1;   // times the value
  std::string symbol;  // "kB"; may be empty
  int decimals = 0;
  // Without the unit; "–" for what is no number.
  std::string text(double value) const;
};
Written written_for(double most, const Unit& unit);

// "12.3", "31 065": as many significant digits, but all before the point; "–" for what is no number.
std::string number_text(double value, int digits = 3);
// "12.3 kB", "810", "31 065". The space does not break.
std::string quantity_text(double value, const Unit& unit, int digits = 3);
// All digits, in groups of three.
std::string count_text(std::uint64_t count);
// "1 flow", "31 065 flows".
std::string counted(std::uint64_t count, std::string_view one, std::string_view many);

}  // namespace rocetune::html
