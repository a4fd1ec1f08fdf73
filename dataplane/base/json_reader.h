// Reads JSON that we or other programs wrote. Parsing is Boost.JSON's; this adds positions and paths to its
// errors. Include only where JSON is read: the header is heavy.
#pragma once

#include <boost/json/value.hpp>

#include "dataplane/base/error.h"

namespace rocetune {

using Json = boost::json::value;

// The whole of `text` as one JSON value. Error: bad_input with `name`, line and column. Depth limit 64.
Expected<Json> parse_json(std::string_view text, const std::string& name);

// Where in a document we are, for error messages: "ports[2].dcb.pfc".
class JsonPath {
 public:
  explicit JsonPath(std::string file) : text_(std::move(file)) {}
  JsonPath member(std::string_view name) const {
    return JsonPath(text_ + (text_.empty() ? "" : ".") + std::string(name));
  }
  JsonPath element(std::size_t index) const { return JsonPath(text_ + fmt::format("[{}]", index)); }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

std::string_view json_kind(const Json&);  // "object", "number", ...
// Error text: "<path>: found <kind>, allowed: <allowed>".
tl::unexpected<Error> wrong_json(const JsonPath& path, const Json& found, std::string_view allowed);

}  // namespace rocetune
