// Checks for TableReader: called with the value read, they return what is allowed, or empty if the value is.
//
//   t.required("kmin", out.kmin, between(Bytes(0), Bytes(1 << 20)));
#pragma once

#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "congestion/units.h"
#include "dataplane/base/error.h"
#include "dataplane/base/reflect.h"

namespace rocetune {

template <class T>
std::string toml_text(const T& value) {
  if constexpr (std::is_arithmetic_v<T>)
    return fmt::format("{}", value);
  else if constexpr (std::is_convertible_v<T, std::string>)
    return value;
  else if constexpr (NamedEnum<T>)
    return std::string(enum_name(value));
  else
    return to_text(value);
}

// a < b, also between integers of different signedness.
template <class A, class B>
bool is_less(const A& a, const B& b) {
  if constexpr (std::is_integral_v<A> && std::is_integral_v<B>)
    return std::cmp_less(a, b);
  else
    return a < b;
}

// min <= value <= max.
template <class T>
auto between(T min, T max) {
  return [=](const auto& value) {
    return is_less(value, min) || is_less(max, value) ? toml_text(min) + " to " + toml_text(max)
                                                      : std::string();
  };
}
template <class T>
auto at_least(T min) {
  return [=](const auto& value) { return is_less(value, min) ? toml_text(min) + " or more" : std::string(); };
}
template <class T>
auto more_than(T bound) {
  return [=](const auto& value) {
    return is_less(bound, value) ? std::string() : "more than " + toml_text(bound);
  };
}
// One of a list: a subset of an enum, strings, numbers.
template <class T>
auto one_of(std::vector<T> allowed) {
  return [allowed = std::move(allowed)](const auto& value) {
    std::string names;
    for (const T& candidate : allowed) {
      if (candidate == value) return std::string();
      names += (names.empty() ? "" : ", ") + toml_text(candidate);
    }
    return names;
  };
}
inline auto not_empty() {
  return [](const auto& value) { return value.empty() ? std::string("not empty") : std::string(); };
}
// Applies a check to every element of an array.
template <class Check>
auto each(Check check) {
  return [check = std::move(check)](const auto& values) {
    for (const auto& value : values) {
      if (const std::string allowed = check(value); !allowed.empty()) return "every element " + allowed;
    }
    return std::string();
  };
}
// No check.
struct AnyValue {
  std::string operator()(const auto&) const { return {}; }
};

}  // namespace rocetune
