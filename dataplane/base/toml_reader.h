// Reads TOML files that people write: profiles, counter tables, rules. A reading function asks for the keys
// it knows; every complaint is collected with its place, and reading fails once, with all of them.
//
//   Expected<Profile> load(const std::string& path) {
//     Profile out;
//     return read_toml_file(path, [&](TableReader& t) {
//              t.required("name", out.name, not_empty());
//              t.optional("cable", out.cable, between(Metres(1), Metres(500)));   // cable = "7m"
//              t.table("pfc", [&](TableReader& pfc) { pfc.required("priorities", out.lossless); });
//              t.array_of_tables("change", [&](TableReader& change) { ... });
//              if (out.kmin > out.kmax) t.reject("kmin", "at most kmax (" + to_text(out.kmax) + ")");
//            }).map([&] { return std::move(out); });
//   }
//
// A key nobody asked for is an issue with the nearest name that somebody did ask for. The TOML library is
// seen only in toml_reader.cc. TOML 1.0: https://toml.io/en/v1.0.0
#pragma once

#include <array>
#include <concepts>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "congestion/units.h"
#include "dataplane/base/error.h"
#include "dataplane/base/reflect.h"

namespace rocetune {

class TableReader;
using TomlRead = std::function<void(TableReader&)>;

// Files larger than this are refused: nobody writes 16 MiB of settings by hand.
inline constexpr Bytes kTomlFileLimit{16 << 20};

// Runs `read` on the file's top-level table. Errors: bad_input with every issue ("file:line:column: key:
// found
// ..., allowed: ..."), syntax errors included; absent, denied or io if the file cannot be read.
Expected<> read_toml_file(const std::string& path, const TomlRead& read);
// The same on a text; `file` names it in issues.
Expected<> read_toml(std::string_view text, const std::string& file, const TomlRead& read);
// The issues alone, sorted by place, for callers that gather those of several files before they fail.
std::vector<InputIssue> toml_issues(std::string_view text, const std::string& file, const TomlRead& read);

// ---- checks: called with the value read, they return what is allowed, or empty if the value is ----------

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
inline constexpr auto any_value = [](const auto&) { return std::string(); };

// ---- inside: the parsed document ------------------------------------------------------------------------

namespace toml_detail {

struct Member;
struct Node {
  enum class Kind { string, integer, real, boolean, date_time, array, table };
  Kind kind = Kind::table;
  int line = 0;
  int column = 0;
  std::string text;  // of a string
  std::int64_t integer = 0;
  double real = 0;
  bool boolean = false;
  std::vector<Node> elements;   // of an array
  std::vector<Member> members;  // of a table, as they stand in the file
};
struct Member {
  std::string name;
  int line = 0;
  int column = 0;
  Node value;
};

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

}  // namespace toml_detail

// ---- the reader of one table ----------------------------------------------------------------------------
//
// T may be std::string, bool, any integer, double, Bytes, Duration, BitRate, Ratio, Metres (strings with
// their unit), Priority, TrafficClass, Dscp (integers, or text as units.h parses it), PrioritySet, an enum
// with EnumNames, std::vector<T>, std::array<T, N>, std::map<std::string, T> and std::optional<T>.
class TableReader {
 public:
  TableReader(const TableReader&) = delete;
  TableReader& operator=(const TableReader&) = delete;

  // Reads the key into `out`. False if it is missing, malformed, or rejected by `check`, after an issue was
  // recorded; `out` then keeps its value.
  template <class T, class Check = decltype(any_value)>
  bool required(std::string_view key, T& out, const Check& check = any_value) {
    const auto at = ask(key);
    if (!at) return missing(key, toml_detail::allowed_form<T>());
    return checked(*at, out, check);
  }
  // The same for a key that may be left out, which is no issue and leaves `out` alone. True if it was read.
  template <class T, class Check = decltype(any_value)>
  bool optional(std::string_view key, T& out, const Check& check = any_value) {
    const auto at = ask(key);
    return at && checked(*at, out, check);
  }
  // A string with a form of its own: `parse` is std::string_view -> Parsed<T> (tl::expected<T, UnitError>).
  template <class T, class Parse>
  bool required_text(std::string_view key, T& out, const Parse& parse) {
    const auto at = ask(key);
    return at ? parsed(*at, out, parse) : missing(key, "a string");
  }
  template <class T, class Parse>
  bool optional_text(std::string_view key, T& out, const Parse& parse) {
    const auto at = ask(key);
    return at && parsed(*at, out, parse);
  }

  // A subtable, if it is there. True if it was, and was a table.
  bool table(std::string_view key, const TomlRead& read);
  bool required_table(std::string_view key, const TomlRead& read);
  // Every [[key]] in order; none is no issue.
  void array_of_tables(std::string_view key, const TomlRead& read);
  void required_array_of_tables(std::string_view key, const TomlRead& read);
  // Every subtable of the table `key`, whatever its name: [vendor.mlx5], [vendor.bnxt]. In the file's order.
  void named_tables(std::string_view key,
                    const std::function<void(const std::string& name, TableReader&)>& read);
  // Every subtable of this table that nobody has asked for yet.
  void other_tables(const std::function<void(const std::string& name, TableReader&)>& read);
  // Accepts the key without looking at it.
  void ignore(std::string_view key) { (void)ask(key); }

  bool has(std::string_view key) const;
  // All keys of this table in the file's order, asked for or not.
  std::vector<std::string> keys() const;
  // Where the key stands; where this table begins if it is not there, or if no key is given.
  SourcePlace place(std::string_view key = {}) const;
  // This table's dotted name, "" at the top level: "change[2].pfc".
  const std::string& name() const { return name_; }

  // Adds an issue of the caller's own at `key`: the value there is not what is `allowed`. With no key, the
  // whole table is not.
  void reject(std::string_view key, std::string allowed, std::string nearest = {});
  // The same, with the words for what was found.
  void issue(std::string_view key, std::string found, std::string allowed, std::string nearest = {});
  // No issue so far in the whole file.
  bool is_good() const { return reading_->issues.empty(); }

 private:
  friend std::vector<InputIssue> toml_issues(std::string_view, const std::string&, const TomlRead&);
  TableReader(toml_detail::Reading& reading, const toml_detail::Node& node, std::string name);

  const toml_detail::Member* find(std::string_view key) const;
  // The value of `key` if it is there; from now on the key is known.
  std::optional<toml_detail::Cursor> ask(std::string_view key);
  bool missing(std::string_view key, std::string_view allowed);
  void run(const toml_detail::Cursor& at, const TomlRead& read);
  void run_each(const toml_detail::Cursor& at, const TomlRead& read);
  void report_unknown();
  std::string full_name(std::string_view key) const;

  template <class T, class Check>
  bool checked(const toml_detail::Cursor& at, T& out, const Check& check) {
    T value{};
    if (!toml_detail::read_value(at, value)) return false;
    std::string allowed;
    if constexpr (toml_detail::is_optional<T>::value)
      allowed = check(*value);
    else
      allowed = check(value);
    if (!allowed.empty()) return at.wrong(allowed);
    out = std::move(value);
    return true;
  }
  template <class T, class Parse>
  bool parsed(const toml_detail::Cursor& at, T& out, const Parse& parse) {
    std::string text;
    if (!toml_detail::read_value(at, text)) return false;
    auto value = parse(std::string_view(text));
    if (!value) return at.wrong(value.error().allowed);
    out = std::move(*value);
    return true;
  }

  toml_detail::Reading* reading_;
  const toml_detail::Node* node_;
  std::string name_;
  std::vector<std::string> asked_;
};

}  // namespace rocetune
