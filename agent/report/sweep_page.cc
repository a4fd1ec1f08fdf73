#include "agent/report/sweep_page.h"

#include <fmt/core.h>

#include <algorithm>

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
constexpr std::string_view kGoodputBadge = "<span class='badge blue'>★ goodput</span>",
                           kP99Badge = "<span class='badge green'>★ p99</span>";

std::string settings_text(const std::vector<std::string>& keys, const std::vector<std::string>& values,
                          std::size_t first = 0) {
  std::string out;
  for (std::size_t i = first; i < keys.size(); ++i)
    out += fmt::format("{}{} = {}", out.empty() ? "" : ", ", keys[i], values[i]);
  return out;
}

std::string run_text(const Sweep& sweep, const Combination& combination, const Variation& run) {
  const std::string settings = settings_text(sweep.keys, combination.values);
  return fmt::format("{}{}seed {}", settings, settings.empty() ? "" : ", ", run.seed);
}

std::string introduction(const SweepPage& page, const Sweep& sweep) {
  std::string out;
  if (!page.description.empty()) out += "<p>" + escaped(page.description) + "</p>\n";
  out += fmt::format("<p class='faint'>{} {} of {} {} of settings", count_text(page.variations.size()),
                     page.variations.size() == 1 ? "run" : "runs", count_text(sweep.combinations.size()),
                     sweep.combinations.size() == 1 ? "combination" : "combinations");
  for (std::size_t i = 0; i < sweep.fixed.size(); ++i) {
    out += fmt::format("{} {} = {}", i == 0 ? "; in all" : ",", escaped(sweep.fixed[i].first),
                       escaped(sweep.fixed[i].second));
  }
  return out + "</p>\n";
}

// What the runs show that is not a number.
std::string sweep_verdicts(const SweepPage& page, const Sweep& sweep) {
  std::size_t unchecked = 0, wrong = 0, locked = 0, unfinished = 0;
  std::string named;
  for (const Combination& c : sweep.combinations) {
    for (const Variation* run : c.runs) {
      const fabric::RunResult& r = run->result;
      unchecked += r.checkers.empty() ? 1 : 0;
      locked += r.deadlock ? 1 : 0;
      unfinished += r.flows.finished < r.flows.count ? 1 : 0;
      if (r.is_right()) continue;
      if (++wrong > kMostNamed) continue;
      const auto violated = std::ranges::find(r.checkers, false, &fabric::CheckerResult::holds);
      named += fmt::format("<div>{}: {}: {}</div>", escaped(run_text(sweep, c, *run)),
                           escaped(violated->name), escaped(violated->found));
    }
  }
  const auto of_all = [&](std::size_t n) { return fmt::format("{} of {} runs", n, page.variations.size()); };
  std::string out;
  if (wrong + unchecked == 0) out += html::verdict_line(Verdict::good, "<b>All checks hold in all runs.</b>");
  if (unchecked > 0)
    out += html::verdict_line(Verdict::warn, "<b>No checks</b> in " + of_all(unchecked) + ".");
  if (wrong > kMostNamed) named += "<div>…</div>";
  if (wrong > 0)
    out += html::verdict_line(Verdict::bad, "<b>A check does not hold in " + of_all(wrong) + ".</b>" + named);
  if (locked > 0) out += html::verdict_line(Verdict::bad, "<b>A deadlock</b> in " + of_all(locked) + ".");
  if (unfinished > 0) {
    out += html::verdict_line(Verdict::warn, "<b>Flows are unfinished</b> in " + of_all(unfinished) +
                                                 ": completion times are those of the finished ones, and "
                                                 "such settings are no candidates for the best p99.");
  }
  return out;
}

std::string winners(const Sweep& sweep, const Best& best) {
  const auto line = [&](std::string_view badge, std::string_view title, std::optional<std::size_t> place,
                        const Metric& metric) {
    if (!place) return std::string();
    const Combination& c = sweep.combinations[*place];
    return fmt::format("<p>{} {}: <b>{}</b> with {}</p>\n", badge, title,
                       quantity_text(spread_of(c, metric)->mean, metric.unit),
                       escaped(settings_text(sweep.keys, c.values)));
  };
  return line(kGoodputBadge, "Most goodput", best.goodput, goodput_metric()) +
         line(kP99Badge, "Shortest completion p99", best.p99, p99_metric());
}

// The most of all runs; nothing if none of them says.
std::optional<double> highest(const Sweep& sweep, const Metric& metric) {
  std::optional<double> out;
  for (const Combination& c : sweep.combinations) {
    if (const auto spread = spread_of(c, metric)) out = std::max(out.value_or(0), spread->high);
  }
  return out;
}

// Worth a column and a chart.
bool is_ever(const Sweep& sweep, const Metric& metric) { return highest(sweep, metric).value_or(0) > 0; }

// What has no column, and why: it never happened, or nobody knows.
std::string left_out(const Sweep& sweep) {
  std::string never, unknown;
  for (const Metric& metric : metrics()) {
    const auto most = highest(sweep, metric);
    if (most && *most > 0) continue;
    std::string& titles = most ? never : unknown;
    titles += fmt::format("{}{}", titles.empty() ? "" : ", ", metric.title);
  }
  std::string out;
  if (!never.empty()) out += "<p class='faint'>None in any run: " + never + ".</p>\n";
  if (!unknown.empty()) out += "<p class='faint'>Not in these results: " + unknown + ".</p>\n";
  return out;
}

// Whether anything was run more than once.
bool has_ranges(const Sweep& sweep) {
  return std::ranges::any_of(sweep.combinations, [](const Combination& c) { return c.runs.size() > 1; });
}

Table::Cell measured(const Combination& c, const Metric& metric, const html::Written& written) {
  const auto spread = spread_of(c, metric);
  if (!spread) return Table::Cell("–").in_class("faint");
  std::string text = written.text(spread->mean);
  if (spread->low < spread->high)
    text += fmt::format("<br/><small>{} – {}</small>", written.text(spread->low), written.text(spread->high));
  if (spread->runs < c.runs.size())
    text += fmt::format("<br/><small>in {} of {}</small>", spread->runs, c.runs.size());
  return Table::Cell::markup(std::move(text));
}

std::string badges(const Combination& c, bool most_goodput, bool shortest_p99) {
  std::string out;
  if (most_goodput) out += kGoodputBadge;
  if (shortest_p99) out += kP99Badge;
  if (!is_sound(c)) out += "<span class='badge bad'>✗ wrong</span>";
  if (!is_finished(c)) out += "<span class='badge warn'>! unfinished</span>";
  return out.empty() ? out : "<div class='badges'>" + out + "</div>";
}

std::string combination_table(const Sweep& sweep, const Best& best) {
  std::vector<Table::Column> columns;
  for (const std::string& key : sweep.keys) columns.push_back({.title = key, .align = Align::left});
  columns.push_back({.title = "runs", .explanation = "seeds"});
  std::vector<std::pair<const Metric*, html::Written>> shown;
  for (const Metric& metric : metrics()) {
    if (!is_ever(sweep, metric)) continue;
    shown.emplace_back(&metric, html::written_for(*highest(sweep, metric), metric.unit));
    columns.push_back({.title = std::string(metric.title), .unit = shown.back().second.symbol});
  }
  Table table(std::move(columns));
  for (std::size_t i = 0; i < sweep.combinations.size(); ++i) {
    const Combination& c = sweep.combinations[i];
    std::vector<Table::Cell> cells(c.values.begin(), c.values.end());
    cells.emplace_back(count_text(c.runs.size()));
    // Into the first cell, which stays in sight.
    cells.front().markup_text += badges(c, best.goodput == i, best.p99 == i);
    for (const auto& [metric, written] : shown) cells.push_back(measured(c, *metric, written));
    table.add_row(std::move(cells), best.goodput == i || best.p99 == i ? "best" : "");
  }
  std::string out = "<h2>All combinations</h2>\n";
  out += has_ranges(sweep) ? "<p class='faint'>Means over the seeds, below them their ranges.</p>\n"
                           : "<p class='faint'>One run each: nothing here says how much is chance.</p>\n";
  return out + table.text() + left_out(sweep);
}

// One series for each combination of the other settings.
html::PointChart chart_of(const Sweep& sweep, const Metric& metric) {
  html::PointChart chart{
      .title = std::string(metric.title), .unit = metric.unit, .across = sweep.keys.front()};
  std::vector<std::string> values;
  for (const Combination& c : sweep.combinations) {
    if (std::ranges::find(values, c.values.front()) == values.end()) values.push_back(c.values.front());
  }
  const Placement placement = placement_of(values);
  if (placement.is_logarithmic) chart.across += ", logarithmic";
  chart.is_connected = placement.is_measured;
  for (std::size_t i = 0; i < values.size(); ++i) chart.marks.push_back({placement.shares[i], values[i]});
  std::ranges::sort(chart.marks, {}, &html::Tick::share);
  for (const Combination& c : sweep.combinations) {
    const auto spread = spread_of(c, metric);
    const std::string label = settings_text(sweep.keys, c.values, 1);
    auto series = std::ranges::find(chart.series, label, &html::PointChart::Series::label);
    if (series == chart.series.end()) series = chart.series.insert(series, {.label = label});
    if (!spread) continue;
    const auto place = std::ranges::find(values, c.values.front()) - values.begin();
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

std::string charts(const Sweep& sweep) {
  if (sweep.keys.empty()) return "<p class='faint'>Nothing but the seed was varied.</p>\n";
  std::string legend, drawn;
  for (const Metric& metric : metrics()) {
    if (!is_ever(sweep, metric)) continue;
    const html::PointChart chart = chart_of(sweep, metric);
    if (legend.empty()) legend = html::point_legend(chart);
    drawn += html::point_chart(chart);
  }
  return fmt::format(
      "<h2>Over {}</h2>\n<p class='faint'>{}An axis may begin above 0.</p>\n{}<div "
      "class='charts'>\n{}</div>\n",
      escaped(sweep.keys.front()),
      has_ranges(sweep) ? "Marks are means over the seeds, upright lines their ranges. " : "", legend, drawn);
}

// What repeats a single one, and tells whether it came out the same.
std::string every_run(const Sweep& sweep) {
  std::vector<Table::Column> columns;
  for (const std::string& key : sweep.keys) columns.push_back({.title = key, .align = Align::left});
  columns.push_back({.title = "seed"});
  columns.push_back({.title = "goodput"});
  columns.push_back({.title = "completion p99"});
  columns.push_back({.title = "flows finished"});
  columns.push_back({.title = "event log", .align = Align::left});
  Table table(std::move(columns));
  for (const Combination& c : sweep.combinations) {
    for (const Variation* run : c.runs) {
      const auto text = [&](const Metric& metric) {
        const auto value = metric.of(run->result);
        return value ? quantity_text(*value, metric.unit) : std::string("–");
      };
      std::vector<Table::Cell> cells(c.values.begin(), c.values.end());
      cells.emplace_back(fmt::format("{}", run->seed));
      cells.emplace_back(text(goodput_metric()));
      cells.emplace_back(text(p99_metric()));
      cells.emplace_back(fmt::format("{} / {}", count_text(run->result.flows.finished),
                                     count_text(run->result.flows.count)));
      cells.push_back(Table::Cell::markup(
          "<code>" + escaped(run->result.event_log_sha256.substr(0, kDigestShown)) + "</code>"));
      table.add_row(std::move(cells));
    }
  }
  return "<details><summary>Every run</summary>\n" + table.text() + "</details>\n";
}

}  // namespace

std::string sweep_page(const SweepPage& page) {
  std::string body;
  if (page.variations.empty()) {
    body = "<p>" + escaped(page.description) + "</p>\n<p>Nothing was run.</p>\n";
  } else {
    const Sweep sweep = sweep_of(page.variations);
    const Best best = best_of(sweep);
    body = introduction(page, sweep) + sweep_verdicts(page, sweep) + winners(sweep, best) + charts(sweep) +
           combination_table(sweep, best) + every_run(sweep);
  }
  if (!page.command.empty()) body += "<h2>The same again</h2>\n<pre>" + escaped(page.command) + "</pre>\n";
  return html::page_text({.title = page.scenario + ": sweep", .body = body});
}

}  // namespace rocetune::report
