// Tables of a page: columns with their unit below the title, wide ones scroll by themselves.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "dataplane/base/text_table.h"

namespace rocetune::html {

class Table {
 public:
  struct Column {
    std::string title;
    std::string unit = {};
    Align align = Align::right;
    std::string explanation = {};  // shown when one points at the title
  };
  struct Cell {
    // Implicit: a row is a list of texts.
    Cell(std::string_view text);              // NOLINT(google-explicit-constructor)
    Cell(const std::string& text);            // NOLINT(google-explicit-constructor)
    Cell(const char* text);                   // NOLINT(google-explicit-constructor)
    static Cell markup(std::string markup);   // as it is: what came from outside must be escaped
    Cell with_bar(double share) &&;           // a bar behind the text, 0..1 of the cell's width
    Cell in_class(std::string_view name) &&;  // "bad", "warn", "faint"
    std::string markup_text;
    std::string_view class_name = {};
    double share = 0;
  };

  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}
  // As many cells as columns.
  void add_row(std::vector<Cell> cells, std::string_view row_class = {});
  std::string text() const;

 private:
  std::vector<Column> columns_;
  std::vector<std::string> rows_;
};

}  // namespace rocetune::html
