#include "dataplane/base/toml_reader.h"

// Compiled in here, once: Debian's compiled half of the library is a shared object only, and rocetune runs
// where it is merely copied.
#undef TOML_HEADER_ONLY
#undef TOML_SHARED_LIB
#define TOML_HEADER_ONLY 1
#define TOML_EXCEPTIONS 0
#define TOML_ENABLE_FORMATTERS 0
#define TOML_MAX_NESTED_VALUES 32
#include <toml++/toml.h>

#include <algorithm>

#include "dataplane/base/file.h"

namespace rocetune {
namespace {

using toml_detail::Cursor;
using toml_detail::Member;
using toml_detail::Node;
using toml_detail::Reading;

// Nested values are limited by the library, but a dotted key ("a.a.a.a...") nests without a limit, and both
// the library and we walk tables recursively. So lines with more dots between key-like characters than
// anybody writes are refused beforehand.
constexpr int kDotsPerLine = 64;

bool is_key_like(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-' ||
         c == '"' || c == '\'' || c == ' ' || c == '\t';
}

// The number of the first line that nests too deeply, or 0.
int line_nested_too_deeply(std::string_view text) {
  int line = 1;
  int dots = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\n') {
      ++line;
      dots = 0;
    } else if (text[i] == '.' && i > 0 && i + 1 < text.size() && is_key_like(text[i - 1]) &&
               is_key_like(text[i + 1])) {
      if (++dots > kDotsPerLine) return line;
    }
  }
  return 0;
}

int to_int(toml::source_index index) {
  return static_cast<int>(std::min<toml::source_index>(index, INT32_MAX));
}

Node converted(const toml::node& from) {
  Node out;
  out.line = to_int(from.source().begin.line);
  out.column = to_int(from.source().begin.column);
  if (const auto* string = from.as_string()) {
    out.kind = Node::Kind::string;
    out.text = string->get();
  } else if (const auto* integer = from.as_integer()) {
    out.kind = Node::Kind::integer;
    out.integer = integer->get();
  } else if (const auto* real = from.as_floating_point()) {
    out.kind = Node::Kind::real;
    out.real = real->get();
  } else if (const auto* boolean = from.as_boolean()) {
    out.kind = Node::Kind::boolean;
    out.boolean = boolean->get();
  } else if (const auto* array = from.as_array()) {
    out.kind = Node::Kind::array;
    for (const toml::node& element : *array) out.elements.push_back(converted(element));
  } else if (const auto* table = from.as_table()) {
    out.kind = Node::Kind::table;
    for (const auto& [key, value] : *table) {
      out.members.push_back({std::string(key.str()), to_int(key.source().begin.line),
                             to_int(key.source().begin.column), converted(value)});
    }
    std::stable_sort(out.members.begin(), out.members.end(), [](const Member& a, const Member& b) {
      return std::pair(a.line, a.column) < std::pair(b.line, b.column);
    });
  } else {
    out.kind = Node::Kind::date_time;
  }
  return out;
}

std::string shown(const Node& node) {
  constexpr std::size_t kShown = 60;
  switch (node.kind) {
    case Node::Kind::string:
      return node.text.size() <= kShown ? fmt::format("\"{}\"", node.text)
                                        : fmt::format("\"{}...\"", node.text.substr(0, kShown));
    case Node::Kind::integer:
      return fmt::format("{}", node.integer);
    case Node::Kind::real:
      return fmt::format("{}", node.real);
    case Node::Kind::boolean:
      return node.boolean ? "true" : "false";
    case Node::Kind::date_time:
      return "a date or time";
    case Node::Kind::array:
      return fmt::format("an array of {}", node.elements.size());
    case Node::Kind::table:
      return "a table";
  }
  return "?";
}

std::string joined(const std::vector<std::string>& names) {
  std::string out;
  for (const std::string& name : names) out += (out.empty() ? "" : ", ") + name;
  return out;
}

}  // namespace

namespace toml_detail {

std::string without_reason(std::string allowed) {
  const std::size_t reason = allowed.rfind(" (");
  if (allowed.ends_with(')') && reason > allowed.rfind("such as")) allowed.erase(reason);
  return allowed;
}

bool Cursor::wrong(std::string_view allowed) const {
  reading->issues.push_back(
      {SourcePlace{reading->file, node->line, node->column}, name, shown(*node), std::string(allowed), ""});
  return false;
}

bool Cursor::wrong_name(std::string_view allowed, const std::vector<std::string>& candidates) const {
  wrong(allowed);
  if (is(Node::Kind::string)) reading->issues.back().nearest = nearest_name(node->text, candidates);
  return false;
}

Cursor Cursor::element(std::size_t index) const {
  return {reading, &node->elements[index], fmt::format("{}[{}]", name, index)};
}

Cursor Cursor::member(const Member& member) const {
  return {reading, &member.value, name + "." + member.name};
}

}  // namespace toml_detail

TableReader::TableReader(Reading& reading, const Node& node, std::string name)
    : reading_(&reading), node_(&node), name_(std::move(name)) {}

const Member* TableReader::find(std::string_view key) const {
  const auto found = std::find_if(node_->members.begin(), node_->members.end(),
                                  [&](const Member& member) { return member.name == key; });
  return found == node_->members.end() ? nullptr : &*found;
}

std::string TableReader::full_name(std::string_view key) const {
  if (key.empty()) return name_;
  return name_.empty() ? std::string(key) : name_ + "." + std::string(key);
}

std::optional<Cursor> TableReader::ask(std::string_view key) {
  if (std::find(asked_.begin(), asked_.end(), key) == asked_.end()) asked_.emplace_back(key);
  const Member* member = find(key);
  if (member == nullptr) return std::nullopt;
  return Cursor{reading_, &member->value, full_name(key)};
}

bool TableReader::missing(std::string_view key, std::string_view allowed) {
  reading_->issues.push_back({place(), full_name(key), "nothing", fmt::format("{} (required)", allowed), ""});
  return false;
}

void TableReader::run(const Cursor& at, const TomlRead& read) {
  TableReader sub(*reading_, *at.node, at.name);
  read(sub);
  sub.report_unknown();
}

bool TableReader::table(std::string_view key, const TomlRead& read) {
  const auto at = ask(key);
  if (!at) return false;
  if (!at->is(Node::Kind::table)) return at->wrong("a table");
  run(*at, read);
  return true;
}

bool TableReader::required_table(std::string_view key, const TomlRead& read) {
  if (!ask(key)) return missing(key, "a table");
  return table(key, read);
}

void TableReader::run_each(const Cursor& at, const TomlRead& read) {
  if (!at.is(Node::Kind::array)) {
    at.wrong("an array of tables");
    return;
  }
  for (std::size_t i = 0; i < at.node->elements.size(); ++i) {
    const Cursor element = at.element(i);
    if (element.is(Node::Kind::table))
      run(element, read);
    else
      element.wrong("a table");
  }
}

void TableReader::array_of_tables(std::string_view key, const TomlRead& read) {
  if (const auto at = ask(key)) run_each(*at, read);
}

void TableReader::required_array_of_tables(std::string_view key, const TomlRead& read) {
  const auto at = ask(key);
  if (!at)
    missing(key, "an array of tables");
  else if (at->is(Node::Kind::array) && at->node->elements.empty())
    at->wrong("at least one table");
  else
    run_each(*at, read);
}

void TableReader::named_tables(std::string_view key,
                               const std::function<void(const std::string&, TableReader&)>& read) {
  table(key, [&](TableReader& outer) { outer.other_tables(read); });
}

void TableReader::other_tables(const std::function<void(const std::string&, TableReader&)>& read) {
  for (const Member& member : node_->members) {
    if (std::find(asked_.begin(), asked_.end(), member.name) != asked_.end()) continue;
    table(member.name, [&](TableReader& sub) { read(member.name, sub); });
  }
}

bool TableReader::has(std::string_view key) const { return find(key) != nullptr; }

std::vector<std::string> TableReader::keys() const {
  std::vector<std::string> out;
  for (const Member& member : node_->members) out.push_back(member.name);
  return out;
}

SourcePlace TableReader::place(std::string_view key) const {
  const Member* member = key.empty() ? nullptr : find(key);
  if (member != nullptr) return {reading_->file, member->line, member->column};
  return {reading_->file, node_->line, node_->column};
}

void TableReader::reject(std::string_view key, std::string allowed, std::string nearest) {
  const Member* member = key.empty() ? nullptr : find(key);
  std::string found = key.empty() ? "this table" : member == nullptr ? "nothing" : shown(member->value);
  issue(key, std::move(found), std::move(allowed), std::move(nearest));
}

void TableReader::issue(std::string_view key, std::string found, std::string allowed, std::string nearest) {
  reading_->issues.push_back(
      {place(key), full_name(key), std::move(found), std::move(allowed), std::move(nearest)});
}

void TableReader::report_unknown() {
  std::vector<std::string> absent_names;  // a misspelt key most likely stands for one that is not there
  for (const std::string& name : asked_) {
    if (!has(name)) absent_names.push_back(name);
  }
  for (const Member& member : node_->members) {
    if (std::find(asked_.begin(), asked_.end(), member.name) != asked_.end()) continue;
    std::string nearest = nearest_name(member.name, absent_names);
    if (nearest.empty()) nearest = nearest_name(member.name, asked_);
    issue(member.name, "an unknown key", asked_.empty() ? "no keys here" : joined(asked_),
          std::move(nearest));
  }
}

std::vector<InputIssue> toml_issues(std::string_view text, const std::string& file, const TomlRead& read) {
  if (const int line = line_nested_too_deeply(text); line != 0) {
    return {{SourcePlace{file, line, 1}, "", "a key nested too deeply",
             fmt::format("at most {} dots in a line", kDotsPerLine), ""}};
  }
  const toml::parse_result parsed = toml::parse(text, std::string_view());
  if (!parsed) {
    const toml::parse_error& error = parsed.error();
    return {{SourcePlace{file, to_int(error.source().begin.line), to_int(error.source().begin.column)}, "",
             fmt::format("text that is not TOML ({})", error.description()), "TOML 1.0", ""}};
  }
  Reading reading{file, {}};
  const Node root = converted(parsed.table());
  TableReader top(reading, root, "");
  read(top);
  top.report_unknown();
  std::stable_sort(reading.issues.begin(), reading.issues.end(),
                   [](const InputIssue& a, const InputIssue& b) {
                     return std::pair(a.place.line, a.place.column) < std::pair(b.place.line, b.place.column);
                   });
  return std::move(reading.issues);
}

Expected<> read_toml(std::string_view text, const std::string& file, const TomlRead& read) {
  const std::vector<InputIssue> issues = toml_issues(text, file, read);
  if (!issues.empty()) return tl::unexpected(bad_input(issues));
  return {};
}

Expected<> read_toml_file(const std::string& path, const TomlRead& read) {
  return read_file(path, kTomlFileLimit).and_then([&](const std::string& text) {
    return read_toml(text, path, read);
  });
}

}  // namespace rocetune
