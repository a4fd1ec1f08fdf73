#include "dataplane/html/table.h"

#include <fmt/core.h>

#include <algorithm>

#include "congestion/units.h"
#include "dataplane/html/markup.h"

namespace rocetune::html {
namespace {

std::string class_attribute(bool is_left, std::string_view name) {
  if (!is_left && name.empty()) return {};
  return fmt::format(" class='{}{}{}'", is_left ? "l" : "", is_left && !name.empty() ? " " : "", name);
}

}  // namespace

Table::Cell::Cell(std::string_view text) : markup_text(escaped(text)) {}
Table::Cell::Cell(const std::string& text) : Cell(std::string_view(text)) {}
Table::Cell::Cell(const char* text) : Cell(std::string_view(text)) {}

Table::Cell Table::Cell::markup(std::string markup) {
  Cell out("");
  out.markup_text = std::move(markup);
  return out;
}

Table::Cell Table::Cell::with_bar(double of_width) && {
  share = of_width > 0 ? std::min(of_width, 1.0) : 0;
  return std::move(*this);
}

Table::Cell Table::Cell::in_class(std::string_view name) && {
  class_name = name;
  return std::move(*this);
}

void Table::add_row(std::vector<Cell> cells, std::string_view row_class) {
  ROCETUNE_ASSERT(cells.size() == columns_.size());
  std::string row = row_class.empty() ? "<tr>" : fmt::format("<tr class='{}'>", row_class);
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const std::string bar =
        cells[i].share > 0 ? fmt::format(" style='--s:{:.1f}%'", 100 * cells[i].share) : std::string();
    row +=
        fmt::format("<td{}{}>{}</td>", class_attribute(columns_[i].align == Align::left, cells[i].class_name),
                    bar, cells[i].markup_text);
  }
  rows_.push_back(row + "</tr>\n");
}

std::string Table::text() const {
  std::string out = "<div class='wide'><table>\n<thead><tr>";
  for (const Column& column : columns_) {
    const std::string explained =
        column.explanation.empty() ? std::string() : fmt::format(" title='{}'", escaped(column.explanation));
    const std::string unit =
        column.unit.empty() ? std::string() : fmt::format("<br/><small>{}</small>", escaped(column.unit));
    out += fmt::format("<th scope='col'{}{}>{}{}</th>", class_attribute(column.align == Align::left, {}),
                       explained, escaped(column.title), unit);
  }
  out += "</tr></thead>\n<tbody>\n";
  for (const std::string& row : rows_) out += row;
  return out + "</tbody></table></div>\n";
}

}  // namespace rocetune::html
