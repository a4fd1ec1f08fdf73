#include "dataplane/base/toml_settings.h"

#include <algorithm>
#include <charconv>

#include "dataplane/base/toml_document.h"

namespace rocetune {
namespace {

using toml_detail::Member;
using toml_detail::Node;

InputIssue refusal(const TomlSetting& setting, std::string found, std::string allowed) {
  return {SourcePlace{"--set", 0, 0}, setting.key, std::move(found), std::move(allowed), ""};
}

std::vector<std::string> parts_of(std::string_view key) {
  std::vector<std::string> out;
  while (true) {
    const std::size_t dot = key.find('.');
    out.emplace_back(key.substr(0, dot));
    if (dot == std::string_view::npos) return out;
    key.remove_prefix(dot + 1);
  }
}

// What the value is as TOML; a string if it is none.
Node value_of(const std::string& text) {
  // One value and nothing else: a line feed could begin a key of its own.
  if (text.find('\n') == std::string::npos) {
    auto document = toml_detail::parse_document("value = " + text, "");
    if (document && document->members.size() == 1) {
      Node out = std::move(document->members.front().value);
      out.line = out.column = 0;
      return out;
    }
  }
  Node out;
  out.kind = Node::Kind::string;
  out.text = text;
  return out;
}

}  // namespace

Expected<TomlSetting> toml_setting(std::string_view text, const std::string& flag) {
  const std::size_t equals = text.find('=');
  const std::string_view key = text.substr(0, equals);
  if (equals == std::string_view::npos || key.empty() || key.front() == '.' || key.back() == '.' ||
      key.find("..") != std::string_view::npos)
    return fail(ErrorKind::bad_input, "{}: found {}, allowed: KEY=VALUE, such as switches.kmin=200kB", flag,
                text);
  return TomlSetting{std::string(key), std::string(text.substr(equals + 1))};
}

std::optional<InputIssue> apply(Node& document, const TomlSetting& setting) {
  Node* at = &document;
  const std::vector<std::string> parts = parts_of(setting.key);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const std::string& part = parts[i];
    if (at->kind == Node::Kind::array) {
      std::size_t index = 0;
      const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), index);
      if (error != std::errc() || end != part.data() + part.size() || index >= at->elements.size())
        return refusal(setting, part, fmt::format("the number of an element, below {}", at->elements.size()));
      at = &at->elements[index];
      continue;
    }
    if (at->kind != Node::Kind::table) return refusal(setting, part, "a value, which has no keys of its own");
    const auto known = std::ranges::find(at->members, part, &Member::name);
    if (known != at->members.end()) {
      at = &known->value;
    } else {
      at->members.push_back({part, 0, 0, {}});  // an empty table, until it is given a value
      at = &at->members.back().value;
    }
  }
  Node value = value_of(setting.value);
  value.line = at->line;
  value.column = at->column;
  *at = std::move(value);
  return std::nullopt;
}

}  // namespace rocetune
