#include "dataplane/base/toml_value.h"

#include "dataplane/base/utf8.h"

namespace rocetune::toml_detail {

std::string found_text(const Node& node) {
  constexpr int kShown = 60;  // columns
  switch (node.kind) {
    case Node::Kind::string:
      return fmt::format("\"{}\"", truncated(printable(node.text), kShown));
    case Node::Kind::integer:
      return fmt::format("{}", node.integer);
    case Node::Kind::real: {
      const std::string text = fmt::format("{}", node.real);
      const bool looks_whole = text.find_first_not_of("-0123456789") == std::string::npos;
      return looks_whole ? text + ".0" : text;
    }
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

std::string without_reason(std::string allowed) {
  const std::size_t reason = allowed.rfind(" (");
  if (allowed.ends_with(')') && reason > allowed.rfind("such as")) allowed.erase(reason);
  return allowed;
}

bool Cursor::wrong(std::string_view allowed) const {
  reading->issues.push_back({SourcePlace{reading->file, node->line, node->column}, name, found_text(*node),
                             std::string(allowed), ""});
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

bool TomlForm<std::string>::read(const Cursor& at, std::string& out) {
  if (!at.is(Node::Kind::string)) return at.wrong(allowed());
  out = at.node->text;
  return true;
}

bool TomlForm<bool>::read(const Cursor& at, bool& out) {
  if (!at.is(Node::Kind::boolean)) return at.wrong(allowed());
  out = at.node->boolean;
  return true;
}

bool TomlForm<PrioritySet>::read(const Cursor& at, PrioritySet& out) {
  if (at.is(Node::Kind::array)) {
    std::vector<Priority> members;
    if (!read_value(at, members)) return false;
    out = PrioritySet();
    for (const Priority p : members) out = out.with(p);
    return true;
  }
  if (at.is(Node::Kind::integer) && Priority::is_valid(at.node->integer)) {
    out = PrioritySet::of(Priority(static_cast<int>(at.node->integer)));
    return true;
  }
  const auto parsed = parse_priority_set(at.is(Node::Kind::string) ? at.node->text : "");
  if (!parsed) return at.wrong(allowed());
  out = *parsed;
  return true;
}

}  // namespace rocetune::toml_detail
