#include "tools/rocetune/tune_text.h"

#include <fmt/core.h>

#include <algorithm>

namespace rocetune::cli {
namespace {

using fabric_plant::FabricFinding;
using fabric_plant::FabricPlant;
using fabric_plant::FabricTuning;
using search::Attribution;
using search::Interval;

std::string interval_text(const Interval& i) {
  return fmt::format("{:+.1f} % ({:+.1f} to {:+.1f})", i.mid, i.low, i.high);
}

std::string cost_text(search::ChangeCost cost) {
  switch (cost) {
    case search::ChangeCost::none:
      return "while traffic runs";
    case search::ChangeCost::restarts_job:
      return "restarts jobs";
    case search::ChangeCost::bounces_link:
      return "bounces links";
    case search::ChangeCost::reloads_driver:
      return "reloads the driver";
  }
  ROCETUNE_ASSERT(false);
}

// A ratio of time, or fairness: changes of it are differences.
bool is_share(const std::string& objective) {
  return std::ranges::any_of(search::objective_kinds(), [&](const search::ObjectiveKind& kind) {
    return kind.name == objective && !kind.is_ratio_scale;
  });
}

std::string headline(const FabricTuning& tuning, const FabricPlant& plant, bool coloured) {
  const search::Outcome& o = tuning.outcome;
  std::string word;
  Paint paint = Paint::strong;
  switch (o.verdict) {
    case search::Verdict::change:
      word = "CHANGE";
      paint = Paint::good;
      break;
    case search::Verdict::no_change:
      word = "NO CHANGE";
      paint = Paint::good;
      break;
    case search::Verdict::refused:
      word = "REFUSED";
      paint = Paint::severe;
      break;
    case search::Verdict::interrupted:
      word = "INTERRUPTED";
      paint = Paint::warning;
      break;
  }
  std::string out = painted(word, paint, coloured) + "  " + plant.scenario().name + ": ";
  if (o.verdict == search::Verdict::change) {
    out += fmt::format("{} change{}", tuning.plan.size(), tuning.plan.size() == 1 ? "" : "s");
    if (o.gain_percent) out += ", worth " + interval_text(*o.gain_percent);
    out += "\n" + std::string(word.size() + 2, ' ') + o.reason;
  } else {
    out += o.reason;
  }
  if (tuning.so_far) {
    out += fmt::format(
        "\n{}the best so far, which nothing has confirmed: {} change{}, {:+.1f} % in {} trial{}",
        std::string(word.size() + 2, ' '), tuning.plan.size(), tuning.plan.size() == 1 ? "" : "s",
        tuning.so_far->gain_percent, tuning.so_far->trials, tuning.so_far->trials == 1 ? "" : "s");
  }
  for (const fabric_plant::Worsened& worse : tuning.worsened) {
    out += "\n" + std::string(word.size() + 2, ' ') +
           painted(fmt::format("worse: {} of {}, {:+.1f} {}", worse.objective, worse.workload,
                               worse.change_percent, is_share(worse.objective) ? "points" : "%"),
                   Paint::warning, coloured);
  }
  return out + "\n";
}

std::string_view effect_text(Attribution::Effect effect) {
  switch (effect) {
    case Attribution::Effect::cure:
      return "the cure, or most of it";
    case Attribution::Effect::part:
      return "adds its share";
    case Attribution::Effect::together:
      return "only together with the others";
    case Attribution::Effect::none:
      return "nothing beyond noise";
    case Attribution::Effect::not_measured:
      return "not measured";
  }
  ROCETUNE_ASSERT(false);
}

TextTable::Look indented(TextTable::Look look) {
  look.indent = 2;
  return look;
}

std::string plan_text(const FabricTuning& tuning, const TextTable::Look& look) {
  if (tuning.plan.empty()) return {};
  TextTable table(
      {{.title = "change"}, {.title = "where"}, {.title = "from"}, {.title = "to"}, {.title = "cost"}});
  std::string how;
  std::string undo;
  for (const fabric_plant::Step& step : tuning.plan) {
    table.add_row({step.knob, step.where, step.before, step.after, cost_text(step.cost)});
    how += fmt::format("  {}: {}\n", step.where, step.how);
    undo += fmt::format("  {}: {}\n", step.where, step.undo);
  }
  return "\n" + table.text(indented(look)) + "\nhow\n" + how + "\nundo\n" + undo;
}

std::string attribution_text(const FabricTuning& tuning, const FabricPlant& plant,
                             const TextTable::Look& look) {
  if (tuning.outcome.attribution.empty()) return {};
  TextTable table({{.title = "what each is worth", .overflow = Overflow::wrap},
                   {.title = "alone"},
                   {.title = "lost without it"},
                   {.title = "effect"}});
  for (const Attribution& a : tuning.outcome.attribution) {
    std::string what;
    for (const search::Setting& setting : a.settings)
      what += (what.empty() ? "" : ", ") + plant.space()[setting.knob].name;
    if (!a.suggestion.empty()) what += " (" + a.suggestion + ")";
    table.add_row({what, a.alone ? interval_text(*a.alone) : "-", a.without ? interval_text(*a.without) : "-",
                   std::string(effect_text(a.effect))});
  }
  return "\n" + table.text(indented(look));
}

constexpr const char* kNothing = "-";
std::string number_of(const search::Objectives& objectives, search::Objective objective) {
  const std::optional<double>& value = objectives[objective];
  return value ? fmt::format("{:.4g}", *value) : kNothing;
}

std::string workloads_text(const FabricTuning& tuning, const FabricPlant& plant,
                           const TextTable::Look& look) {
  TextTable table({{.title = "workload"},
                   {.title = "objective"},
                   {.title = "baseline", .align = Align::right},
                   {.title = "best", .align = Align::right},
                   {.title = "unit"},
                   {.title = "gain of all"}});
  for (const search::WorkloadResult& result : tuning.outcome.workloads) {
    const search::Workload& workload = plant.workloads()[result.workload];
    std::string name = workload.name + (workload.held_out ? " (held out)" : "");
    std::string gain = result.gain_percent ? interval_text(*result.gain_percent) : "";
    for (const search::ObjectiveKind& kind : search::objective_kinds()) {
      const std::string before = number_of(result.baseline, kind.objective);
      const std::string after = result.best ? number_of(*result.best, kind.objective) : kNothing;
      if (before == kNothing && after == kNothing) continue;
      table.add_row({name, std::string(kind.name), before, after, std::string(kind.unit), gain});
      name.clear();
      gain.clear();
    }
  }
  return table.is_empty() ? std::string() : "\n" + table.text(indented(look));
}

std::string findings_text(const FabricPlant& plant, bool coloured) {
  std::string out = "\nwhat doctor says\n";
  if (plant.diagnosis().findings.empty()) return out + "  nothing is wrong\n";
  for (const FabricFinding& finding : plant.diagnosis().findings) {
    const Paint paint = finding.severity == diagnose::Severity::critical ? Paint::bad : Paint::warning;
    out += fmt::format("  {} {} {}: {}\n",
                       painted(fmt::format("{:<8}", enum_name(finding.severity)), paint, coloured),
                       finding.rule, finding.where, finding.cause);
    if (!finding.settings.empty())
      out += fmt::format("           cure: {}\n", plant.space().text(finding.settings));
  }
  return out;
}

std::string unrepaired_text(const FabricTuning& tuning, bool coloured) {
  std::string out;
  for (const fabric_plant::Unrepaired& u : tuning.unrepaired)
    out += fmt::format("\n{} {}: {}\n  {}.\n", painted("needs hands", Paint::warning, coloured), u.where,
                       u.cause, u.advice);
  return out;
}

}  // namespace

std::string tuning_text(const FabricTuning& tuning, const FabricPlant& plant, const TextTable::Look& look) {
  const search::Outcome& o = tuning.outcome;
  std::string out = headline(tuning, plant, look.coloured);
  out +=
      plan_text(tuning, look) + attribution_text(tuning, plant, look) + workloads_text(tuning, plant, look);
  out += unrepaired_text(tuning, look.coloured) + findings_text(plant, look.coloured);
  out += fmt::format("\n{} trials", o.trials.size());
  if (!o.stop_reason.empty()) out += "; ended: " + o.stop_reason;
  if (o.noise.repeats > 0)
    out += fmt::format("; chance alone moves the baseline by {:.1f} to {:+.1f} % ({} runs)",
                       o.noise.percent.low, o.noise.percent.high, o.noise.repeats);
  return out + fmt::format("\nagain: {}\n", tuning.command);
}

std::string space_text(const FabricPlant& plant, const TextTable::Look& look) {
  std::string out = fmt::format("{}: {}\n{} knobs, {} workloads; no trial was run\n\n", plant.scenario().name,
                                plant.scenario().description, plant.space().size(), plant.workloads().size());
  TextTable table({{.title = "knob"},
                   {.title = "now"},
                   {.title = "may be", .overflow = Overflow::wrap},
                   {.title = "cost"},
                   {.title = "what it is", .overflow = Overflow::wrap}});
  for (const search::Knob& knob : plant.space().knobs()) {
    std::string range;
    if (knob.is_numeric()) {
      range = fmt::format("{} to {} {}", knob.min, knob.max, knob.unit);
    } else if (knob.choices.empty()) {
      range = "off, on";
    } else {
      for (const std::string& choice : knob.choices) range += (range.empty() ? "" : " | ") + choice;
    }
    table.add_row({knob.name, knob.text(knob.start), range, cost_text(knob.cost), knob.meaning});
  }
  out += table.text(indented(look)) + "\nforbidden\n";
  for (const search::Constraint& constraint : plant.constraints())
    out += fmt::format("  {} ({})\n", constraint.rule, constraint.origin);
  out += "\nleft out\n";
  for (const fabric_plant::LeftOut& knob : plant.left_out())
    out += fmt::format("  {}: {}\n", knob.knob, knob.why);
  out += findings_text(plant, look.coloured);
  out += "\ntried first\n";
  for (const search::Suggestion& suggestion : plant.suggestions())
    out += fmt::format("  {} {}: {}\n", enum_name(suggestion.kind), suggestion.id,
                       plant.space().text(suggestion.settings));
  return out;
}

}  // namespace rocetune::cli
