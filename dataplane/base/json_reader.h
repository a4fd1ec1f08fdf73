// Reads JSON that we or other programs wrote. Parsing is Boost.JSON's; this adds positions and paths to its
// errors. Include only where JSON is read: the header is heavy.
#pragma once

#include <boost/json/value.hpp>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "dataplane/base/error.h"

namespace rocetune {

using Json = boost::json::value;

// The whole of `text` as one JSON value. Error: bad_input with `name`, line and column. Depth limit 64.
Expected<Json> parse_json(std::string_view text, const std::string& name);

// Where in a document we are, for error messages: "ports[2].dcb.pfc".
class JsonPath {
 public:
  explicit JsonPath(std::string file) : text_(std::move(file)) {}
  JsonPath member(std::string_view name) const;
  JsonPath element(std::size_t index) const;
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

// The member of an object; none: nullptr, also where `json` is no object.
const Json* json_member(const Json& json, std::string_view name);

// An integer that fits into `bits`. Error: bad_input with the path.
Expected<std::int64_t> signed_integer(const Json& json, const JsonPath& path, std::size_t bits);
Expected<std::uint64_t> unsigned_integer(const Json& json, const JsonPath& path, std::size_t bits);
// Which of the names the text is. Error: bad_input with the path and all names.
Expected<std::size_t> index_of_name(const Json& json, const JsonPath& path,
                                    std::span<const std::string_view> names);

std::string_view json_kind(const Json&);  // "object", "number", ...
// Error text: "<path>: found <kind>, allowed: <allowed>".
tl::unexpected<Error> wrong_json(const JsonPath& path, const Json& found, std::string_view allowed);

}  // namespace rocetune
