#include "dataplane/base/json_reader.h"

#include <boost/json/basic_parser_impl.hpp>
#include <boost/json/value_stack.hpp>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

namespace rocetune {
namespace {

using ErrorCode = boost::json::error_code;
using Text = boost::json::string_view;

// Builds the value, with numbers read exactly: the library's own reading of doubles may be off in the last
// bit (before its 1.84), and a number that was written must read back equal.
class Builder {
 public:
  // NOLINTBEGIN(readability-identifier-naming): the parser asks for these names.
  static constexpr std::size_t max_object_size = boost::json::object::max_size();
  static constexpr std::size_t max_array_size = boost::json::array::max_size();
  static constexpr std::size_t max_key_size = boost::json::string::max_size();
  static constexpr std::size_t max_string_size = boost::json::string::max_size();
  // NOLINTEND(readability-identifier-naming)

  void start() { stack_.reset(); }
  Json take() { return stack_.release(); }

  bool on_document_begin(ErrorCode&) { return true; }
  bool on_document_end(ErrorCode&) { return true; }
  bool on_object_begin(ErrorCode&) { return true; }
  bool on_object_end(std::size_t n, ErrorCode&) { return stack_.push_object(n), true; }
  bool on_array_begin(ErrorCode&) { return true; }
  bool on_array_end(std::size_t n, ErrorCode&) { return stack_.push_array(n), true; }
  bool on_key_part(Text part, std::size_t, ErrorCode&) { return stack_.push_chars(part), true; }
  bool on_key(Text rest, std::size_t, ErrorCode&) { return stack_.push_key(rest), true; }
  bool on_string_part(Text part, std::size_t, ErrorCode&) { return stack_.push_chars(part), true; }
  bool on_string(Text rest, std::size_t, ErrorCode&) { return stack_.push_string(rest), true; }
  // The text comes at once, so a number never has parts.
  bool on_number_part(Text, ErrorCode&) { return true; }
  bool on_int64(std::int64_t n, Text, ErrorCode&) { return stack_.push_int64(n), true; }
  bool on_uint64(std::uint64_t n, Text, ErrorCode&) { return stack_.push_uint64(n), true; }
  bool on_double(double rough, Text digits, ErrorCode& error) {
    double exact = 0;
    const auto result = std::from_chars(digits.data(), digits.data() + digits.size(), exact);
    if (result.ec == std::errc::result_out_of_range && std::abs(rough) < 1) {
      exact = 0;  // smaller than any double
    } else if (result.ec != std::errc() || result.ptr != digits.data() + digits.size()) {
      error = boost::json::error::exponent_overflow;
      return false;
    }
    return stack_.push_double(exact), true;
  }
  bool on_bool(bool b, ErrorCode&) { return stack_.push_bool(b), true; }
  bool on_null(ErrorCode&) { return stack_.push_null(), true; }
  bool on_comment_part(Text, ErrorCode&) { return true; }
  bool on_comment(Text, ErrorCode&) { return true; }

 private:
  boost::json::value_stack stack_;
};

}  // namespace

Expected<Json> parse_json(std::string_view text, const std::string& name) {
  boost::json::parse_options options;
  options.max_depth = 64;
  boost::json::basic_parser<Builder> parser(options);
  parser.handler().start();
  ErrorCode error;
  const std::size_t used = parser.write_some(false, text.data(), text.size(), error);
  if (!error && text.find_first_not_of(" \t\r\n", used) != std::string_view::npos) {
    error = boost::json::error::extra_data;
  }
  if (error) {
    const std::string_view before = text.substr(0, std::min(used, text.size()));
    const int line = 1 + static_cast<int>(std::count(before.begin(), before.end(), '\n'));
    const std::size_t start = before.rfind('\n');
    const int column =
        static_cast<int>(before.size() - (start == std::string_view::npos ? 0 : start + 1)) + 1;
    return tl::unexpected(bad_input({InputIssue{SourcePlace{name, line, column}, "", "text that is not JSON",
                                                fmt::format("one JSON value ({})", error.message()), ""}}));
  }
  return parser.handler().take();
}

JsonPath JsonPath::member(std::string_view name) const {
  return JsonPath(text_ + (text_.empty() ? "" : ".") + std::string(name));
}

JsonPath JsonPath::element(std::size_t index) const { return JsonPath(text_ + fmt::format("[{}]", index)); }

const Json* json_member(const Json& json, std::string_view name) {
  return json.is_object() ? json.get_object().if_contains({name.data(), name.size()}) : nullptr;
}

Expected<std::int64_t> signed_integer(const Json& json, const JsonPath& path, std::size_t bits) {
  const std::int64_t high = std::numeric_limits<std::int64_t>::max() >> (64 - bits);
  if (json.is_int64() && json.get_int64() >= -high - 1 && json.get_int64() <= high) return json.get_int64();
  return wrong_json(path, json, fmt::format("an integer of {} bits", bits));
}

Expected<std::uint64_t> unsigned_integer(const Json& json, const JsonPath& path, std::size_t bits) {
  const std::uint64_t high = std::numeric_limits<std::uint64_t>::max() >> (64 - bits);
  if (json.is_uint64() && json.get_uint64() <= high) return json.get_uint64();
  if (json.is_int64() && json.get_int64() >= 0) {
    const auto number = static_cast<std::uint64_t>(json.get_int64());
    if (number <= high) return number;
  }
  return wrong_json(path, json, fmt::format("an integer of {} bits", bits));
}

Expected<std::size_t> index_of_name(const Json& json, const JsonPath& path,
                                    std::span<const std::string_view> names) {
  if (json.is_string()) {
    const auto found = std::find(names.begin(), names.end(), std::string_view(json.get_string()));
    if (found != names.end()) return static_cast<std::size_t>(found - names.begin());
  }
  return wrong_json(path, json, fmt::format("{}", fmt::join(names, ", ")));
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
