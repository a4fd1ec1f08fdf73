#include "agent/report/tune_twin.h"

#include <fmt/core.h>

#include "dataplane/html/markup.h"
#include "dataplane/html/page.h"
#include "dataplane/html/table.h"

namespace rocetune::report {
namespace {

using html::escaped;
using html::Table;

std::string predictions_table(const TuneTwin& twin) {
  if (twin.predictions.empty()) return {};
  Table table({{.title = "candidate", .align = Align::left}, {.title = "foretold"}, {.title = "measured"}});
  for (const TuneTwin::Prediction& one : twin.predictions)
    table.add_row({Table::Cell(one.changes).in_class("wrap"), one.predicted, one.measured});
  return "<h3>Foretold and measured</h3>\n" + table.text();
}

std::string fit_tables(const TuneTwin& twin) {
  std::string out;
  if (!twin.parameters.empty()) {
    Table table({{.title = "of the fabric", .align = Align::left},
                 {.title = "in the file"},
                 {.title = "fitted"},
                 {.title = "as well explained by", .align = Align::left},
                 {.title = "told by what was seen", .align = Align::left}});
    for (const TuneTwin::Parameter& one : twin.parameters) {
      table.add_row({one.name, one.of_file, one.fitted, one.between,
                     Table::Cell(one.is_told ? "yes" : "no").in_class(one.is_told ? "good" : "warn")});
    }
    out += "<h3>What it was fitted to</h3>\n" + table.text();
  }
  if (!twin.seen.empty()) {
    Table table({{.title = "seen", .align = Align::left},
                 {.title = "on the hosts"},
                 {.title = "the file's twin"},
                 {.title = "the fitted twin"},
                 {.title = "", .align = Align::left}});
    for (const TuneTwin::Seen& one : twin.seen) {
      table.add_row(
          {one.what, one.observed, one.before, one.fitted, Table::Cell(one.remark).in_class("wrap")});
    }
    out += table.text();
  }
  return out;
}

}  // namespace

std::string tune_twin_section(const TuneTwin& twin) {
  std::string out =
      "<h2>The twin</h2>\n<p>" + escaped(twin.name) +
      " stood for the hosts: it was fitted to what they showed, searched, and its best candidates "
      "were tried on the hosts, on which alone the verdict rests.</p>\n";
  out += html::verdict_line(twin.is_believed ? html::Verdict::good : html::Verdict::warn, escaped(twin.says));
  if (!twin.counted.empty()) out += "<p>" + escaped(twin.counted) + "</p>\n";
  out += predictions_table(twin) + fit_tables(twin);
  if (twin.unknown.empty()) return out;
  Table table(
      {{.title = "what it does not know", .align = Align::left}, {.title = "why", .align = Align::left}});
  for (const TuneTwin::Unknown& one : twin.unknown)
    table.add_row({Table::Cell(one.what).in_class("wrap"), Table::Cell(one.why).in_class("wrap")});
  return out + fmt::format("<details><summary>{} things the twin does not know</summary>\n{}</details>\n",
                           twin.unknown.size(), table.text());
}

}  // namespace rocetune::report
