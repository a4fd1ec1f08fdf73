// What is to be done, and what was found wrong.
#include <fmt/core.h>

#include <algorithm>

#include "agent/report/tune_sections.h"
#include "agent/report/tune_words.h"
#include "dataplane/html/interval_bars.h"
#include "dataplane/html/markup.h"
#include "dataplane/html/table.h"

namespace rocetune::report {
namespace {

using html::Table;
using search::Attribution;

std::optional<html::IntervalBars::Bar> bar_of(const std::optional<search::Interval>& percent) {
  if (!percent) return std::nullopt;
  return html::IntervalBars::Bar{percent->mid / 100, percent->low / 100, percent->high / 100};
}

// What is longer than a name or a number breaks into lines.
constexpr std::size_t kShort = 30;
Table::Cell text_cell(const std::string& text) {
  return text.size() > kShort ? Table::Cell(text).in_class("wrap") : Table::Cell(text);
}

Table::Cell value_cell(const std::string& text) {
  Table::Cell cell = Table::Cell::markup(value_markup(text));
  return text.size() > kShort ? std::move(cell).in_class("wrap") : cell;
}

std::string interval_or_dash(const std::optional<search::Interval>& percent) {
  return percent ? interval_text(*percent) : "–";
}

// One line for each of the commands that a name is.
std::string commands_markup(std::string_view name) {
  constexpr std::string_view kBetween = "; ";
  std::string out;
  while (!name.empty()) {
    const std::size_t end = std::min(name.find(kBetween), name.size());
    out += fmt::format("{}<code>{}</code>", out.empty() ? "" : "<br/>", html::escaped(name.substr(0, end)));
    name.remove_prefix(std::min(end + kBetween.size(), name.size()));
  }
  return out;
}

std::string emitted_section(const TunePage& page) {
  if (page.emitted.empty()) return {};
  std::vector<Table::Column> columns{{.title = "what", .align = Align::left}};
  for (const std::string& maker : page.makers) columns.push_back({.title = maker, .align = Align::left});
  Table table(std::move(columns));
  for (const TuneNames& one : page.emitted) {
    std::vector<Table::Cell> cells{
        Table::Cell::markup(fmt::format("{}<br/><b>{}</b><br/>{}", html::escaped(one.where),
                                        html::escaped(one.knob), html::escaped(one.value)))};
    for (const std::string& name : one.names) {
      cells.push_back(name.empty() ? Table::Cell("–").in_class("faint")
                                   : Table::Cell::markup(commands_markup(name)).in_class("wrap"));
    }
    table.add_row(std::move(cells));
  }
  return "<h3>By the names of switches</h3>\n<p class='faint'>Recommended: no switch was touched. A dash: "
         "that system "
         "has no such setting, or none that we know of.</p>\n" +
         table.text();
}

std::string list_markup(const std::vector<std::string>& lines) {
  std::string out;
  for (const std::string& line : lines) out += "<li>" + html::escaped(line) + "</li>";
  return out.empty() ? out : "<ul>" + out + "</ul>\n";
}

std::string switch_lines_section(const TunePage& page) {
  if (page.switch_lines.empty()) return {};
  std::string out =
      "<h3>Lines for switches</h3>\n<p class='faint'>What a switch then has, as a whole: trust, DSCPs, PFC, "
      "queues and their "
      "shares, ECN. They replace what a port has of these, so read them before they are loaded; PORT stands "
      "for each port that carries RoCE.</p>\n";
  for (const TuneLines& one : page.switch_lines) {
    const std::string unsaid =
        one.unsaid.empty()
            ? std::string()
            : "<p class='warn'>Not in these lines, to be set by hand:</p>\n" + list_markup(one.unsaid);
    if (one.text.empty()) {
      out += fmt::format("<details><summary>{}: nothing of it</summary>\n{}</details>\n",
                         html::escaped(one.system), unsaid);
      continue;
    }
    out += fmt::format("<details><summary>{}: {}{}</summary>\n<pre>{}</pre>\n{}{}</details>\n",
                       html::escaped(one.system), html::escaped(one.where),
                       one.unsaid.empty() ? "" : ", not all of it", lines_markup(one.text),
                       list_markup(one.notes), unsaid);
  }
  return out;
}

}  // namespace

std::string tune_effects_section(const TunePage& page) {
  const std::vector<Attribution>& all = page.outcome.attribution;
  if (all.empty()) return {};
  html::IntervalBars chart{
      .title = "Gain",
      .note = "the lines: where it lies, chance considered",
      .unit = html::kPercent,
      .ways = {{"this change alone", html::Hue::blue}, {"lost without it", html::Hue::orange}}};
  Table table({{.title = "change", .align = Align::left},
               {.title = "alone"},
               {.title = "lost without it"},
               {.title = "so it is", .align = Align::left}});
  for (const Attribution& one : all) {
    chart.rows.push_back({.label = settings_name(page.plant.space(), one),
                          .note = one.suggestion,
                          .bars = {bar_of(one.alone), bar_of(one.without)}});
    table.add_row({Table::Cell::markup(changes_markup(page.plant.space(), one.settings)).in_class("wrap"),
                   interval_or_dash(one.alone), interval_or_dash(one.without),
                   std::string(effect_words(one.effect))});
  }
  return "<h2>What each change is worth</h2>\n<p class='faint'>Each was tried alone on the plant as found, "
         "and taken back "
         "alone from the best. Gains do not add up: changes may need, or replace, each other.</p>\n" +
         html::interval_bars(chart) + table.text();
}

std::string tune_plan_section(const TunePage& page) {
  if (page.plan.empty()) return {};
  Table table({{.title = "", .align = Align::right},
               {.title = "where", .align = Align::left},
               {.title = "what", .align = Align::left},
               {.title = "from", .align = Align::left},
               {.title = "to", .align = Align::left},
               {.title = "interrupts", .align = Align::left}});
  std::string how, undo;
  int number = 0;
  for (const search::PlanStep& step : page.plan) {
    ++number;
    const auto knob = page.plant.space().find(step.knob);
    const std::string meaning =
        knob ? "<br/><small>" + html::escaped(page.plant.space()[*knob].meaning) + "</small>" : std::string();
    table.add_row({std::to_string(number), step.where,
                   Table::Cell::markup("<b>" + html::escaped(step.knob) + "</b>" + meaning).in_class("wrap"),
                   value_cell(step.before), value_cell(step.after), std::string(disturbance_of(step.cost))});
    how += fmt::format("{}. {}: {}\n", number, html::escaped(step.where), html::escaped(step.how));
    undo = fmt::format("{}. {}: {}\n", number, html::escaped(step.where), html::escaped(step.undo)) + undo;
  }
  return "<h2>The plan</h2>\n" + table.text() + "<h3>How</h3>\n<pre>" + how +
         "</pre>\n<h3>How to undo it</h3>\n<pre>" + undo + "</pre>\n" + emitted_section(page) +
         switch_lines_section(page);
}

std::string tune_findings_section(const TunePage& page) {
  if (page.findings.empty()) return {};
  Table table({{.title = "", .align = Align::left},
               {.title = "rule", .align = Align::left},
               {.title = "where", .align = Align::left},
               {.title = "what is wrong", .align = Align::left},
               {.title = "cure", .align = Align::left}});
  for (const TuneFinding& finding : page.findings) {
    table.add_row({Table::Cell(finding.severity).in_class(finding.severity == "critical" ? "bad" : "warn"),
                   finding.rule, text_cell(finding.where), Table::Cell(finding.cause).in_class("wrap"),
                   Table::Cell(finding.cure).in_class("wrap")});
  }
  return "<h2>What doctor found</h2>\n" + table.text();
}

}  // namespace rocetune::report
