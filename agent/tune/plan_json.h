// JSON of the parts that reflection cannot do alone: a change's values take their shape from its knob.
// Include before to_json or from_json of anything that holds a Change.
#pragma once

#include "agent/tune/plan.h"
#include "dataplane/base/reflect_json.h"

namespace rocetune {

namespace tune {
void to_json(JsonWriter& out, const Change& change);
void value_to_json(JsonWriter& out, const host::KnobValue& value);
Expected<host::KnobValue> value_from_json(host::KnobKind kind, const Json& json, const JsonPath& path);
}  // namespace tune

template <>
Expected<tune::Change> from_json<tune::Change>(const Json& json, const JsonPath& path);

// What a plan's structure must satisfy beyond its fields' kinds; `path` is where the plan stands.
Expected<tune::Plan> checked_plan(tune::Plan plan, const JsonPath& path);

}  // namespace rocetune
