// An object of the `dcb` tool as JSON: keys as in its text, with underscores.
#pragma once

#include "agent/evidence/format.h"

namespace rocetune::evidence {

// Nothing for another object. "{}" is what an empty table prints: the file's name says of which object
// ("hostB.app.json").
std::optional<Document> dcb_from_json(const boost::json::value& json, const Context& context);

}  // namespace rocetune::evidence
