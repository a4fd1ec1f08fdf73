#include "agent/report/pause_tree.h"

#include <fmt/core.h>

#include <algorithm>

#include "dataplane/html/markup.h"
#include "dataplane/html/quantity.h"
#include "dataplane/html/table.h"

namespace rocetune::report {
namespace {

using html::escaped;
using html::Table;

constexpr int kDeepestIndent = 12;  // deeper ones would leave no place for words

std::string branch(const fabric::PauseCause& cause, bool is_circle) {
  const std::string_view badge = cause.depth == 0 && !is_circle
                                     ? " <span class='badge vermilion'>root cause</span>"
                                     : std::string_view();
  return fmt::format("<div class='branch' style='--d:{}'><b>{}</b> held <b>{}</b>{}<small>{}</small></div>",
                     std::clamp(cause.depth, 0, kDeepestIndent), escaped(cause.pauser), escaped(cause.held),
                     badge, escaped(cause.because));
}

bool have_one_priority(const std::vector<fabric::PauseCause>& causes) {
  return std::ranges::all_of(causes, [&](const auto& c) { return c.priority == causes.front().priority; });
}

Table table_of(const std::vector<fabric::PauseCause>& causes, std::size_t first, std::size_t last,
               bool is_circle) {
  std::vector<Table::Column> columns{
      {.title = "who held whom, and why", .align = Align::left},
      {.title = "held", .align = Align::left, .explanation = "share of the run's time"},
      {.title = "Xoff", .explanation = "frames, refreshes not counted"}};
  // A column of equal numbers would take the place of words.
  const bool has_priorities = !have_one_priority(causes);
  if (has_priorities) columns.push_back({.title = "priority"});
  Table table(std::move(columns));
  for (std::size_t i = first; i < last; ++i) {
    const fabric::PauseCause& cause = causes[i];
    std::vector<Table::Cell> cells{
        Table::Cell::markup(branch(cause, is_circle)).in_class("wrap"),
        Table::Cell::markup(html::share_bar(cause.held_ratio, html::Hue::vermilion) + " " +
                            html::quantity_text(cause.held_ratio, html::kPercent)),
        html::count_text(cause.xoffs)};
    if (has_priorities) cells.emplace_back(fmt::format("{}", cause.priority));
    table.add_row(std::move(cells));
  }
  return table;
}

}  // namespace

std::string pause_tree_section(const std::vector<fabric::PauseCause>& causes, std::uint64_t pause_frames,
                               bool is_circle) {
  std::string out = "<h2>Who paused whom</h2>\n";
  if (causes.empty()) {
    return out + (pause_frames == 0 ? "<p>Nobody: no pause frame was sent.</p>\n"
                                    : "<p class='faint'>Pause frames were sent, but this result does not say "
                                      "by whom and why.</p>\n");
  }
  out += is_circle ? "<p class='faint'>In a circle there is no first cause: each holds up the next."
                   : "<p class='faint'>Indented below a cause: what it held up, which therefore held others.";
  if (have_one_priority(causes)) out += fmt::format(" All on priority {}.", causes.front().priority);
  out += "</p>\n";
  const std::size_t at_once = std::min(causes.size(), kCausesAtOnce);
  const std::size_t shown = std::min(causes.size(), kMostCauses);
  out += table_of(causes, 0, at_once, is_circle).text();
  if (shown > at_once) {
    out += fmt::format("<details><summary>{} more</summary>\n{}</details>\n", shown - at_once,
                       table_of(causes, at_once, shown, is_circle).text());
  }
  if (causes.size() > shown)
    out += fmt::format("<p class='faint'>And {} more; --json has all.</p>\n", causes.size() - shown);
  return out;
}

}  // namespace rocetune::report
