#include "tools/rocetune/outcome_text.h"

#include <fmt/core.h>

#include <algorithm>

#include "agent/report/tune_words.h"

namespace rocetune::cli {
namespace {

using search::Attribution;
using search::Interval;

std::string interval_text(const Interval& i) {
  return fmt::format("{:+.1f} % ({:+.1f} to {:+.1f})", i.mid, i.low, i.high);
}

TextTable::Look indented(TextTable::Look look) {
  look.indent = 2;
  return look;
}

constexpr const char* kNothing = "-";
std::string number_of(const search::Objectives& objectives, search::Objective objective) {
  const std::optional<double>& value = objectives[objective];
  return value ? fmt::format("{:.4g}", *value) : kNothing;
}

}  // namespace

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

std::string headline(const search::Outcome& o, const std::string& subject, std::size_t settings,
                     bool coloured) {
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
  std::string out = painted(word, paint, coloured) + "  " + subject + ": ";
  if (o.verdict == search::Verdict::change) {
    const std::size_t changes = o.attribution.empty() ? settings : o.attribution.size();
    out += fmt::format("{} change{}", changes, changes == 1 ? "" : "s");
    if (settings > changes) out += fmt::format(" ({} settings)", settings);
    if (o.gain_percent) out += ", worth " + interval_text(*o.gain_percent);
    out += "\n" + std::string(word.size() + 2, ' ') + o.reason;
  } else {
    out += o.reason;
  }
  return out + "\n";
}

std::string plan_text(const std::vector<search::PlanStep>& plan, const TextTable::Look& look) {
  if (plan.empty()) return {};
  TextTable table(
      {{.title = "change"}, {.title = "where"}, {.title = "from"}, {.title = "to"}, {.title = "cost"}});
  std::string how;
  std::string undo;
  for (const search::PlanStep& step : plan) {
    table.add_row({step.knob, step.where, step.before, step.after, cost_text(step.cost)});
    how += fmt::format("  {}: {}\n", step.where, step.how);
    undo += fmt::format("  {}: {}\n", step.where, step.undo);
  }
  return "\n" + table.text(indented(look)) + "\nhow\n" + how + "\nundo\n" + undo;
}

std::string attribution_text(const search::Outcome& outcome, const search::Plant& plant,
                             const TextTable::Look& look) {
  if (outcome.attribution.empty()) return {};
  TextTable table({{.title = "what each is worth", .overflow = Overflow::wrap},
                   {.title = "alone"},
                   {.title = "lost without it"},
                   {.title = "effect"}});
  for (const Attribution& a : outcome.attribution) {
    std::string what = report::settings_name(plant.space(), a);
    if (!a.suggestion.empty()) what += " (" + a.suggestion + ")";
    table.add_row({what, a.alone ? interval_text(*a.alone) : "-", a.without ? interval_text(*a.without) : "-",
                   std::string(report::effect_words(a.effect))});
  }
  return "\n" + table.text(indented(look));
}

std::string workloads_text(const search::Outcome& outcome, const search::Plant& plant,
                           const TextTable::Look& look) {
  const bool is_compared = std::ranges::any_of(
      outcome.workloads, [](const search::WorkloadResult& result) { return result.best.has_value(); });
  std::vector<TextTable::Column> columns{
      {.title = "workload"}, {.title = "objective"}, {.title = "baseline", .align = Align::right}};
  if (is_compared) columns.push_back({.title = "best", .align = Align::right});
  columns.push_back({.title = "unit"});
  if (is_compared) columns.push_back({.title = "gain of all"});
  TextTable table(std::move(columns));
  for (const search::WorkloadResult& result : outcome.workloads) {
    const search::Workload& workload = plant.workloads()[result.workload];
    std::string name = workload.name + (workload.held_out ? " (held out)" : "");
    std::string gain = result.gain_percent ? interval_text(*result.gain_percent) : "";
    for (const search::ObjectiveKind& kind : search::objective_kinds()) {
      const std::string before = number_of(result.baseline, kind.objective);
      const std::string after = result.best ? number_of(*result.best, kind.objective) : kNothing;
      if (before == kNothing && after == kNothing) continue;
      if (is_compared) {
        table.add_row({name, std::string(kind.name), before, after, std::string(kind.unit), gain});
      } else {
        table.add_row({name, std::string(kind.name), before, std::string(kind.unit)});
      }
      name.clear();
      gain.clear();
    }
  }
  return table.is_empty() ? std::string() : "\n" + table.text(indented(look));
}

std::string said_text(const std::vector<Said>& findings, bool coloured) {
  std::string out = "\nwhat doctor says\n";
  if (findings.empty()) return out + "  nothing is wrong\n";
  for (const Said& finding : findings) {
    const Paint paint = finding.severity == diagnose::Severity::critical ? Paint::bad : Paint::warning;
    out += fmt::format("  {} {} {}: {}\n",
                       painted(fmt::format("{:<8}", enum_name(finding.severity)), paint, coloured),
                       finding.rule, finding.where, finding.cause);
    if (!finding.cure.empty()) out += fmt::format("           cure: {}\n", finding.cure);
  }
  return out;
}

std::string ending_text(const search::Outcome& o, const std::string& command) {
  std::string out = fmt::format("\n{} trials", o.trials.size());
  if (!o.stop_reason.empty()) out += "; ended: " + o.stop_reason;
  if (o.noise.repeats > 0)
    out += fmt::format("; chance alone moves the baseline by {:.1f} to {:+.1f} % ({} runs)",
                       o.noise.percent.low, o.noise.percent.high, o.noise.repeats);
  return out + fmt::format("\n{}: {}\n", report::goes_on(o, command) ? "go on" : "again", command);
}

std::string space_text(const search::Plant& plant, const std::vector<search::LeftOut>& left_out,
                       const std::vector<Said>& findings, const TextTable::Look& look) {
  TextTable table({{.title = "knob"},
                   {.title = "now"},
                   {.title = "may be", .overflow = Overflow::wrap},
                   {.title = "cost"},
                   {.title = "what it is", .overflow = Overflow::wrap}});
  for (const search::Knob& knob : plant.space().knobs()) {
    std::string range;
    if (knob.is_numeric()) {
      range = fmt::format("{} to {} {}", knob.safe_min.value_or(knob.min), knob.safe_max.value_or(knob.max),
                          knob.unit);
    } else if (knob.choices.empty()) {
      range = "off, on";
    } else {
      for (const std::string& choice : knob.choices) range += (range.empty() ? "" : " | ") + choice;
    }
    table.add_row({knob.name, knob.text(knob.start), range, cost_text(knob.cost), knob.meaning});
  }
  std::string out = table.text(indented(look)) + "\nforbidden\n";
  for (const search::Constraint& constraint : plant.constraints())
    out += fmt::format("  {} ({})\n", constraint.rule, constraint.origin);
  out += "\nleft out\n";
  for (const search::LeftOut& knob : left_out) out += fmt::format("  {}: {}\n", knob.knob, knob.why);
  out += said_text(findings, look.coloured);
  out += "\ntried first\n";
  for (const search::Suggestion& suggestion : plant.suggestions())
    out += fmt::format("  {} {}: {}\n", enum_name(suggestion.kind), suggestion.id,
                       plant.space().text(suggestion.settings));
  return out;
}

}  // namespace rocetune::cli
