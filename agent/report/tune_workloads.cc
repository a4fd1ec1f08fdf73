#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "agent/report/tune_sections.h"
#include "agent/report/tune_words.h"
#include "dataplane/html/table.h"

namespace rocetune::report {
namespace {

using html::Table;

// A change that is smaller is neither praised nor blamed, percent.
constexpr double kSeenChange = 1;

Table::Cell change_cell(const search::ObjectiveKind& kind, double before, double after) {
  if (!kind.is_ratio_scale) {
    const double change = after - before;
    const bool is_seen = std::abs(change) * 100 >= kSeenChange;
    const bool is_better = (change > 0) == kind.more_is_better;
    const std::string text = kind.objective == search::Objective::pause_ratio
                                 ? fmt::format("{:+.1f} points", change * 100)
                                 : fmt::format("{:+.3f}", change);
    return Table::Cell(text).in_class(!is_seen ? "faint" : is_better ? "good" : "warn");
  }
  if (!(before > 0)) return Table::Cell("–").in_class("faint");
  const double percent = 100 * (after / before - 1);
  const bool is_better = (percent > 0) == kind.more_is_better;
  return Table::Cell(percent_text(percent))
      .in_class(std::abs(percent) < kSeenChange ? "faint"
                : is_better                     ? "good"
                                                : "warn");
}

std::string objective_name(const search::ObjectiveKind& kind) {
  return fmt::format("{} ({})", objective_words(kind.objective), kind.name);
}

// Nothing was changed for good: there is nothing to compare with.
std::string as_found_section(const TunePage& page) {
  Table table({{.title = "workload", .align = Align::left},
               {.title = "measured", .align = Align::left},
               {.title = "as found"}});
  for (const search::WorkloadResult& result : page.outcome.workloads) {
    const search::Workload& workload = page.plant.workloads()[result.workload];
    std::string name = workload.name + (workload.held_out ? " (held out)" : "");
    for (const search::ObjectiveKind& kind : search::objective_kinds()) {
      const std::optional<double>& found = result.baseline[kind.objective];
      if (!found) continue;
      table.add_row({name, objective_name(kind), objective_text(kind.objective, *found)});
      name.clear();
    }
  }
  return "<h2>As found</h2>\n<p class='faint'>Medians. Held-out traffic is not searched on.</p>\n" +
         table.text();
}

}  // namespace

std::string tune_workloads_section(const TunePage& page) {
  if (page.outcome.workloads.empty()) return {};
  const bool is_compared = std::ranges::any_of(
      page.outcome.workloads, [](const search::WorkloadResult& result) { return result.best.has_value(); });
  if (!is_compared) return as_found_section(page);
  Table table({{.title = "workload", .align = Align::left},
               {.title = "gain of all", .align = Align::left},
               {.title = "measured", .align = Align::left},
               {.title = "as found"},
               {.title = page.outcome.verdict == search::Verdict::change ? "changed" : "best tried"},
               {.title = "difference"}});
  for (const search::WorkloadResult& result : page.outcome.workloads) {
    const search::Workload& workload = page.plant.workloads()[result.workload];
    std::string name = workload.name + (workload.held_out ? " (held out)" : "");
    std::string gain = result.gain_percent ? interval_text(*result.gain_percent) : "";
    for (const search::ObjectiveKind& kind : search::objective_kinds()) {
      const std::optional<double> before = result.baseline[kind.objective];
      const std::optional<double> after = result.best ? (*result.best)[kind.objective] : std::nullopt;
      if (!before && !after) continue;
      const auto text = [&](const std::optional<double>& value) {
        return value ? objective_text(kind.objective, *value) : std::string("–");
      };
      table.add_row({name, gain, objective_name(kind), text(before), text(after),
                     before && after ? change_cell(kind, *before, *after) : Table::Cell("")});
      name.clear();
      gain.clear();
    }
  }
  std::string out = "<h2>Before and after</h2>\n<p class='faint'>Medians";
  if (page.outcome.gain_percent && page.outcome.verdict == search::Verdict::change)
    out += " of the confirmation, in which both ran under circumstances that neither was chosen by";
  out += ".";
  for (const search::Workload& workload : page.plant.workloads()) {
    if (workload.held_out) {
      out += " Held-out traffic was not searched on: it must not get worse.";
      break;
    }
  }
  return out + "</p>\n" + table.text();
}

}  // namespace rocetune::report
