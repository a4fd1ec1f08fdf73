// A parsed TOML document as a plain tree with positions: what TableReader walks. The TOML library is seen
// only in toml_document.cc. TOML 1.0: https://toml.io/en/v1.0.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "dataplane/base/error.h"

namespace rocetune::toml_detail {

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

// The document's top-level table, or the one syntax error there is. Nesting is limited: 32 values within
// values, 64 dots in a line.
tl::expected<Node, InputIssue> parse_document(std::string_view text, const std::string& file);

}  // namespace rocetune::toml_detail
