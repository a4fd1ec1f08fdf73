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
struct is_vector : std::false_type {};
template <class T>
struct is_vector<std::vector<T>> : std::true_type {};
template <class T>
struct is_array : std::false_type {};
template <class T, std::size_t N>
struct is_array<std::array<T, N>> : std::true_type {};
template <class T>
struct is_optional : std::false_type {};
template <class T>
struct is_optional<std::optional<T>> : std::true_type {};
template <class T>
struct is_string_map : std::false_type {};
template <class T>
struct is_string_map<std::map<std::string, T>> : std::true_type {};

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

// What a key of type T may hold, for "missing" and "wrong type".
template <class T>
std::string allowed_form() {
  if constexpr (is_optional<T>::value) {
    return allowed_form<typename T::value_type>();
  } else if constexpr (std::is_same_v<T, std::string>) {
    return "a string";
  } else if constexpr (std::is_same_v<T, bool>) {
    return "true or false";
  } else if constexpr (std::is_integral_v<T>) {
    return "an integer";
  } else if constexpr (std::is_floating_point_v<T>) {
    return "a number";
  } else if constexpr (NamedEnum<T>) {
    std::string names;
    for (const auto& [value, name] : EnumNames<T>::names)
      names += (names.empty() ? "" : ", ") + std::string(name);
    return names;
  } else if constexpr (std::is_same_v<T, PrioritySet>) {
    return "priorities 0..7 such as [3, 4], 3 or \"none\"";
  } else if constexpr (HasTextForm<T>) {
    return without_reason(parse("", T{}).error().allowed);
  } else if constexpr (SmallCode<T>) {
    return fmt::format("an integer 0..{}", T::kCount - 1);
  } else if constexpr (is_vector<T>::value) {
    return "an array, each element " + allowed_form<typename T::value_type>();
  } else if constexpr (is_array<T>::value) {
    return fmt::format("an array of {}, each {}", std::tuple_size_v<T>,
                       allowed_form<typename T::value_type>());
  } else {
    static_assert(is_string_map<T>::value, "no TOML form for this type");
    return "a table, each value " + allowed_form<typename T::mapped_type>();
  }
}

// Reads one value into `out`; false after an issue was recorded.
template <class T>
bool read_value(const Cursor& at, T& out) {
  using Kind = Node::Kind;
  if constexpr (is_optional<T>::value) {
    typename T::value_type value{};
    if (!read_value(at, value)) return false;
    out = std::move(value);
    return true;
  } else if constexpr (std::is_same_v<T, std::string>) {
    if (!at.is(Kind::string)) return at.wrong(allowed_form<T>());
    out = at.node->text;
    return true;
  } else if constexpr (std::is_same_v<T, bool>) {
    if (!at.is(Kind::boolean)) return at.wrong(allowed_form<T>());
    out = at.node->boolean;
    return true;
  } else if constexpr (std::is_integral_v<T>) {
    if (!at.is(Kind::integer)) return at.wrong(allowed_form<T>());
    if (!std::in_range<T>(at.node->integer)) {
      return at.wrong(fmt::format("{} to {}", std::numeric_limits<T>::min(), std::numeric_limits<T>::max()));
    }
    out = static_cast<T>(at.node->integer);
    return true;
  } else if constexpr (std::is_floating_point_v<T>) {
    if (at.is(Kind::integer)) {
      out = static_cast<T>(at.node->integer);
    } else if (at.is(Kind::real) && at.node->real - at.node->real == 0) {  // neither inf nor nan
      out = static_cast<T>(at.node->real);
    } else {
      return at.wrong(allowed_form<T>());
    }
    return true;
  } else if constexpr (NamedEnum<T>) {
    std::vector<std::string> names;
    for (const auto& [value, name] : EnumNames<T>::names) {
      if (at.is(Kind::string) && at.node->text == name) {
        out = value;
        return true;
      }
      names.emplace_back(name);
    }
    return at.wrong_name(allowed_form<T>(), names);
  } else if constexpr (std::is_same_v<T, PrioritySet>) {
    if (at.is(Kind::array)) {
      std::vector<Priority> members;
      if (!read_value(at, members)) return false;
      out = PrioritySet();
      for (const Priority p : members) out = out.with(p);
      return true;
    }
    if (at.is(Kind::integer) && Priority::is_valid(at.node->integer)) {
      out = PrioritySet::of(Priority(static_cast<int>(at.node->integer)));
      return true;
    }
    const auto parsed = parse_priority_set(at.is(Kind::string) ? at.node->text : "");
    if (!parsed) return at.wrong(allowed_form<T>());
    out = *parsed;
    return true;
  } else if constexpr (HasTextForm<T> || SmallCode<T>) {
    if constexpr (SmallCode<T>) {
      if (at.is(Kind::integer) && T::is_valid(at.node->integer)) {
        out = T(static_cast<int>(at.node->integer));
        return true;
      }
    }
    if constexpr (HasTextForm<T>) {
      if (at.is(Kind::string)) {
        const auto parsed = parse(at.node->text, T{});
        if (!parsed) return at.wrong(parsed.error().allowed);
        out = *parsed;
        return true;
      }
      // A bare number has no unit: let the unit's parser say so.
      if (at.is(Kind::integer)) {
        const auto parsed = parse(std::to_string(at.node->integer), T{});
        return at.wrong(parsed ? allowed_form<T>() : parsed.error().allowed);
      }
    }
    return at.wrong(allowed_form<T>());
  } else if constexpr (is_vector<T>::value || is_array<T>::value) {
    if (!at.is(Kind::array)) return at.wrong(allowed_form<T>());
    if constexpr (is_array<T>::value) {
      if (at.node->elements.size() != std::tuple_size_v<T>) return at.wrong(allowed_form<T>());
    }
    T values{};
    if constexpr (is_vector<T>::value) values.resize(at.node->elements.size());
    bool good = true;
    for (std::size_t i = 0; i < at.node->elements.size(); ++i) {
      typename T::value_type value{};
      if (read_value(at.element(i), value))
        values[i] = std::move(value);
      else
        good = false;
    }
    if (good) out = std::move(values);
    return good;
  } else {
    static_assert(is_string_map<T>::value, "no TOML form for this type");
    if (!at.is(Kind::table)) return at.wrong(allowed_form<T>());
    T values;
    bool good = true;
    for (const Member& member : at.node->members) {
      typename T::mapped_type value{};
      if (read_value(at.member(member), value))
        values.emplace(member.name, std::move(value));
      else
        good = false;
    }
    if (good) out = std::move(values);
    return good;
  }
}

}  // namespace rocetune::toml_detail
