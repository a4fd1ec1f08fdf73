#include "agent/tune/search/outcome_json.h"

#include "agent/tune/search/compared.h"
#include "agent/tune/search/interval.h"
#include "dataplane/base/reflect_json.h"

namespace rocetune::search {
namespace {

class OutcomeWriter {
 public:
  OutcomeWriter(JsonWriter& out, const Plant& plant, bool with_series)
      : out_(out), plant_(plant), space_(plant.space()), with_series_(with_series) {}

  // A number as a number, a choice as its name.
  void value(std::size_t knob, double value) {
    if (space_[knob].is_numeric()) {
      out_.value(value);
    } else {
      out_.value(space_[knob].text(value));
    }
  }

  void changes(const std::vector<Setting>& settings) {
    out_.begin_array();
    for (const Setting& setting : settings) {
      const Knob& knob = space_[setting.knob];
      out_.begin_object().member("knob", knob.name);
      out_.key("from");
      value(setting.knob, knob.start);
      out_.key("to");
      value(setting.knob, setting.value);
      if (!knob.unit.empty()) out_.member("unit", knob.unit);
      out_.member("cost", enum_name(knob.cost)).end_object();
    }
    out_.end_array();
  }
  void changes(const Candidate& candidate) { changes(space_.difference(space_.start(), candidate)); }

  void interval(std::string_view name, const std::optional<Interval>& percent) {
    if (!percent) return;
    out_.key(name);
    to_json(out_, *percent);
  }

  void objectives(std::string_view name, const Objectives& values) {
    out_.key(name);
    to_json(out_, values);
  }

  void noise(const Noise& noise) {
    out_.key("noise").begin_object().member("repeats", noise.repeats).member("score_sd", noise.sd);
    interval("percent", noise.percent);
    out_.end_object();
  }

  void by_workload(std::string_view name, const Outcome& outcome, bool is_best) {
    out_.key(name).begin_object();
    if (is_best) {
      out_.member("cost", enum_name(space_.cost(outcome.best))).key("changes");
      changes(outcome.best);
    }
    out_.key("workloads").begin_object();
    for (const WorkloadResult& result : outcome.workloads) {
      if (is_best && !result.best) continue;
      objectives(plant_.workloads()[result.workload].name, is_best ? *result.best : result.baseline);
    }
    out_.end_object().end_object();
  }

  void workloads(const std::vector<WorkloadResult>& results) {
    out_.key("workloads").begin_array();
    for (const WorkloadResult& result : results) {
      const Workload& workload = plant_.workloads()[result.workload];
      out_.begin_object().member("name", workload.name).member("held_out", workload.held_out);
      out_.member("weight", workload.weight);
      objectives("baseline", result.baseline);
      if (result.best) objectives("best", *result.best);
      interval("gain_percent", result.gain_percent);
      out_.end_object();
    }
    out_.end_array();
  }

  void attribution(const std::vector<Attribution>& all) {
    out_.key("attribution").begin_array();
    for (const Attribution& one : all) {
      out_.begin_object();
      if (!one.suggestion.empty()) out_.member("suggestion", one.suggestion);
      out_.member("effect", enum_name(one.effect)).key("changes");
      changes(one.settings);
      interval("alone_gain_percent", one.alone);
      interval("without_loss_percent", one.without);
      out_.end_object();
    }
    out_.end_array();
  }

  void front(const std::vector<FrontPoint>& points) {
    out_.key("front").begin_array();
    for (const FrontPoint& point : points) {
      out_.begin_object().member("trial", point.trial).key("changes");
      changes(point.candidate);
      objectives("means", point.means);
      out_.end_object();
    }
    out_.end_array();
  }

  // Whose series (trial_log[].runs[].observation.series) are of the same circumstances.
  void over_time(const Compared& compared) {
    if (compared.baseline == nullptr) return;
    out_.key("over_time").begin_object().member("baseline_trial", compared.baseline->number);
    if (compared.best != nullptr) out_.member("best_trial", compared.best->number);
    out_.end_object();
  }

  void not_tried(const std::vector<NotTried>& all) {
    out_.key("not_tried").begin_array();
    for (const NotTried& one : all) {
      out_.begin_object().member("what", one.what).member("why", one.why).member("times", one.times);
      out_.end_object();
    }
    out_.end_array();
  }

  void trial(const Trial& trial) {
    out_.begin_object().member("number", trial.number).member("phase", enum_name(trial.phase));
    out_.member("why", trial.why).member("repeat", trial.repeat);
    out_.key("changes");
    changes(trial.candidate);
    if (trial.score) out_.member("gain_percent", percent_of(*trial.score));
    out_.key("runs").begin_array();
    for (std::size_t w = 0; w < trial.observations.size(); ++w) {
      if (!trial.observations[w]) continue;
      out_.begin_object().member("workload", plant_.workloads()[w].name).key("observation");
      if (with_series_) {
        to_json(out_, *trial.observations[w]);
      } else {
        Observation without = *trial.observations[w];
        without.series.clear();
        to_json(out_, without);
      }
      out_.end_object();
    }
    out_.end_array().end_object();
  }

 private:
  JsonWriter& out_;
  const Plant& plant_;
  const Space& space_;
  bool with_series_;
};

}  // namespace

void write_outcome(JsonWriter& out, const Outcome& outcome, const Plant& plant, bool with_series) {
  OutcomeWriter writer(out, plant, with_series);
  out.member("verdict", enum_name(outcome.verdict)).member("reason", outcome.reason);
  writer.interval("gain_percent", outcome.gain_percent);
  writer.interval("held_out_gain_percent", outcome.held_out_gain_percent);
  out.member("trials", static_cast<std::int64_t>(outcome.trials.size()));
  if (outcome.budget_trials > 0) out.member("budget_trials", outcome.budget_trials);
  out.member("stop_reason", outcome.stop_reason).member("restored", outcome.restored);
  if (!outcome.restore_error.empty()) out.member("restore_error", outcome.restore_error);
  if (outcome.plant_error) out.member("plant_error", *outcome.plant_error);
  out.member("plant", plant.traits().name);
  writer.by_workload("baseline", outcome, false);
  writer.by_workload("best", outcome, true);
  writer.attribution(outcome.attribution);
  writer.workloads(outcome.workloads);
  writer.noise(outcome.noise);
  writer.front(outcome.front);
  writer.not_tried(outcome.not_tried);
  writer.over_time(compared_over_time(outcome));
  out.key("trial_log").begin_array();
  for (const Trial& trial : outcome.trials) writer.trial(trial);
  out.end_array();
}

void write_best_settings(JsonWriter& out, const Space& space, const Candidate& candidate) {
  out.key("best_settings").begin_array();
  for (const Setting& setting : space.difference(space.start(), candidate))
    out.value(space[setting.knob].name + "=" + space[setting.knob].text(setting.value));
  out.end_array();
}

}  // namespace rocetune::search
