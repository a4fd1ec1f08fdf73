// One TOML value into one C++ value, by type; a value that does not fit is recorded as an issue at its place.
// The types are listed at TableReader.
#pragma once

#include <array>
#include <concepts>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "congestion/units.h"
#include "dataplane/base/reflect.h"
#include "dataplane/base/toml_document.h"

namespace rocetune::toml_detail {

// What one reading of one file has found so far.
struct Reading {
  std::string file;
  std::vector<InputIssue> issues;
};

// One value in the document, with the dotted name that leads to it.
struct Cursor {
  Reading* reading;
  const Node* node;
  std::string name;
  // Records that this value is not what is allowed; returns false.
  bool wrong(std::string_view allowed) const;
  bool wrong_name(std::string_view allowed, const std::vector<std::string>& candidates) const;
  bool is(Node::Kind kind) const { return node->kind == kind; }
  Cursor element(std::size_t index) const;
  Cursor member(const Member& member) const;
};

template <class T>
concept SmallCode = requires { T::is_valid(std::int64_t{}); };

// Text forms with a unit, by units.h.
inline Parsed<Bytes> parse(std::string_view text, Bytes) { return parse_bytes(text); }
inline Parsed<Duration> parse(std::string_view text, Duration) { return parse_duration(text); }
inline Parsed<BitRate> parse(std::string_view text, BitRate) { return parse_bit_rate(text); }
inline Parsed<Ratio> parse(std::string_view text, Ratio) { return parse_ratio(text); }
inline Parsed<Metres> parse(std::string_view text, Metres) { return parse_metres(text); }
inline Parsed<Priority> parse(std::string_view text, Priority) { return parse_priority(text); }
inline Parsed<Dscp> parse(std::string_view text, Dscp) { return parse_dscp(text); }
inline Parsed<PrioritySet> parse(std::string_view text, PrioritySet) { return parse_priority_set(text); }
template <class T>
concept HasTextForm = requires(std::string_view text, T value) { parse(text, value); };

// A value as an issue shows it: "\"abc\"", "300", "an array of 2".
std::string found_text(const Node& node);
// "a number with a unit (m km), such as 30m (unit missing)" without what was wrong with one text.
std::string without_reason(std::string allowed);

// How a T is written in TOML: allowed() is what a key of type T may hold, for "missing" and "wrong type";
// read() reads one value into `out`, false after an issue was recorded.
template <class T>
struct TomlForm;

template <class T>
std::string allowed_form() {
  return TomlForm<T>::allowed();
}
template <class T>
bool read_value(const Cursor& at, T& out) {
  return TomlForm<T>::read(at, out);
}

template <>
struct TomlForm<std::string> {
  static std::string allowed() { return "a string"; }
  static bool read(const Cursor& at, std::string& out);
};

template <>
struct TomlForm<bool> {
  static std::string allowed() { return "true or false"; }
  static bool read(const Cursor& at, bool& out);
};

template <std::integral T>
struct TomlForm<T> {
  static std::string allowed() { return "an integer"; }
  static bool read(const Cursor& at, T& out) {
    if (!at.is(Node::Kind::integer)) return at.wrong(allowed());
    if (!std::in_range<T>(at.node->integer)) {
      return at.wrong(fmt::format("{} to {}", std::numeric_limits<T>::min(), std::numeric_limits<T>::max()));
    }
    out = static_cast<T>(at.node->integer);
    return true;
  }
};

template <std::floating_point T>
struct TomlForm<T> {
  static std::string allowed() { return "a number"; }
  static bool read(const Cursor& at, T& out) {
    if (at.is(Node::Kind::integer)) {
      out = static_cast<T>(at.node->integer);
    } else if (at.is(Node::Kind::real) && at.node->real - at.node->real == 0) {  // neither inf nor nan
      out = static_cast<T>(at.node->real);
    } else {
      return at.wrong(allowed());
    }
    return true;
  }
};

template <NamedEnum T>
struct TomlForm<T> {
  static std::string allowed() {
    std::string names;
    for (const auto& [value, name] : EnumNames<T>::names) {
      names += (names.empty() ? "" : ", ") + std::string(name);
    }
    return names;
  }
  static bool read(const Cursor& at, T& out) {
    std::vector<std::string> names;
    for (const auto& [value, name] : EnumNames<T>::names) {
      if (at.is(Node::Kind::string) && at.node->text == name) {
        out = value;
        return true;
      }
      names.emplace_back(name);
    }
    return at.wrong_name(allowed(), names);
  }
};

template <>
struct TomlForm<PrioritySet> {
  static std::string allowed() { return "priorities 0..7 such as [3, 4], 3 or \"none\""; }
  static bool read(const Cursor& at, PrioritySet& out);
};

// A quantity with its unit, a code as its number or as text.
template <class T>
  requires HasTextForm<T> || SmallCode<T>
struct TomlForm<T> {
  static std::string allowed() {
    if constexpr (HasTextForm<T>) {
      return without_reason(parse("", T{}).error().allowed);
    } else {
      return fmt::format("an integer 0..{}", T::kCount - 1);
    }
  }
  static bool read(const Cursor& at, T& out) {
    if constexpr (SmallCode<T>) {
      if (at.is(Node::Kind::integer) && T::is_valid(at.node->integer)) {
        out = T(static_cast<int>(at.node->integer));
        return true;
      }
    }
    if constexpr (HasTextForm<T>) {
      if (at.is(Node::Kind::string)) {
        const auto parsed = parse(at.node->text, T{});
        if (!parsed) return at.wrong(parsed.error().allowed);
        out = *parsed;
        return true;
      }
      // A bare number has no unit: let the unit's parser say so.
      if (at.is(Node::Kind::integer)) {
        const auto parsed = parse(std::to_string(at.node->integer), T{});
        return at.wrong(parsed ? allowed() : parsed.error().allowed);
      }
    }
    return at.wrong(allowed());
  }
};

template <class T>
struct TomlForm<std::optional<T>> {
  static std::string allowed() { return allowed_form<T>(); }
  static bool read(const Cursor& at, std::optional<T>& out) {
    T value{};
    if (!read_value(at, value)) return false;
    out = std::move(value);
    return true;
  }
};

// What a check looks at: the value, also if it was read into an optional.
template <class T>
const T& bare(const T& value) {
  return value;
}
template <class T>
const T& bare(const std::optional<T>& value) {
  return *value;
}

// Every element is looked at, so that one reading names all that are wrong.
template <class Values>
bool read_elements(const Cursor& at, Values values, Values& out) {
  bool good = true;
  for (std::size_t i = 0; i < at.node->elements.size(); ++i) {
    typename Values::value_type value{};
    if (read_value(at.element(i), value)) {
      values[i] = std::move(value);
    } else {
      good = false;
    }
  }
  if (good) out = std::move(values);
  return good;
}

template <class T>
struct TomlForm<std::vector<T>> {
  static std::string allowed() { return "an array, each element " + allowed_form<T>(); }
  static bool read(const Cursor& at, std::vector<T>& out) {
    if (!at.is(Node::Kind::array)) return at.wrong(allowed());
    return read_elements(at, std::vector<T>(at.node->elements.size()), out);
  }
};

template <class T, std::size_t N>
struct TomlForm<std::array<T, N>> {
  static std::string allowed() { return fmt::format("an array of {}, each {}", N, allowed_form<T>()); }
  static bool read(const Cursor& at, std::array<T, N>& out) {
    if (!at.is(Node::Kind::array) || at.node->elements.size() != N) return at.wrong(allowed());
    return read_elements(at, {}, out);
  }
};

template <class T>
struct TomlForm<std::map<std::string, T>> {
  static std::string allowed() { return "a table, each value " + allowed_form<T>(); }
  static bool read(const Cursor& at, std::map<std::string, T>& out) {
    if (!at.is(Node::Kind::table)) return at.wrong(allowed());
    std::map<std::string, T> values;
    bool good = true;
    for (const Member& member : at.node->members) {
      T value{};
      if (read_value(at.member(member), value)) {
        values.emplace(member.name, std::move(value));
      } else {
        good = false;
      }
    }
    if (good) out = std::move(values);
    return good;
  }
};

}  // namespace rocetune::toml_detail
