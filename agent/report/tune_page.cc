#include "agent/report/tune_page.h"

#include <fmt/core.h>

#include <algorithm>

#include "agent/report/tune_over_time.h"
#include "agent/report/tune_sections.h"
#include "agent/report/tune_words.h"
#include "dataplane/html/markup.h"
#include "dataplane/html/page.h"
#include "dataplane/html/table.h"

namespace rocetune::report {
namespace {

using html::escaped;
using html::Table;

std::string changes_counted(const TunePage& page) {
  return html::counted(page.plan.size(), "setting", "settings");
}

std::string tune_verdict(const TunePage& page) {
  const search::Outcome& o = page.outcome;
  std::string head, why = o.reason;
  html::Verdict verdict = html::Verdict::good;
  switch (o.verdict) {
    case search::Verdict::change:
      head = "Change " + changes_counted(page);
      if (o.gain_percent) {
        head += ": " + percent_text(o.gain_percent->mid);
        why = fmt::format(
            "It lies between {:+.1f} and {:+.1f}\u00a0%, confirmed under circumstances that no setting "
            "was chosen by.",
            o.gain_percent->low, o.gain_percent->high);
      }
      head += ".";
      break;
    case search::Verdict::no_change:
      head = "Leave it as it is.";
      break;
    case search::Verdict::refused:
      head = o.trials.empty() ? "Nothing could be measured." : "Nothing that counts could be measured.";
      verdict = html::Verdict::bad;
      break;
    case search::Verdict::interrupted:
      head = "Stopped before it could decide.";
      verdict = html::Verdict::warn;
      break;
  }
  std::string out = html::verdict_line(verdict, "<b>" + head + "</b> " + escaped(sentence_of(why)));
  if (page.so_far) {
    out += html::verdict_line(
        html::Verdict::warn,
        fmt::format("<b>Best so far, confirmed by nothing:</b> {}, {} in {}", changes_counted(page),
                    percent_text(page.so_far->gain_percent),
                    html::counted(static_cast<std::uint64_t>(page.so_far->trials), "trial", "trials")));
  }
  if (o.plant_error)
    out += html::verdict_line(html::Verdict::bad, "<b>It ended early:</b> " + escaped(*o.plant_error));
  if (!o.restored) {
    out += html::verdict_line(html::Verdict::bad,
                              "<b>Not everything is back as it was.</b> " + escaped(o.restore_error));
  }
  for (const TuneFinding& finding : page.findings) {
    if (!finding.is_hardware) continue;
    out +=
        html::verdict_line(html::Verdict::warn,
                           fmt::format("<b>Needs hands: {}.</b> {} <small>No setting repairs it; what helps "
                                       "stands under <b>What doctor found</b>.</small>",
                                       escaped(finding.where), escaped(finding.cause)));
  }
  return out;
}

std::string what_to_change(const TunePage& page) {
  std::string out = "<ol>";
  for (const search::PlanStep& step : page.plan) {
    const auto knob = page.plant.space().find(step.knob);
    out += fmt::format("<li>{}: <b>{}</b> from {} to <b>{}</b>", escaped(step.where), escaped(step.knob),
                       value_markup(step.before), value_markup(step.after));
    if (knob) out += "<br/><small>" + escaped(page.plant.space()[*knob].meaning) + "</small>";
    out += "</li>";
  }
  return out + "</ol>";
}

// "data delivered 203 Gb/s → 312 Gb/s": by what counts most of all that the workload measures.
std::string brief_of(const TunePage& page, const search::WorkloadResult& result) {
  if (!result.best) return {};
  std::vector<const search::ObjectiveKind*> chosen;
  double most = 0;
  for (const search::ObjectiveKind& kind : search::objective_kinds()) {
    const double its = page.policy.weight_of(kind.objective);
    if (!result.baseline[kind.objective] || !(*result.best)[kind.objective] || its < most) continue;
    if (its > most) chosen.clear();
    chosen.push_back(&kind);
    most = its;
  }
  if (chosen.empty()) return {};
  std::string each;
  for (const search::ObjectiveKind* kind : chosen) {
    each += fmt::format("{}{} {} → <b>{}</b>", each.empty() ? "" : ", ", objective_words(kind->objective),
                        objective_text(kind->objective, *result.baseline[kind->objective]),
                        objective_text(kind->objective, *(*result.best)[kind->objective]));
  }
  const search::Workload& workload = page.plant.workloads()[result.workload];
  return fmt::format("<li>{}{}: {}</li>", escaped(workload.name),
                     workload.held_out ? " <small>(the search never saw it)</small>" : "", each);
}

std::string what_it_brings(const TunePage& page) {
  const search::Outcome& o = page.outcome;
  std::string out;
  if (o.gain_percent) {
    out += fmt::format(
        "<b>{}</b> over all objectives and workloads; with {:g}\u00a0% confidence between {:+.1f} and "
        "{:+.1f}\u00a0%",
        percent_text(o.gain_percent->mid), page.policy.confidence_percent, o.gain_percent->low,
        o.gain_percent->high);
  } else {
    out += "what ran before has no result to compare with";
  }
  std::string each;
  for (const search::WorkloadResult& result : o.workloads) each += brief_of(page, result);
  return each.empty() ? out : out + "<ul>" + each + "</ul>";
}

std::string what_gets_worse(const TunePage& page) {
  std::string out;
  for (const search::Worsened& worse : page.worsened) {
    out += fmt::format("<li>{}: {} {:+.1f}\u00a0{}</li>", escaped(worse.workload),
                       objective_words(worse.objective), worse.change_percent,
                       search::kind_of(worse.objective).is_ratio_scale ? "%" : "points");
  }
  return "<ul>" + out + "</ul>";
}

std::string what_it_costs(const TunePage& page) {
  search::ChangeCost cost = search::ChangeCost::none;
  std::size_t disturbing = 0;
  for (const search::PlanStep& step : page.plan) {
    cost = std::max(cost, step.cost);
    disturbing += step.cost == search::ChangeCost::none ? 0 : 1;
  }
  if (disturbing == 0) return "nothing is interrupted: all of it takes effect while traffic runs";
  return fmt::format("{} ({} of {} disturb)", disturbance_of(cost), disturbing, changes_counted(page));
}

// For who decides: four questions.
std::string in_short(const TunePage& page) {
  if (page.plan.empty()) return {};
  if (page.so_far)
    return "<dl class='brief'>\n<dt>Best so far</dt><dd>" + what_to_change(page) + "</dd>\n</dl>\n";
  if (page.outcome.verdict != search::Verdict::change) return {};
  std::string out = "<dl class='brief'>\n";
  const auto add = [&](const char* title, const std::string& markup) {
    out += fmt::format("<dt>{}</dt><dd>{}</dd>\n", title, markup);
  };
  add("What to change", what_to_change(page));
  add("What it brings", what_it_brings(page));
  if (!page.worsened.empty()) add("What gets worse", what_gets_worse(page));
  add("What it costs", what_it_costs(page));
  std::string in_force;
  for (const std::string& command : page.undo) in_force += "<br/><code>" + escaped(command) + "</code>";
  if (!in_force.empty()) {
    add("How to undo it", "the change is in force; this takes it back:" + in_force);
    return out + "</dl>\n";
  }
  add("How to undo it",
      "set back the values that the list names first, last change first; the words stand below "
      "under <b>The plan</b>. " +
          std::string(page.outcome.restored ? "This run itself has left nothing changed."
                                            : "This run itself has left something changed."));
  return out + "</dl>\n";
}

std::string tune_tiles(const TunePage& page) {
  const search::Outcome& o = page.outcome;
  html::Tiles tiles;
  const auto range = [](const search::Interval& i) {
    return fmt::format("{:+.1f} to {:+.1f}\u00a0%", i.low, i.high);
  };
  if (o.gain_percent)
    tiles.add({.title = "gain", .value = percent_text(o.gain_percent->mid), .note = range(*o.gain_percent)});
  if (o.held_out_gain_percent) {
    tiles.add({.title = "unseen traffic",
               .value = percent_text(o.held_out_gain_percent->mid),
               .note = range(*o.held_out_gain_percent)});
  }
  if (o.noise.repeats > 0) {
    tiles.add({.title = "chance alone",
               .value = fmt::format("±{:.1f}\u00a0%", std::max(-o.noise.percent.low, o.noise.percent.high)),
               .note = html::counted(static_cast<std::uint64_t>(o.noise.repeats), "run as found",
                                     "runs as found")});
  }
  if (!o.trials.empty()) {
    tiles.add({.title = "trials",
               .value = html::count_text(o.trials.size()),
               .note = o.budget_trials > 0 ? fmt::format("of at most {}", o.budget_trials) : std::string()});
  }
  tiles.add({.title = "knobs", .value = html::count_text(page.plant.space().size())});
  return tiles.text();
}

std::string judged_section(const TunePage& page) {
  Table table({{.title = "objective", .align = Align::left}, {.title = "weight"}});
  for (const search::ObjectiveKind& kind : search::objective_kinds()) {
    table.add_row({fmt::format("{} ({})", objective_words(kind.objective), kind.name),
                   fmt::format("{:g}", page.policy.weight_of(kind.objective))});
  }
  return fmt::format(
             "<h2>How it was judged</h2>\n<p>Guardrails first: what drops packets of lossless classes, "
             "closes a "
             "deadlock or fails is never best. Then the weighted mean of the gains in what each workload "
             "measures, by their logarithm, in which a loss counts {:g} times; the worst workload counts for "
             "{:g}\u00a0% beside the mean of all. A gain below {:g}\u00a0% is not worth a change. "
             "What is held out gains nothing; {}it must not have got worse in the end. {}</p>\n",
             page.policy.loss_weight, 100 * page.policy.worst_share, page.policy.minimum_gain_percent,
             page.plant.traits().watches_held_out
                 ? "what a change costs it beyond chance counts against it in every trial, and "
                 : "",
             escaped(page.trial)) +
         table.text();
}

std::string knobs_section(const TunePage& page) {
  if (page.plant.space().size() == 0) return {};
  Table table({{.title = "knob", .align = Align::left},
               {.title = "as found", .align = Align::left},
               {.title = "may be", .align = Align::left},
               {.title = "read from", .align = Align::left}});
  for (const search::Knob& knob : page.plant.space().knobs()) {
    std::string range;
    if (knob.is_numeric()) {
      range = fmt::format("{} to {}", knob.text(knob.safe_min.value_or(knob.min)),
                          knob.text(knob.safe_max.value_or(knob.max)));
    } else if (knob.choices.empty()) {
      range = "off, on";
    } else {
      for (const std::string& choice : knob.choices) range += (range.empty() ? "" : " | ") + choice;
    }
    table.add_row({Table::Cell::markup("<b>" + escaped(knob.name) + "</b><br/><small>" +
                                       escaped(knob.meaning) + "</small>")
                       .in_class("wrap"),
                   Table::Cell::markup(value_markup(knob.text(knob.start))).in_class("wrap"),
                   Table::Cell::markup(value_markup(range)).in_class("wrap"),
                   Table::Cell(knob.start_origin).in_class("wrap")});
  }
  return fmt::format("<details><summary>All {} knobs and their ranges</summary>\n{}</details>\n",
                     page.plant.space().size(), table.text());
}

}  // namespace

std::string tune_page(const TunePage& page) {
  std::string body;
  if (!page.description.empty()) body += "<p>" + escaped(page.description) + "</p>\n";
  body += tune_verdict(page) + in_short(page) + tune_tiles(page) + tune_workloads_section(page);
  const std::string over_time = tune_over_time_section(page);
  body += over_time + tune_effects_section(page) + tune_plan_section(page) + tune_findings_section(page) +
          (page.twin ? tune_twin_section(*page.twin) : std::string()) + tune_trials_section(page) +
          tune_front_section(page) + tune_not_tried_section(page) + knobs_section(page) +
          judged_section(page);
  body += std::string(goes_on(page.outcome, page.command) ? "<h2>To go on</h2>" : "<h2>The same again</h2>") +
          "\n<pre>" + escaped(page.command) + "</pre>\n";
  return html::page_text(
      {.title = "Tuning " + page.plant.traits().name, .body = body, .reads_out = !over_time.empty()});
}

}  // namespace rocetune::report
