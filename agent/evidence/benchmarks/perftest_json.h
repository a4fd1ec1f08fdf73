// The JSON file of perftest (--out_json): test_info and results.
#pragma once

#include <boost/json/value.hpp>

#include <optional>

#include "agent/evidence/document.h"
#include "agent/evidence/format.h"

namespace rocetune::evidence {

// Nothing if it is another JSON.
std::optional<Document> perftest_from_json(const boost::json::value& json, const Context& context);

}  // namespace rocetune::evidence
