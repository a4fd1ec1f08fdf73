// Single values put over a TOML document before it is read: "switches.kmin" = "200kB", as a command line says
// them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "dataplane/base/error.h"

namespace rocetune {

namespace toml_detail {
struct Node;
}

struct TomlSetting {
  std::string key;    // dotted; elements of arrays by number: "flows.0.bytes"
  std::string value;  // as TOML writes it ("17", "[3, 4]", "\"100kB\""), or a bare word, which is a string
  bool operator==(const TomlSetting&) const = default;
};

// "a.b=value". Error (bad_input) if it is nothing of the kind; `flag` names it.
Expected<TomlSetting> toml_setting(std::string_view text, const std::string& flag);

// Puts it into the document; tables that are not there are made. What stands in the way, if anything.
std::optional<InputIssue> apply(toml_detail::Node& document, const TomlSetting& setting);

}  // namespace rocetune
