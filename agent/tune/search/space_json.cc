#include "agent/tune/search/space_json.h"

#include "dataplane/base/reflect_json.h"

namespace rocetune::search {

void write_space(JsonWriter& out, const Plant& plant, const std::vector<LeftOut>& left_out) {
  out.key("space").begin_array();
  for (const Knob& knob : plant.space().knobs()) {
    out.begin_object().member("name", knob.name).member("meaning", knob.meaning);
    out.member("kind", enum_name(knob.kind)).member("cost", enum_name(knob.cost));
    out.member("start", knob.text(knob.start)).member("start_origin", knob.start_origin);
    if (knob.is_numeric()) {
      out.member("min", knob.min).member("max", knob.max).member("step", knob.step);
      out.member("scale", enum_name(knob.scale)).member("unit", knob.unit);
    }
    if (!knob.choices.empty()) {
      out.key("choices");
      to_json(out, knob.choices);
    }
    if (knob.standard) out.member("standard", knob.text(*knob.standard));
    if (!knob.standard_origin.empty()) out.member("standard_origin", knob.standard_origin);
    out.end_object();
  }
  out.end_array();
  out.key("left_out").begin_array();
  for (const LeftOut& knob : left_out)
    out.begin_object().member("knob", knob.knob).member("why", knob.why).end_object();
  out.end_array();
  out.key("constraints").begin_array();
  for (const Constraint& constraint : plant.constraints()) {
    out.begin_object().member("id", constraint.id).member("rule", constraint.rule);
    out.member("origin", constraint.origin).end_object();
  }
  out.end_array();
  out.key("suggestions").begin_array();
  for (const Suggestion& suggestion : plant.suggestions()) {
    out.begin_object().member("kind", enum_name(suggestion.kind)).member("id", suggestion.id);
    out.member("reason", suggestion.reason).member("settings", plant.space().text(suggestion.settings));
    out.end_object();
  }
  out.end_array();
}

}  // namespace rocetune::search
