#include "dataplane/html/table.h"

#include <gmock/gmock.h>

#include "tests/dataplane/html/well_formed.h"

namespace rocetune::html {
namespace {

TEST(Table, SaysUnitsAndAlignsByColumn) {
  Table table({{.title = "port", .align = Align::left},
               {.title = "queue", .unit = "kB", .explanation = "it's <max>"}});
  table.add_row({"a<b", Table::Cell("12").with_bar(0.5).in_class("warn")}, "best");
  table.add_row({Table::Cell("–").in_class("faint"), Table::Cell::markup("<b>1</b>")});
  const std::string text = table.text();
  EXPECT_EQ(markup_problem(text), "");
  EXPECT_EQ(
      text,
      "<div class='wide'><table>\n<thead><tr><th scope='col' class='l'>port</th>"
      "<th scope='col' title='it&#39;s &lt;max&gt;'>queue<br/><small>kB</small></th></tr></thead>\n<tbody>\n"
      "<tr class='best'><td class='l'>a&lt;b</td><td class='warn' style='--s:50.0%'>12</td></tr>\n"
      "<tr><td class='l faint'>–</td><td><b>1</b></td></tr>\n"
      "</tbody></table></div>\n");
}

TEST(Table, ABarIsAtMostTheCell) {
  Table table({{.title = "a"}});
  table.add_row({Table::Cell("1").with_bar(9)});
  table.add_row({Table::Cell("2").with_bar(-1)});
  EXPECT_THAT(table.text(), testing::HasSubstr("<td style='--s:100.0%'>1</td></tr>\n<tr><td>2</td>"));
}

}  // namespace
}  // namespace rocetune::html
