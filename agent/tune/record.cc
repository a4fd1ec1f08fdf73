#include "agent/tune/record.h"

#include <algorithm>

#include "agent/tune/plan_json.h"

namespace rocetune {

template <>
struct JsonForm<tune::Reading> {
  static void write(JsonWriter& out, const tune::Reading& reading);
  static Expected<> read(const Json& json, const JsonPath& path, tune::Reading& out);
};

namespace tune {

const host::KnobValue* PortBaseline::value_of(const host::Knob& knob) const {
  const auto found =
      std::find_if(knobs.begin(), knobs.end(), [&](const Reading& reading) { return reading.knob == knob; });
  return found == knobs.end() || !found->value ? nullptr : &*found->value;
}

std::vector<std::string> ports_of(const Begin& begin) {
  std::vector<std::string> out;
  for (const PortBaseline& baseline : begin.baseline) out.push_back(baseline.port);
  return out;
}

}  // namespace tune

void JsonForm<tune::Reading>::write(JsonWriter& out, const tune::Reading& reading) {
  out.begin_object();
  out.key("knob");
  to_json(out, reading.knob);
  if (reading.value) {
    out.key("value");
    to_json(out, *reading.value);
  } else {
    out.member("unavailable", reading.unavailable);
  }
  out.end_object();
}

Expected<> JsonForm<tune::Reading>::read(const Json& json, const JsonPath& path, tune::Reading& out) {
  if (!json.is_object()) return wrong_json(path, json, "an object");
  const Json* knob = json_member(json, "knob");
  if (knob == nullptr) return fail(ErrorKind::bad_input, "{}: needs \"knob\"", path.text());
  if (auto read = JsonForm<host::Knob>::read(*knob, path.member("knob"), out.knob); !read) return read;
  if (const Json* value = json_member(json, "value")) {
    auto parsed = host::knob_value_from_json(out.knob.kind, *value, path.member("value"));
    if (!parsed) return tl::unexpected(parsed.error());
    out.value = std::move(*parsed);
  } else if (const Json* why = json_member(json, "unavailable")) {
    return JsonForm<std::string>::read(*why, path.member("unavailable"), out.unavailable);
  }
  return {};
}

namespace tune {
namespace {

// What the kind needs and the record lacks; empty: nothing.
std::string_view missing_part(const Record& record) {
  switch (record.kind) {
    case RecordKind::begin:
      return record.begin ? "" : "begin";
    case RecordKind::step_intent:
      return record.step && record.direction ? "" : "step and direction";
    case RecordKind::revealed:
      return record.step && record.read_back && record.read_back->size() == 1 &&
                     record.read_back->front().value
                 ? ""
                 : "step and one reading";
    case RecordKind::step_done:
      return record.step && record.direction && record.read_back ? "" : "step, direction and read_back";
    case RecordKind::waiting:
      return record.deadline_boottime_ns ? "" : "deadline_boottime_ns";
    case RecordKind::rollback_begin:
    case RecordKind::note:
      return record.reason ? "" : "reason";
    case RecordKind::end:
      return record.outcome ? "" : "outcome";
  }
  return "a known kind";
}

// A number that no clock or flag gives; empty: all are possible. What is read here is computed with later.
std::string_view impossible_number(const Record& record) {
  constexpr std::int64_t kLongest = std::int64_t{30} * 24 * 3600 * 1'000'000'000;  // flags allow a week
  const auto out_of = [](std::int64_t value, std::int64_t high) { return value < 0 || value > high; };
  if (record.at.boottime_ns < 0) return "boottime_ns";
  if (record.deadline_boottime_ns && *record.deadline_boottime_ns < 0) return "deadline_boottime_ns";
  if (!record.begin) return "";
  if (out_of(record.begin->confirm_within_ns.value_or(0), kLongest)) return "confirm_within_ns";
  return out_of(record.begin->soak_ns, kLongest) ? "soak_ns" : "";
}

}  // namespace

std::string to_json_text(const Record& record) {
  JsonWriter out(JsonWriter::Style::compact);
  rocetune::to_json(out, record);
  return out.take();
}

Expected<Record> record_from_json(std::string_view text, const std::string& name) {
  const auto json = parse_json(text, name);
  if (!json) return tl::unexpected(json.error());
  auto record = from_json<Record>(*json, JsonPath(name));
  if (!record) return record;
  if (const std::string_view missing = missing_part(*record); !missing.empty()) {
    return fail(ErrorKind::bad_input, "{}: a record of kind {} without {}", name, enum_name(record->kind),
                missing);
  }
  if (const std::string_view number = impossible_number(*record); !number.empty()) {
    return fail(ErrorKind::bad_input, "{}: {} is out of range", name, number);
  }
  if (record->begin) {
    auto plan = checked_plan(std::move(record->begin->plan), JsonPath(name).member("begin").member("plan"));
    if (!plan) return tl::unexpected(plan.error());
    record->begin->plan = std::move(*plan);
  }
  return record;
}

}  // namespace tune
}  // namespace rocetune
