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

}  // namespace rocetune::tap
