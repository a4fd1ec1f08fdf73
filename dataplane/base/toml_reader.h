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

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "dataplane/base/error.h"
#include "dataplane/base/toml_check.h"
#include "dataplane/base/toml_settings.h"
#include "dataplane/base/toml_value.h"

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
// The same with single values put over the text.
Expected<> read_toml(std::string_view text, const std::string& file, const std::vector<TomlSetting>& settings,
                     const TomlRead& read);
// The issues alone, sorted by place, for callers that gather those of several files before they fail.
std::vector<InputIssue> toml_issues(std::string_view text, const std::string& file, const TomlRead& read,
                                    const std::vector<TomlSetting>& settings = {});

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
  template <class T, class Check = AnyValue>
  bool required(std::string_view key, T& out, const Check& check = {}) {
    const auto at = ask(key);
    if (!at) return missing(key, toml_detail::allowed_form<T>());
    return checked(*at, out, check);
  }
  // The same for a key that may be left out, which is no issue and leaves `out` alone. True if it was read.
  template <class T, class Check = AnyValue>
  bool optional(std::string_view key, T& out, const Check& check = {}) {
    const auto at = ask(key);
    return at && checked(*at, out, check);
  }
  // A string with a form of its own, or a number or a truth value, which stand for their (shortest) text:
  // `parse` is std::string_view -> Parsed<T> (tl::expected<T, UnitError>).
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
  friend std::vector<InputIssue> toml_issues(std::string_view, const std::string&, const TomlRead&,
                                             const std::vector<TomlSetting>&);
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
    const std::string allowed = check(toml_detail::bare(value));
    if (!allowed.empty()) return at.wrong(allowed);
    out = std::move(value);
    return true;
  }
  template <class T, class Parse>
  bool parsed(const toml_detail::Cursor& at, T& out, const Parse& parse) {
    std::string text;
    if (at.is(toml_detail::Node::Kind::integer)) {
      text = std::to_string(at.node->integer);
    } else if (at.is(toml_detail::Node::Kind::real)) {
      text = fmt::format("{}", at.node->real);
    } else if (at.is(toml_detail::Node::Kind::boolean)) {
      text = at.node->boolean ? "true" : "false";
    } else if (!toml_detail::read_value(at, text)) {
      return false;
    }
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
