#include "agent/tune/fabric_plant/tuning.h"

#include <algorithm>

#include "agent/tune/search/outcome_json.h"
#include "agent/tune/search/space_json.h"
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

void write_policy(JsonWriter& out, const search::Policy& policy) {
  out.key("policy").begin_object().key("weights").begin_object();
  for (const search::ObjectiveKind& kind : search::objective_kinds())
    out.member(kind.name, policy.weight_of(kind.objective));
  out.end_object().member("loss_weight", policy.loss_weight).member("worst_share", policy.worst_share);
  out.member("minimum_gain_percent", policy.minimum_gain_percent);
  out.member("confidence_percent", policy.confidence_percent).end_object();
}

}  // namespace

Expected<search::Policy> policy_for(const FabricPlant& plant, search::Policy policy,
                                    const std::vector<std::string>& objectives, const std::string& flag) {
  for (std::size_t i = 0; i < search::kObjectives; ++i)
    policy.weights[i] = plant.table().weights[i].value_or(policy.weights[i]);
  if (std::ranges::all_of(policy.weights, [](double weight) { return weight == 0; }) && objectives.empty()) {
    return tl::unexpected(bad_input({{.place = {},
                                      .key = "tune.weight",
                                      .found = "0 of every objective",
                                      .allowed = "at least one weight above 0",
                                      .nearest = ""}}));
  }
  return search::with_objectives(policy, objectives, flag);
}

std::vector<Unrepaired> unrepaired_of(const FabricPlant& plant) {
  std::vector<Unrepaired> out;
  for (const FabricFinding& finding : plant.diagnosis().findings) {
    if (!finding.is_hardware) continue;
    const std::string_view fix(finding.fix);
    out.push_back(
        {.where = finding.where,
         .rule = finding.rule,
         .cause = finding.cause,
         .advice = "No setting repairs it (" +
                   std::string(fix.substr(0, fix.size() - (fix.ends_with('.') ? 1 : 0))) +
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
  if (tuning.so_far) {
    out.key("best_so_far").begin_object().member("gain_percent", tuning.so_far->gain_percent);
    out.member("trials", std::int64_t{tuning.so_far->trials}).end_object();
  }
  out.key("plan");
  to_json(out, tuning.plan);
  search::write_best_settings(out, plant.space(), tuning.proposed());
  out.key("switch_names");
  to_json(out, tuning.switch_names);
  out.key("switch_lines");
  to_json(out, tuning.switch_lines);
  write_policy(out, tuning.policy);
  out.key("worsened");
  to_json(out, tuning.worsened);
  out.key("unrepaired");
  to_json(out, tuning.unrepaired);
  out.member("fabric", plant.scenario().name).member("description", plant.scenario().description);
  write_findings(out, plant);
  search::write_space(out, plant, plant.left_out());
  out.end_object();
  return out.take() + "\n";
}

std::string space_json(const FabricPlant& plant) {
  JsonWriter out;
  out.begin_object().member("schema_version", kSchemaVersion).member("fabric", plant.scenario().name);
  out.member("description", plant.scenario().description);
  write_findings(out, plant);
  search::write_space(out, plant, plant.left_out());
  out.end_object();
  return out.take() + "\n";
}

}  // namespace rocetune::fabric_plant
