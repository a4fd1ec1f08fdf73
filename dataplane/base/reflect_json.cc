#include "dataplane/base/reflect_json.h"

namespace rocetune {

Expected<> JsonForm<std::string>::read(const Json& json, const JsonPath& path, std::string& out) {
  if (!json.is_string()) return wrong_json(path, json, "a string");
  out = std::string_view(json.get_string());
  return {};
}

Expected<> JsonForm<bool>::read(const Json& json, const JsonPath& path, bool& out) {
  if (!json.is_bool()) return wrong_json(path, json, "true or false");
  out = json.get_bool();
  return {};
}

Expected<> JsonForm<TosByte>::read(const Json& json, const JsonPath& path, TosByte& out) {
  const auto byte = unsigned_integer(json, path, 8);
  if (!byte) return tl::unexpected(byte.error());
  out = TosByte::from_wire(static_cast<std::uint8_t>(*byte));
  return {};
}

void JsonForm<PrioritySet>::write(JsonWriter& out, PrioritySet value) {
  out.begin_array();
  for (const Priority p : value.members()) out.value(p.value());
  out.end_array();
}

Expected<> JsonForm<PrioritySet>::read(const Json& json, const JsonPath& path, PrioritySet& out) {
  std::vector<Priority> members;
  if (auto read = JsonForm<std::vector<Priority>>::read(json, path, members); !read) return read;
  out = PrioritySet();
  for (const Priority p : members) out = out.with(p);
  return {};
}

void JsonForm<Unavailable>::write(JsonWriter& out, const Unavailable& value) {
  out.begin_object();
  out.member("unavailable", enum_name(value.kind)).member("why", value.why);
  out.end_object();
}

Expected<> JsonForm<Unavailable>::read(const Json& json, const JsonPath& path, Unavailable& out) {
  if (const Json* kind = json_member(json, "unavailable")) {
    auto read = JsonForm<Unavailable::Kind>::read(*kind, path.member("unavailable"), out.kind);
    if (!read) return read;
  }
  const Json* why = json_member(json, "why");
  return why == nullptr ? Expected<>() : JsonForm<std::string>::read(*why, path.member("why"), out.why);
}

}  // namespace rocetune
