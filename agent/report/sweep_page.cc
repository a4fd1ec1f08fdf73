#include "agent/report/sweep_page.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <numeric>

#include "dataplane/html/markup.h"
#include "dataplane/html/page.h"
#include "dataplane/html/point_chart.h"
#include "dataplane/html/table.h"

namespace rocetune::report {
namespace {

using html::count_text;
using html::escaped;
using html::quantity_text;
using html::Table;
using html::Verdict;

constexpr std::size_t kMostNamed = 5;  // wrong runs that are spelled out
constexpr std::size_t kDigestShown = 16;
constexpr std::size_t kMostRunsListed = 500;
constexpr std::size_t kMostCombinations = 500;  // in tables and charts; the winners are always in the table
constexpr std::array kWinnerHues{html::Hue::blue, html::Hue::green, html::Hue::purple, html::Hue::orange};
static_assert(kWinnerHues.size() == kMostWinners);

// All but the key at `except`.
std::string settings_text(const std::vector<std::string>& keys, const std::vector<std::string>& values,
                          std::optional<std::size_t> except = std::nullopt) {
  std::string out;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (i != except) out += fmt::format("{}{} = {}", out.empty() ? "" : ", ", keys[i], values[i]);
  }
  return out;
}

std::string run_text(const Sweep& sweep, const Combination& combination, const Combination::Run& run) {
  const std::string settings = settings_text(sweep.keys, combination.values);
  return fmt::format("{}{}seed {}", settings, settings.empty() ? "" : ", ", run.variation->result.seed);
}

std::string introduction(const SweepPage& page, const Sweep& sweep) {
  std::string out;
  const std::string& description = page.variations.front().result.description;
  if (!description.empty()) out += "<p>" + escaped(description) + "</p>\n";
  out += fmt::format("<p class='faint'>{} {} of {} {} of settings", count_text(sweep.runs),
                     sweep.runs == 1 ? "run" : "runs", count_text(sweep.combinations.size()),
                     sweep.combinations.size() == 1 ? "combination" : "combinations");
  for (std::size_t i = 0; i < sweep.fixed.size(); ++i) {
    out += fmt::format("{} {} = {}", i == 0 ? "; in all" : ",", escaped(sweep.fixed[i].key),
                       escaped(sweep.fixed[i].value));
  }
  return out + "</p>\n";
}

// What the runs show that is not a number.
std::string sweep_verdicts(const Sweep& sweep) {
  std::size_t unchecked = 0, wrong = 0, locked = 0, unfinished = 0;
  std::string named;
  for (const Combination& c : sweep.combinations) {
    for (const Combination::Run& run : c.runs) {
      const fabric::RunResult& r = run.variation->result;
      unchecked += r.checkers.empty() ? 1 : 0;
      locked += r.deadlock ? 1 : 0;
      unfinished += is_finished(r) ? 0 : 1;
      if (r.is_right()) continue;
      if (++wrong > kMostNamed) continue;
      const auto violated = std::ranges::find(r.checkers, false, &fabric::CheckerResult::holds);
      named += fmt::format("<div>{}: {}: {}</div>", escaped(run_text(sweep, c, run)), escaped(violated->name),
                           escaped(violated->found));
    }
  }
  const auto of_all = [&](std::size_t n) { return fmt::format("{} of {} runs", n, sweep.runs); };
  std::string out;
  if (wrong + unchecked == 0) out += html::verdict_line(Verdict::good, "<b>All checks hold in all runs.</b>");
  if (unchecked > 0)
    out += html::verdict_line(Verdict::warn, "<b>No checks</b> in " + of_all(unchecked) + ".");
  if (wrong > kMostNamed) named += "<div>…</div>";
  if (wrong > 0)
    out += html::verdict_line(Verdict::bad, "<b>A check does not hold in " + of_all(wrong) + ".</b>" + named);
  if (locked > 0) out += html::verdict_line(Verdict::bad, "<b>A deadlock</b> in " + of_all(locked) + ".");
  if (unfinished > 0) {
    out += html::verdict_line(Verdict::warn, "<b>Traffic is unfinished</b> in " + of_all(unfinished) +
                                                 ": times are those of what is finished, and such settings "
                                                 "are no candidates for the best of them.");
  }
  return out;
}

std::string badge_of(const Sweep& sweep, std::size_t winner, std::size_t metric) {
  return fmt::format("<span class='badge {}'>★ {}</span>", html::hue_class(kWinnerHues[winner]),
                     escaped(sweep.metrics[metric].title));
}

std::string winners_text(const Sweep& sweep, const std::vector<Winner>& winners) {
  std::string out;
  for (std::size_t i = 0; i < winners.size(); ++i) {
    const Metric& metric = sweep.metrics[winners[i].metric];
    const Combination& c = sweep.combinations[winners[i].combination];
    out += fmt::format("<p>{} {}: <b>{}</b> with {}{}</p>\n", badge_of(sweep, i, winners[i].metric),
                       metric.aim == Metric::Aim::most ? "highest" : "shortest",
                       quantity_text(spread_of(c, winners[i].metric)->mean, metric.unit),
                       escaped(settings_text(sweep.keys, c.values)), as_good_text(winners[i]));
  }
  return out;
}

std::string left_out(const Shown& shown) {
  std::string out;
  if (!shown.never.empty()) out += "<p class='faint'>None in any run: " + escaped(shown.never) + ".</p>\n";
  if (!shown.unknown.empty())
    out += "<p class='faint'>Not in these results: " + escaped(shown.unknown) + ".</p>\n";
  return out;
}

// Whether anything was run more than once.
bool has_ranges(const Sweep& sweep) {
  return std::ranges::any_of(sweep.combinations, [](const Combination& c) { return c.runs.size() > 1; });
}

Table::Cell spread_cell(const Combination& c, std::size_t metric, const Writing& written) {
  const auto spread = spread_of(c, metric);
  if (!spread) return Table::Cell("–").in_class("faint");
  std::string text = written.text(spread->mean);
  if (const std::string range = written.range(*spread, " – "); !range.empty())
    text += "<br/><small>" + range + "</small>";
  if (spread->runs < c.runs.size())
    text += fmt::format("<br/><small>in {} of {}</small>", spread->runs, c.runs.size());
  return Table::Cell::markup(std::move(text));
}

std::string badges(const Sweep& sweep, const std::vector<Winner>& winners, std::size_t combination) {
  const Combination& c = sweep.combinations[combination];
  std::string out;
  for (std::size_t i = 0; i < winners.size(); ++i) {
    if (winners[i].combination == combination) out += badge_of(sweep, i, winners[i].metric);
  }
  if (!is_right(c)) out += "<span class='badge bad'>✗ wrong</span>";
  if (has_deadlock(c)) out += "<span class='badge bad'>✗ deadlock</span>";
  if (!is_finished(c)) out += "<span class='badge warn'>! unfinished</span>";
  return out.empty() ? out : "<div class='badges'>" + out + "</div>";
}

std::string beyond_text(const Sweep& sweep) {
  if (sweep.combinations.size() <= kMostCombinations) return {};
  return fmt::format("<p class='faint'>Of {} combinations the first {}; --json has all.</p>\n",
                     count_text(sweep.combinations.size()), kMostCombinations);
}

std::string combination_table(const Sweep& sweep, const Shown& shown, const std::vector<Winner>& winners) {
  std::vector<Table::Column> columns;
  for (const std::string& key : sweep.keys) columns.push_back({.title = key, .align = Align::left});
  columns.push_back({.title = "runs", .explanation = "seeds"});
  std::vector<Writing> written;
  for (const std::size_t i : shown.metrics) {
    const Metric& metric = sweep.metrics[i];
    written.push_back(writing_of(sweep, i));
    columns.push_back({.title = metric.title, .unit = written.back().symbol()});
  }
  Table table(std::move(columns));
  for (std::size_t i = 0; i < sweep.combinations.size(); ++i) {
    const Combination& c = sweep.combinations[i];
    const bool is_best = std::ranges::find(winners, i, &Winner::combination) != winners.end();
    if (i >= kMostCombinations && !is_best) continue;
    std::vector<Table::Cell> cells(c.values.begin(), c.values.end());
    cells.emplace_back(count_text(c.runs.size()));
    // Into the first cell, which stays in sight.
    cells.front().markup_text += badges(sweep, winners, i);
    for (std::size_t m = 0; m < shown.metrics.size(); ++m)
      cells.push_back(spread_cell(c, shown.metrics[m], written[m]));
    table.add_row(std::move(cells), is_best ? "best" : "");
  }
  std::string out = "<h2>All combinations</h2>\n";
  out += has_ranges(sweep) ? "<p class='faint'>Means over the seeds, below them their ranges.</p>\n"
                           : "<p class='faint'>One run each: nothing here says how much is chance.</p>\n";
  return out + table.text() + beyond_text(sweep) + left_out(shown);
}

// The values of a key, as they come.
std::vector<std::string> values_of(const Sweep& sweep, std::size_t key) {
  std::vector<std::string> out;
  for (const Combination& c : sweep.combinations) {
    if (std::ranges::find(out, c.values[key]) == out.end()) out.push_back(c.values[key]);
  }
  return out;
}

// Over which key a chart is most of a chart: the first one of amounts, else the first.
std::size_t key_across(const Sweep& sweep) {
  for (std::size_t key = 0; key < sweep.keys.size(); ++key) {
    if (placement_of(values_of(sweep, key)).is_measured) return key;
  }
  return 0;
}

// One series for each combination of the other settings.
html::PointChart chart_of(const Sweep& sweep, std::size_t across, std::size_t index) {
  const Metric& metric = sweep.metrics[index];
  html::PointChart chart{.title = metric.title, .unit = metric.unit, .across = sweep.keys[across]};
  const std::vector<std::string> values = values_of(sweep, across);
  const Placement placement = placement_of(values);
  if (placement.is_logarithmic) chart.across += ", logarithmic";
  chart.is_connected = placement.is_measured;
  for (std::size_t i = 0; i < values.size(); ++i) chart.marks.push_back({placement.shares[i], values[i]});
  std::ranges::sort(chart.marks, {}, &html::Tick::share);
  for (const Combination& c :
       std::span(sweep.combinations).first(std::min(sweep.combinations.size(), kMostCombinations))) {
    const auto spread = spread_of(c, index);
    const std::string label = settings_text(sweep.keys, c.values, across);
    auto series = std::ranges::find(chart.series, label, &html::PointChart::Series::label);
    if (series == chart.series.end()) series = chart.series.insert(series, {.label = label});
    if (!spread) continue;
    const auto place = std::ranges::find(values, c.values[across]) - values.begin();
    series->points.push_back({.share = placement.shares[static_cast<std::size_t>(place)],
                              .mean = spread->mean,
                              .low = spread->low,
                              .high = spread->high,
                              .explanation = fmt::format("{}: {}", settings_text(sweep.keys, c.values),
                                                         quantity_text(spread->mean, metric.unit))});
  }
  for (auto& series : chart.series)
    std::ranges::stable_sort(series.points, {}, &html::PointChart::Point::share);
  return chart;
}

std::string charts(const Sweep& sweep, const Shown& shown) {
  if (sweep.keys.empty()) return "<p class='faint'>Nothing but the seed was varied.</p>\n";
  const std::size_t across = key_across(sweep);
  std::string legend, drawn;
  for (const std::size_t metric : shown.metrics) {
    if (!highest(sweep, metric)) continue;
    const html::PointChart chart = chart_of(sweep, across, metric);
    if (legend.empty()) legend = html::point_legend(chart);
    drawn += html::point_chart(chart);
  }
  return fmt::format(
      "<h2>Over {}</h2>\n<p class='faint'>{}An axis may begin above 0; one whose values lie far apart is "
      "logarithmic.</p>\n{}<div "
      "class='charts'>\n{}</div>\n",
      escaped(sweep.keys[across]),
      has_ranges(sweep) ? "Marks are means over the seeds, upright lines their ranges. " : "", legend, drawn);
}

// What the scenario is there to show: each point with the runs that do, and beside each other by settings.
std::string lessons_text(const Sweep& sweep) {
  const std::vector<SweepLesson> lessons = lessons_of(sweep);
  if (lessons.empty()) return {};
  std::string list;
  std::vector<Table::Column> columns;
  for (const std::string& key : sweep.keys) columns.push_back({.title = key, .align = Align::left});
  for (const SweepLesson& lesson : lessons) {
    const std::size_t seen = std::accumulate(lesson.seen_in.begin(), lesson.seen_in.end(), std::size_t{0});
    const std::string number = fmt::format("{}", columns.size() - sweep.keys.size() + 1);
    list += fmt::format("<li class='{}'><b class='sign'>{}</b> {}<small>in {} of {} runs</small></li>\n",
                        seen == 0 ? "faint" : "good", number, escaped(lesson.says), seen, sweep.runs);
    columns.push_back({.title = number, .explanation = lesson.says});
  }
  std::string out = "<h2>What this scenario shows</h2>\n<ul class='lesson'>\n" + list + "</ul>\n";
  if (sweep.keys.empty()) return out;
  Table table(std::move(columns));
  for (std::size_t i = 0; i < std::min(sweep.combinations.size(), kMostCombinations); ++i) {
    const Combination& c = sweep.combinations[i];
    std::vector<Table::Cell> cells(c.values.begin(), c.values.end());
    for (const SweepLesson& lesson : lessons) {
      const std::size_t seen = lesson.seen_in[i];
      cells.push_back(seen == 0               ? Table::Cell("–").in_class("faint")
                      : seen == c.runs.size() ? Table::Cell("✓")
                                              : Table::Cell(fmt::format("{} of {}", seen, c.runs.size())));
    }
    table.add_row(std::move(cells));
  }
  return out + table.text() + beyond_text(sweep);
}

// What repeats a single one, and tells whether it came out the same.
std::string every_run(const Sweep& sweep, const Shown& shown) {
  std::vector<Table::Column> columns;
  for (const std::string& key : sweep.keys) columns.push_back({.title = key, .align = Align::left});
  columns.push_back({.title = "seed"});
  for (const std::size_t i : shown.metrics) columns.push_back({.title = sweep.metrics[i].title});
  columns.push_back({.title = "event log", .align = Align::left});
  Table table(std::move(columns));
  std::size_t listed = 0;
  for (const Combination& c : sweep.combinations) {
    for (const Combination::Run& run : c.runs) {
      if (++listed > kMostRunsListed) break;
      std::vector<Table::Cell> cells(c.values.begin(), c.values.end());
      cells.emplace_back(fmt::format("{}", run.variation->result.seed));
      for (const std::size_t i : shown.metrics) {
        const auto& value = run.measured[i];
        cells.emplace_back(value ? quantity_text(*value, sweep.metrics[i].unit) : std::string("–"));
      }
      cells.push_back(Table::Cell::markup(
          "<code>" + escaped(run.variation->result.event_log_sha256.substr(0, kDigestShown)) + "</code>"));
      table.add_row(std::move(cells));
    }
  }
  std::string out = "<details><summary>Every run</summary>\n" + table.text();
  if (sweep.runs > kMostRunsListed)
    out += fmt::format("<p class='faint'>And {} more; --json has all.</p>\n",
                       count_text(sweep.runs - kMostRunsListed));
  return out + "</details>\n";
}

}  // namespace

std::string sweep_page(const SweepPage& page) {
  const Sweep sweep = sweep_of(page.variations, page.metrics);
  const Shown shown = shown_of(sweep);
  const std::vector<Winner> winners = winners_of(sweep);
  std::string body = introduction(page, sweep) + sweep_verdicts(sweep) + lessons_text(sweep) +
                     winners_text(sweep, winners) + charts(sweep, shown) +
                     combination_table(sweep, shown, winners) + every_run(sweep, shown);
  if (!page.command.empty()) body += "<h2>The same again</h2>\n<pre>" + escaped(page.command) + "</pre>\n";
  return html::page_text({.title = page.variations.front().result.scenario + ": sweep", .body = body});
}

}  // namespace rocetune::report
