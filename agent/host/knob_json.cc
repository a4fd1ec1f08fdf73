#include "agent/host/knob_json.h"

#include <algorithm>

namespace rocetune {

void JsonForm<host::KnobValue>::write(JsonWriter& out, const host::KnobValue& value) {
  std::visit([&](const auto& alternative) { to_json(out, alternative); }, value);
}

namespace host {
namespace {

template <class T>
Expected<KnobValue> alternative(const Json& json, const JsonPath& path) {
  return from_json<T>(json, path).map([](T value) { return KnobValue(std::move(value)); });
}

Expected<KnobValue> read_value(KnobKind kind, const Json& json, const JsonPath& path) {
  switch (kind) {
    case KnobKind::dcbx_mode:
      return alternative<DcbxMode>(json, path);
    case KnobKind::pfc:
      return alternative<PfcSetting>(json, path);
    case KnobKind::ets:
      return alternative<EtsSetting>(json, path);
    case KnobKind::app_table:
      return alternative<std::vector<AppEntry>>(json, path);
    case KnobKind::buffers:
      return alternative<BufferSetting>(json, path);
    case KnobKind::global_pause:
      return alternative<GlobalPause>(json, path);
    default:
      return alternative<std::int64_t>(json, path);
  }
}

}  // namespace

std::string to_json_text(const KnobValue& value) {
  JsonWriter out(JsonWriter::Style::compact);
  to_json(out, value);
  return out.take();
}

Expected<KnobValue> knob_value_from_json(KnobKind kind, const Json& json, const JsonPath& path) {
  auto value = read_value(kind, json, path);
  if (!value) return value;
  if (auto* app = std::get_if<std::vector<AppEntry>>(&*value)) std::sort(app->begin(), app->end());
  if (!is_valid(kind, *value)) {
    return fail(ErrorKind::bad_input, "{}: out of range for {}", path.text(), enum_name(kind));
  }
  return value;
}

}  // namespace host
}  // namespace rocetune
