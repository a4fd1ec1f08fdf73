#include "agent/tune/twin/twin_report.h"

#include <cmath>

#include "agent/tune/search/interval.h"
#include "dataplane/base/reflect_json.h"

namespace rocetune::twin {
namespace {

void write_mapping(JsonWriter& out, const Twin& twin) {
  const search::Space& space = twin.hosts().space();
  out.member("file", twin.file()).member("fabric", twin.scenario().name);
  out.key("ports").begin_array();
  for (const TwinPort& port : twin.ports()) {
    out.begin_object().member("host", port.host_name).member("port", port.port);
    out.member("plays", fmt::format("h{}", port.id)).end_object();
  }
  out.end_array().key("workloads").begin_array();
  for (const Twin::Pair& pair : twin.workloads())
    out.begin_object().member("of_hosts", pair.of_hosts).member("of_twin", pair.of_twin).end_object();
  out.end_array().key("knobs").begin_array();
  for (const TwinKnob& knob : twin.knobs()) {
    out.begin_object().member("knob", space[knob.knob].name).member("counterpart", knob.counterpart);
    out.end_object();
  }
  out.end_array().key("not_predicted");
  to_json(out, twin.not_predicted());
  out.key("not_taken_over");
  to_json(out, twin.not_taken_over());
}

void write_predictions(JsonWriter& out, const search::Space& space, const search::Guidance& guidance) {
  out.key("predictions").begin_array();
  for (const search::Foretold& one : guidance.foretold) {
    out.begin_object().member("trial", one.trial).key("settings").begin_array();
    for (const search::Setting& setting : space.difference(space.start(), one.candidate))
      out.value(space[setting.knob].name + "=" + space[setting.knob].text(setting.value));
    out.end_array().member("predicted_percent", search::percent_of(one.expected));
    if (one.measured) out.member("measured_percent", search::percent_of(*one.measured));
    out.member("ran", one.measured.has_value()).end_object();
  }
  out.end_array();
}

}  // namespace

search::Foresight foresight_of(const search::Outcome& outcome) {
  return search::foresight_of(outcome.guidance.value_or(search::Guidance()));
}

std::optional<int> spared_trials(const search::Outcome& outcome) {
  if (!outcome.guidance || !outcome.guidance->is_followed || outcome.budget_trials == 0) return std::nullopt;
  return outcome.budget_trials - static_cast<int>(outcome.trials.size());
}

void write_twin(JsonWriter& out, const Twin& twin) {
  out.key("twin").begin_object();
  write_mapping(out, twin);
  out.end_object();
}

void write_twin(JsonWriter& out, const Twin& twin, const TwinReport& report, const search::Outcome& outcome) {
  out.key("twin").begin_object();
  write_mapping(out, twin);
  if (!report.failure.empty()) out.member("failure", report.failure);
  out.key("fit").begin_object().member("runs", report.fit_runs);
  out.member("misfit_before", report.misfit_before).member("misfit", report.misfit);
  out.key("observed");
  to_json(out, report.observed);
  out.key("parameters");
  to_json(out, report.parameters);
  out.key("not_fitted");
  to_json(out, report.not_fitted);
  out.end_object().key("search").begin_object().member("trials", report.search_trials);
  out.member("reason", report.search_reason).member("proposed", report.proposed).end_object();
  if (outcome.guidance) write_predictions(out, twin.hosts().space(), *outcome.guidance);
  const search::Foresight foresight = foresight_of(outcome);
  out.key("foresight").begin_object().member("belief", enum_name(foresight.belief));
  out.member("right", foresight.right).member("of", foresight.of);
  if (foresight.rank_correlation) out.member("rank_correlation", *foresight.rank_correlation);
  if (foresight.median_error_percent) out.member("median_error_percent", *foresight.median_error_percent);
  out.member("says", foresight.says);
  out.member("was_followed", outcome.guidance && outcome.guidance->is_followed).end_object();
  out.member("host_trials", static_cast<std::int64_t>(outcome.trials.size()));
  if (const auto spared = spared_trials(outcome)) out.member("host_trials_spared", *spared);
  out.end_object();
}

}  // namespace rocetune::twin
