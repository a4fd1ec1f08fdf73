// Tables for people: aligned columns with their unit below the title, fitted to a width, coloured by meaning.
// Without colour and width the text is the same everywhere, to the byte.
//
//   TextTable table({{.title = "port"}, {.title = "rx pause", .unit = "us", .align = Align::right}});
//   table.add_row({"eth0", {"1200", Paint::bad}});
//   std::string text = table.text(TextTable::Look::for_stream(STDOUT_FILENO, ColourChoice::automatic));
#pragma once

#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "dataplane/base/terminal.h"

namespace rocetune {

enum class Align { left, right };
// What a column does when the table is wider than the terminal.
enum class Overflow {
  keep,      // never narrower than its content
  truncate,  // cut, with "…"
  wrap,      // broken into lines
};

class TextTable {
 public:
  struct Column {
    std::string title;
    std::string unit = {};  // shown below the title, if any column has one
    Align align = Align::left;
    Overflow overflow = Overflow::keep;
  };
  struct Cell {
    // Implicit: a row is a list of texts.
    Cell(std::string cell_text = {}, Paint cell_paint = Paint::plain)  // NOLINT(google-explicit-constructor)
        : text(std::move(cell_text)), paint(cell_paint) {}
    Cell(const char* cell_text, Paint cell_paint = Paint::plain)  // NOLINT(google-explicit-constructor)
        : text(cell_text), paint(cell_paint) {}
    std::string text;
    Paint paint;
  };
  struct Look {
    int width = 0;  // columns to fit into; 0 = as wide as it gets
    bool coloured = false;
    int indent = 0;  // blanks before every line
    // The terminal's width and colours if `fd` is one; plain and unlimited if not.
    static Look for_stream(int fd, ColourChoice choice);
  };

  explicit TextTable(std::vector<Column> columns);
  // As many cells as columns, or fewer: the rest is empty. Text is made printable.
  void add_row(std::vector<Cell> cells);
  // A line of dashes across.
  void add_rule();
  bool is_empty() const { return rows_.empty(); }

  // Title row, unit row if there is a unit, rows; every line ends with a newline and without blanks before
  // it.
  std::string text(const Look& look) const;
  std::string text() const { return text(Look()); }

 private:
  struct Row {
    std::vector<Cell> cells;
    bool is_rule = false;
  };
  std::vector<int> natural_widths() const;
  std::vector<int> fitted_widths(int total) const;
  void append_row(std::string& out, const Row& row, const std::vector<int>& widths, const Look& look) const;

  std::vector<Column> columns_;
  std::vector<Row> rows_;
};

}  // namespace rocetune
