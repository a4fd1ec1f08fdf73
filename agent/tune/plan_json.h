// JSON of the parts that reflection cannot do alone: a change's values take their shape from its knob.
// Include before to_json or from_json of anything that holds a Change.
#pragma once

#include "agent/host/knob_json.h"
#include "agent/tune/plan.h"

namespace rocetune {

template <>
struct JsonForm<tune::Change> {
  static void write(JsonWriter& out, const tune::Change& change);
  static Expected<> read(const Json& json, const JsonPath& path, tune::Change& out);
};

template <>
struct JsonForm<tune::Kept> {
  static void write(JsonWriter& out, const tune::Kept& kept);
  static Expected<> read(const Json& json, const JsonPath& path, tune::Kept& out);
};

// What a plan's structure must satisfy beyond its fields' kinds; `path` is where the plan stands.
Expected<tune::Plan> checked_plan(tune::Plan plan, const JsonPath& path);

}  // namespace rocetune
