#include "dataplane/base/toml_document.h"

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
#include <utility>

namespace rocetune::toml_detail {
namespace {

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

}  // namespace

tl::expected<Node, InputIssue> parse_document(std::string_view text, const std::string& file) {
  if (const int line = line_nested_too_deeply(text); line != 0) {
    return tl::unexpected(InputIssue{SourcePlace{file, line, 1}, "", "a key nested too deeply",
                                     fmt::format("at most {} dots in a line", kDotsPerLine), ""});
  }
  const toml::parse_result parsed = toml::parse(text, std::string_view());
  if (!parsed) {
    const toml::parse_error& error = parsed.error();
    const toml::source_position at = error.source().begin;
    return tl::unexpected(InputIssue{SourcePlace{file, to_int(at.line), to_int(at.column)}, "",
                                     fmt::format("text that is not TOML ({})", error.description()),
                                     "TOML 1.0", ""});
  }
  return converted(parsed.table());
}

}  // namespace rocetune::toml_detail
