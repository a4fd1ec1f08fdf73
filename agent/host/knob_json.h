// JSON of a knob's value: its shape depends on the knob's kind, so reading it takes the kind.
#pragma once

#include "agent/host/knob.h"
#include "dataplane/base/reflect_json.h"

namespace rocetune {

template <>
struct JsonForm<host::KnobValue> {
  static void write(JsonWriter& out, const host::KnobValue& value);
};

namespace host {
// Compact, the value alone.
std::string to_json_text(const KnobValue& value);
// Error: bad_input with the path; also what `is_valid` refuses.
Expected<KnobValue> knob_value_from_json(KnobKind kind, const Json& json, const JsonPath& path);
}  // namespace host

}  // namespace rocetune
