// What a plant lets a search turn, as JSON; keys carry their unit.
#pragma once

#include <vector>

#include "agent/tune/search/plant.h"
#include "dataplane/base/json_writer.h"

namespace rocetune::search {

// Members of an object that the caller has begun and ends: space[], left_out[], constraints[], suggestions[].
void write_space(JsonWriter& out, const Plant& plant, const std::vector<LeftOut>& left_out);

}  // namespace rocetune::search
