// The rules in words: `doctor --explain`, and docs/rules.md, which is what `--explain all` prints.
#pragma once

#include <string>
#include <vector>

#include "dataplane/base/error.h"

namespace rocetune::diagnose {

// All rows of one id, for a terminal. Error: bad_input with the nearest id.
Expected<std::string> explain(const std::string& id);

// The same as JSON; id "all" gives every rule.
Expected<std::string> explain_json(const std::string& id);

// All rules as Markdown.
std::string rules_markdown();

}  // namespace rocetune::diagnose
