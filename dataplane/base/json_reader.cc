#include "dataplane/base/json_reader.h"

#include <boost/json/stream_parser.hpp>

#include <algorithm>

namespace rocetune {

Expected<Json> parse_json(std::string_view text, const std::string& name) {
  boost::json::parse_options options;
  options.max_depth = 64;
  boost::json::stream_parser parser({}, options);
  boost::json::error_code error;
  const std::size_t used = parser.write_some(text.data(), text.size(), error);
  if (!error && used == text.size()) parser.finish(error);
  if (!error && used < text.size()) {
    const std::size_t rest = text.find_first_not_of(" \t\r\n", used);
    if (rest != std::string_view::npos) error = boost::json::error::extra_data;
  }
  if (error || !parser.done()) {
    const std::string_view before = text.substr(0, std::min(used, text.size()));
    const int line = 1 + static_cast<int>(std::count(before.begin(), before.end(), '\n'));
    const std::size_t start = before.rfind('\n');
    const int column =
        static_cast<int>(before.size() - (start == std::string_view::npos ? 0 : start + 1)) + 1;
    return tl::unexpected(bad_input(
        {InputIssue{SourcePlace{name, line, column}, "", "text that is not JSON",
                    fmt::format("one JSON value ({})", error ? error.message() : "incomplete"), ""}}));
  }
  return parser.release();
}

std::string_view json_kind(const Json& value) {
  switch (value.kind()) {
    case boost::json::kind::null:
      return "null";
    case boost::json::kind::bool_:
      return "a boolean";
    case boost::json::kind::int64:
    case boost::json::kind::uint64:
      return "an integer";
    case boost::json::kind::double_:
      return "a number";
    case boost::json::kind::string:
      return "a string";
    case boost::json::kind::array:
      return "an array";
    case boost::json::kind::object:
      return "an object";
  }
  return "?";
}

tl::unexpected<Error> wrong_json(const JsonPath& path, const Json& found, std::string_view allowed) {
  return fail(ErrorKind::bad_input, "{}: found {}, allowed: {}", path.text(), json_kind(found), allowed);
}

}  // namespace rocetune
