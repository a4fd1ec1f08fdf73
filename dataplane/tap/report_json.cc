#include "dataplane/tap/report.h"

namespace rocetune::tap {

std::string json_report(const TapFacts& facts, const std::string& name) {
  JsonWriter out;
  out.begin_object().member("schema_version", kTapSchemaVersion).member("file", name);
  out.key("facts").begin_object();
  for (const FactValue& fact : fact_values(facts)) {
    if (fact.is_integer) {
      out.member(fact.name, fact.integer);
    } else {
      out.member(fact.name, fact.real);
    }
  }
  out.end_object();
  out.key("capture");
  to_json(out, facts);
  out.end_object();
  return out.take();
}

Expected<TapFacts> facts_from_report(std::string_view text, const std::string& name) {
  const auto json = parse_json(text, name);
  if (!json) return tl::unexpected(json.error());
  const JsonPath top(name);
  const Json* capture = json_member(*json, "capture");
  if (capture == nullptr) return wrong_json(top, *json, "a report of rocetune tap --json");
  const JsonPath path = top.member("capture");
  auto facts = from_json<TapFacts>(*capture, path);
  if (!facts) return facts;
  // Rows name each other by their place.
  const auto rows = static_cast<std::int64_t>(facts->queue_pairs.size());
  for (const QueuePairFacts& pair : facts->queue_pairs) {
    if (pair.peer && (*pair.peer < 0 || *pair.peer >= rows)) {
      return fail(ErrorKind::bad_input, "{}: queue_pairs: found peer {}, allowed: 0..{}", path.text(),
                  *pair.peer, rows - 1);
    }
  }
  return facts;
}

}  // namespace rocetune::tap
