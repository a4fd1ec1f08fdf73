// The search: how good each trial was, which are good in another way, what was left out.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "agent/report/tune_sections.h"
#include "agent/report/tune_words.h"
#include "agent/tune/search/interval.h"
#include "agent/tune/search/score.h"
#include "dataplane/html/markup.h"
#include "dataplane/html/point_chart.h"
#include "dataplane/html/table.h"

namespace rocetune::report {
namespace {

using html::PointChart;
using html::Table;
using search::Objective;
using search::Phase;
using search::Trial;

constexpr int kFrontMarks = 5;

// Phases that a chart tells apart, in the order they come.
struct PhaseGroup {
  std::string_view label;
  std::vector<Phase> phases;
};
const std::vector<PhaseGroup>& phase_groups() {
  static const std::vector<PhaseGroup> kGroups{
      {"as found", {Phase::baseline}},
      {"doctor's fixes", {Phase::remedy}},
      {"foretold by the twin", {Phase::foretold}},
      {"published sets", {Phase::preset}},
      {"search", {Phase::explore, Phase::model, Phase::pattern, Phase::race}},
      {"one change apart", {Phase::ablate}},
      {"confirmation", {Phase::confirm}},
  };
  return kGroups;
}

// What went wrong in a trial, by workload; empty: nothing did.
std::string faults_of(const TunePage& page, const Trial& trial) {
  std::string out;
  const auto add = [&](std::size_t workload, const std::string& what) {
    out += (out.empty() ? "" : "; ") + page.plant.workloads()[workload].name + ": " + what;
  };
  for (std::size_t w = 0; w < trial.observations.size(); ++w) {
    const auto& seen = trial.observations[w];
    if (!seen) continue;
    if (seen->failure) add(w, fmt::format("{}: {}", enum_name(seen->failure->kind), seen->failure->why));
    for (const search::Breach& breach : seen->breaches) add(w, breach.guardrail + ": " + breach.what);
  }
  return out;
}

std::string confounders_of(const Trial& trial) {
  std::string out;
  for (const auto& seen : trial.observations) {
    if (!seen) continue;
    for (const std::string& one : seen->confounders) out += (out.empty() ? "" : "; ") + one;
  }
  return out;
}

// Over the workloads that are searched on; none if one of them was not run, or failed.
std::optional<search::Objectives> means_of(const TunePage& page, const Trial& trial) {
  std::vector<search::Objectives> all;
  for (std::size_t w = 0; w < trial.observations.size(); ++w) {
    if (page.plant.workloads()[w].held_out) continue;
    if (!trial.observations[w] || trial.observations[w]->failure) return std::nullopt;
    all.push_back(trial.observations[w]->objectives);
  }
  if (all.empty()) return std::nullopt;
  return search::mean_of(all);
}

std::string score_chart(const TunePage& page) {
  const std::vector<Trial>& trials = page.outcome.trials;
  PointChart chart{.title = "Gain of every trial",
                   .note = "over what was found, under the same circumstances",
                   .unit = html::kPercent,
                   .across = "trial"};
  const auto share = [&](std::size_t i) {
    return trials.size() < 2 ? 0.5 : static_cast<double>(i) / static_cast<double>(trials.size() - 1);
  };
  for (std::size_t i = 0; i < trials.size(); ++i)
    chart.marks.push_back({share(i), std::to_string(trials[i].number)});
  std::size_t without = 0;
  for (const Trial& trial : trials) without += trial.score ? 0 : 1;
  for (const PhaseGroup& group : phase_groups()) {
    PointChart::Series series{.label = std::string(group.label)};
    for (std::size_t i = 0; i < trials.size(); ++i) {
      if (!trials[i].score || std::ranges::find(group.phases, trials[i].phase) == group.phases.end())
        continue;
      const double gain = search::percent_of(*trials[i].score);
      series.points.push_back({.share = share(i),
                               .mean = gain / 100,
                               .low = gain / 100,
                               .high = gain / 100,
                               .explanation = fmt::format("trial {}: {}, {}", trials[i].number,
                                                          percent_text(gain), trials[i].why)});
    }
    if (!series.points.empty()) chart.series.push_back(std::move(series));
  }
  if (chart.series.empty()) return {};
  if (without > 0) chart.note += fmt::format("; {} without a result are not shown", without);
  return html::point_legend(chart) + "<div class='charts'>" + html::point_chart(chart) + "</div>\n";
}

std::string noise_text(const search::Noise& noise) {
  if (noise.repeats == 0) return {};
  return fmt::format(
      "<p>Chance alone: {}, unchanged, differed by {} to {} from their mean. A smaller gain than that shows "
      "nothing "
      "in one trial.</p>\n",
      html::counted(static_cast<std::uint64_t>(noise.repeats), "run as found", "runs as found"),
      percent_text(noise.percent.low), percent_text(noise.percent.high));
}

std::string trial_table(const TunePage& page) {
  Table table({{.title = "trial"},
               {.title = "why", .align = Align::left},
               {.title = "settings", .align = Align::left},
               {.title = "repeat", .explanation = "which circumstances: seed of the traffic"},
               {.title = "gain"},
               {.title = "what went wrong, or may have", .align = Align::left}});
  for (const Trial& trial : page.outcome.trials) {
    const std::string faults = faults_of(page, trial), confounders = confounders_of(trial);
    std::string wrong = html::escaped(faults);
    if (!confounders.empty())
      wrong += (faults.empty() ? "<small>" : "<br/><small>") + html::escaped(confounders) + "</small>";
    table.add_row(
        {std::to_string(trial.number),
         Table::Cell::markup(
             fmt::format("{}<br/><small>{}</small>", phase_words(trial.phase), html::escaped(trial.why)))
             .in_class("wrap"),
         Table::Cell::markup(changes_markup(page, trial.candidate)).in_class("wrap"),
         std::to_string(trial.repeat), trial.score ? percent_text(search::percent_of(*trial.score)) : "–",
         Table::Cell::markup(wrong).in_class("wrap")},
        trial.candidate == page.outcome.best ? "best" : "");
  }
  return fmt::format("<details><summary>All {} trials, one by one</summary>\n{}</details>\n",
                     page.outcome.trials.size(), table.text());
}

// Objectives that differ among the points, the most weighted first.
std::vector<const search::ObjectiveKind*> axes_of(const TunePage& page) {
  std::vector<const search::ObjectiveKind*> out;
  for (const search::ObjectiveKind& kind : search::objective_kinds()) {
    double low = INFINITY, high = -INFINITY;
    bool is_known = true;
    for (const search::FrontPoint& point : page.outcome.front) {
      const auto& value = point.means[kind.objective];
      is_known = is_known && value.has_value();
      low = std::min(low, value.value_or(INFINITY));
      high = std::max(high, value.value_or(-INFINITY));
    }
    if (is_known && high > low) out.push_back(&kind);
  }
  std::ranges::stable_sort(out, std::greater<>(), [&](const search::ObjectiveKind* kind) {
    return page.policy.weight_of(kind->objective);
  });
  return out;
}

std::string front_chart(const TunePage& page) {
  const auto axes = axes_of(page);
  if (axes.size() < 2) return {};
  const Objective up = axes[0]->objective, across = axes[1]->objective;
  std::vector<std::pair<search::Objectives, std::string>> tried, front, found, best;
  for (const Trial& trial : page.outcome.trials) {
    const auto means = means_of(page, trial);
    if (!means || !(*means)[up] || !(*means)[across]) continue;
    const std::string text = fmt::format("trial {}: {}", trial.number, trial.why);
    if (trial.candidate == page.outcome.start) {
      found.emplace_back(*means, text);
    } else if (trial.candidate == page.outcome.best) {
      best.emplace_back(*means, text);
    } else {
      tried.emplace_back(*means, text);
    }
  }
  for (const search::FrontPoint& point : page.outcome.front) {
    if (point.candidate != page.outcome.best && point.candidate != page.outcome.start)
      front.emplace_back(point.means, fmt::format("first in trial {}", point.trial));
  }
  double low = INFINITY, high = -INFINITY;
  for (const auto* group : {&tried, &front, &found, &best}) {
    for (const auto& [means, text] : *group) {
      low = std::min(low, *means[across]);
      high = std::max(high, *means[across]);
    }
  }
  const html::Scale scale = html::scale_around(low, high, objective_unit(across), kFrontMarks);
  PointChart chart{.title = std::string(objective_words(up)),
                   .note = axes[0]->more_is_better ? "more is better" : "less is better",
                   .unit = objective_unit(up),
                   .across = fmt::format("{} ({} is better)", objective_words(across),
                                         axes[1]->more_is_better ? "more" : "less"),
                   .marks = scale.ticks};
  // Drawn over its neighbours without a shift: both places are measured.
  chart.are_side_by_side = false;
  const auto add = [&](const char* label, const auto& group) {
    PointChart::Series series{.label = label};
    for (const auto& [means, text] : group) {
      const double value = *means[up];
      series.points.push_back({.share = scale.share(*means[across]),
                               .mean = value,
                               .low = value,
                               .high = value,
                               .explanation = text});
    }
    if (!series.points.empty()) chart.series.push_back(std::move(series));
  };
  add("proposed", best);
  add("as found", found);
  add("best in some way", front);
  add("others tried", tried);
  return html::point_legend(chart) + "<div class='charts'>" + html::point_chart(chart) + "</div>\n";
}

}  // namespace

std::string tune_trials_section(const TunePage& page) {
  const search::Outcome& o = page.outcome;
  if (o.trials.empty()) return {};
  std::string out = "<h2>The search</h2>\n<p>" + html::counted(o.trials.size(), "trial", "trials");
  if (o.budget_trials > 0) out += fmt::format(" of at most {}", o.budget_trials);
  if (!o.stop_reason.empty()) out += "; it ended: " + html::escaped(o.stop_reason);
  if (!o.reason.empty()) out += ". The verdict: " + html::escaped(o.reason);
  out += ".</p>\n" + noise_text(o.noise) + score_chart(page);
  return out + trial_table(page);
}

std::string tune_front_section(const TunePage& page) {
  if (page.outcome.front.size() < 2) return {};
  std::vector<const search::ObjectiveKind*> shown;
  for (const search::ObjectiveKind& kind : search::objective_kinds()) {
    if (std::ranges::any_of(page.outcome.front,
                            [&](const auto& p) { return p.means[kind.objective].has_value(); }))
      shown.push_back(&kind);
  }
  std::vector<Table::Column> columns{{.title = "first in trial"}};
  for (const search::ObjectiveKind* kind : shown)
    columns.push_back({.title = std::string(objective_words(kind->objective)),
                       .explanation = kind->more_is_better ? "more is better" : "less is better"});
  columns.push_back({.title = "settings", .align = Align::left});
  Table table(std::move(columns));
  for (const search::FrontPoint& point : page.outcome.front) {
    std::vector<Table::Cell> cells{std::to_string(point.trial)};
    for (const search::ObjectiveKind* kind : shown) {
      const auto& value = point.means[kind->objective];
      cells.emplace_back(value ? objective_text(kind->objective, *value) : "–");
    }
    cells.push_back(Table::Cell::markup(changes_markup(page, point.candidate)).in_class("wrap"));
    table.add_row(std::move(cells), point.candidate == page.outcome.best ? "best" : "");
  }
  const std::string all = fmt::format("<details><summary>All {} of them</summary>\n{}</details>\n",
                                      page.outcome.front.size(), table.text());
  return "<h2>Best in one way or another</h2>\n<p class='faint'>Nothing that was tried beats these in every "
         "objective at "
         "once; means over the workloads that were searched on. Which of them is wanted is a matter of "
         "weights.</p>\n" +
         front_chart(page) + all;
}

std::string tune_not_tried_section(const TunePage& page) {
  std::string out;
  if (!page.outcome.not_tried.empty() || !page.left_out.empty()) {
    Table table({{.title = "what", .align = Align::left},
                 {.title = "why not", .align = Align::left},
                 {.title = "times"}});
    for (const search::NotTried& one : page.outcome.not_tried) {
      table.add_row({Table::Cell(one.what).in_class("wrap"), Table::Cell(one.why).in_class("wrap"),
                     std::to_string(one.times)});
    }
    for (const search::LeftOut& one : page.left_out)
      table.add_row({Table::Cell(one.knob).in_class("wrap"), Table::Cell(one.why).in_class("wrap"), ""});
    out += "<h2>What was not tried, and why</h2>\n" + table.text();
  }
  if (!page.plant.constraints().empty()) {
    out += out.empty() ? "<h2>What was not tried, and why</h2>\n" : "";
    out += "<p>Refused before a trial is spent:</p>\n<ul>\n";
    for (const search::Constraint& constraint : page.plant.constraints())
      out += fmt::format("<li>{} <small>{}</small></li>\n", html::escaped(constraint.rule),
                         html::escaped(constraint.origin));
    out += "</ul>\n";
  }
  return out;
}

}  // namespace rocetune::report
