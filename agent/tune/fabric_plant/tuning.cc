#include "agent/tune/fabric_plant/tuning.h"

#include <algorithm>
#include <charconv>

#include "agent/tune/search/outcome_json.h"
#include "dataplane/base/reflect_json.h"

namespace rocetune::fabric_plant {
namespace {

constexpr int kSchemaVersion = 1;

void write_findings(JsonWriter& out, const FabricPlant& plant) {
  out.key("findings").begin_array();
  for (const FabricFinding& finding : plant.diagnosis().findings) {
    out.begin_object().member("rule", finding.rule).member("severity", enum_name(finding.severity));
    out.member("where", finding.where).member("cause", finding.cause).member("fix", finding.fix);
    out.key("evidence");
    to_json(out, finding.evidence);
    if (!finding.settings.empty()) out.member("settings", plant.space().text(finding.settings));
    if (!finding.why_no_settings.empty()) out.member("why_no_settings", finding.why_no_settings);
    out.end_object();
  }
  out.end_array();
}

void write_space(JsonWriter& out, const FabricPlant& plant) {
  out.key("space").begin_array();
  for (const search::Knob& knob : plant.space().knobs()) {
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
  for (const LeftOut& knob : plant.left_out())
    out.begin_object().member("knob", knob.knob).member("why", knob.why).end_object();
  out.end_array();
  out.key("constraints").begin_array();
  for (const search::Constraint& constraint : plant.constraints()) {
    out.begin_object().member("id", constraint.id).member("rule", constraint.rule);
    out.member("origin", constraint.origin).end_object();
  }
  out.end_array();
  out.key("suggestions").begin_array();
  for (const search::Suggestion& suggestion : plant.suggestions()) {
    out.begin_object().member("kind", enum_name(suggestion.kind)).member("id", suggestion.id);
    out.member("reason", suggestion.reason).member("settings", plant.space().text(suggestion.settings));
    out.end_object();
  }
  out.end_array();
}

}  // namespace

Expected<search::Policy> policy_for(const FabricPlant& plant, search::Policy policy,
                                    const std::vector<std::string>& objectives, const std::string& flag) {
  for (std::size_t i = 0; i < search::kObjectives; ++i)
    policy.weights[i] = plant.table().weights[i].value_or(policy.weights[i]);
  if (objectives.empty()) return policy;
  std::vector<std::string> names;
  for (const search::ObjectiveKind& kind : search::objective_kinds()) names.emplace_back(kind.name);
  policy.weights.fill(0);
  for (const std::string& text : objectives) {
    const std::string name = text.substr(0, text.find('='));
    double weight = 1;
    bool is_good = std::ranges::find(names, name) != names.end();
    if (name.size() < text.size()) {
      const char* const end = text.data() + text.size();
      const auto read = std::from_chars(text.data() + name.size() + 1, end, weight);
      is_good = is_good && read.ec == std::errc() && read.ptr == end && weight > 0 && weight <= 1000;
    }
    if (!is_good) {
      std::string allowed;
      for (const std::string& one : names) allowed += (allowed.empty() ? "" : ", ") + one;
      return tl::unexpected(bad_input({{.place = {},
                                        .key = flag,
                                        .found = text,
                                        .allowed = allowed + ", each alone or with =WEIGHT above 0, up to 1000",
                                        .nearest = nearest_name(name, names)}}));
    }
    for (const search::ObjectiveKind& kind : search::objective_kinds()) {
      if (kind.name == name) policy.weights[static_cast<std::size_t>(kind.objective)] = weight;
    }
  }
  return policy;
}

std::vector<Unrepaired> unrepaired_of(const FabricPlant& plant) {
  std::vector<Unrepaired> out;
  for (const FabricFinding& finding : plant.diagnosis().findings) {
    if (!finding.is_hardware) continue;
    out.push_back({.where = finding.where,
                   .rule = finding.rule,
                   .cause = finding.cause,
                   .advice = "No setting repairs it (" + finding.fix +
                             "). What keeps the damage small: ECN that acts below Xoff, so that its own senders "
                             "slow down; a NIC that stops to hold its switch (pfc-prevention-tout); taking the "
                             "host out of jobs until it is repaired"});
  }
  return out;
}

std::string json_of(const FabricTuning& tuning, const FabricPlant& plant, bool with_series) {
  JsonWriter out;
  out.begin_object().member("schema_version", kSchemaVersion).member("command", tuning.command);
  search::write_outcome(out, tuning.outcome, plant, with_series);
  out.key("plan");
  to_json(out, tuning.plan);
  out.key("best_settings").begin_array();
  const search::Space& space = plant.space();
  for (const search::Setting& setting : space.difference(space.start(), tuning.outcome.best))
    out.value(space[setting.knob].name + "=" + space[setting.knob].text(setting.value));
  out.end_array();
  out.key("unrepaired");
  to_json(out, tuning.unrepaired);
  out.member("fabric", plant.scenario().name).member("description", plant.scenario().description);
  write_findings(out, plant);
  write_space(out, plant);
  out.end_object();
  return out.take() + "\n";
}

std::string space_json(const FabricPlant& plant) {
  JsonWriter out;
  out.begin_object().member("schema_version", kSchemaVersion).member("fabric", plant.scenario().name);
  out.member("description", plant.scenario().description);
  write_findings(out, plant);
  write_space(out, plant);
  out.end_object();
  return out.take() + "\n";
}

}  // namespace rocetune::fabric_plant
