#include "dataplane/base/toml_reader.h"

#include <algorithm>
#include <cerrno>

#include "dataplane/base/file.h"

namespace rocetune {
namespace {

using toml_detail::Cursor;
using toml_detail::Member;
using toml_detail::Node;
using toml_detail::Reading;

std::string joined(const std::vector<std::string>& names) {
  std::string out;
  for (const std::string& name : names) out += (out.empty() ? "" : ", ") + name;
  return out;
}

}  // namespace

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
  std::string found = key.empty()         ? "this table"
                      : member == nullptr ? "nothing"
                                          : toml_detail::found_text(member->value);
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

std::vector<InputIssue> toml_issues(std::string_view text, const std::string& file, const TomlRead& read,
                                    const std::vector<TomlSetting>& settings) {
  auto root = toml_detail::parse_document(text, file);
  if (!root) return {root.error()};
  for (const TomlSetting& setting : settings) {
    if (const auto issue = apply(*root, setting)) return {*issue};
  }
  Reading reading{file, {}};
  TableReader top(reading, *root, "");
  read(top);
  top.report_unknown();
  std::stable_sort(reading.issues.begin(), reading.issues.end(),
                   [](const InputIssue& a, const InputIssue& b) {
                     return std::pair(a.place.line, a.place.column) < std::pair(b.place.line, b.place.column);
                   });
  return std::move(reading.issues);
}

Expected<> read_toml(std::string_view text, const std::string& file, const TomlRead& read) {
  return read_toml(text, file, {}, read);
}

Expected<> read_toml(std::string_view text, const std::string& file, const std::vector<TomlSetting>& settings,
                     const TomlRead& read) {
  const std::vector<InputIssue> issues = toml_issues(text, file, read, settings);
  if (!issues.empty()) return tl::unexpected(bad_input(issues));
  return {};
}

Expected<> read_toml_file(const std::string& path, const TomlRead& read) {
  const auto text = read_file(path, kTomlFileLimit);
  if (!text) {
    if (text.error().os_error() != EFBIG) return tl::unexpected(text.error());
    return tl::unexpected(bad_input(
        {{SourcePlace{path, 0, 0}, "", "a larger file", "at most " + to_text(kTomlFileLimit), ""}}));
  }
  return read_toml(*text, path, read);
}

}  // namespace rocetune
