#include "dataplane/base/text_table.h"

#include <algorithm>
#include <numeric>

#include "congestion/units.h"
#include "dataplane/base/utf8.h"

namespace rocetune {
namespace {

constexpr int kGap = 2;        // blanks between columns
constexpr int kNarrowest = 8;  // a column is not shrunk below this

}  // namespace

TextTable::Look TextTable::Look::for_stream(int fd, ColourChoice choice) {
  return {is_terminal(fd) ? terminal_width(fd) : 0, uses_colour(choice, fd), 0};
}

TextTable::TextTable(std::vector<Column> columns) : columns_(std::move(columns)) {
  ROCETUNE_ASSERT(!columns_.empty());
}

void TextTable::add_row(std::vector<Cell> cells) {
  ROCETUNE_ASSERT(cells.size() <= columns_.size());
  cells.resize(columns_.size());
  for (Cell& cell : cells) cell.text = printable(cell.text);
  rows_.push_back({std::move(cells), false});
}

void TextTable::add_rule() { rows_.push_back({{}, true}); }

std::vector<int> TextTable::natural_widths() const {
  std::vector<int> widths;
  for (const Column& column : columns_) {
    widths.push_back(std::max(display_width(column.title), display_width(column.unit)));
  }
  for (const Row& row : rows_) {
    for (std::size_t i = 0; i < row.cells.size(); ++i) {
      widths[i] = std::max(widths[i], display_width(row.cells[i].text));
    }
  }
  return widths;
}

std::vector<int> TextTable::fitted_widths(int total) const {
  std::vector<int> widths = natural_widths();
  if (total <= 0) return widths;
  const int gaps = kGap * static_cast<int>(columns_.size() - 1);
  int excess = std::accumulate(widths.begin(), widths.end(), gaps) - total;
  while (excess > 0) {
    // One column less for the widest that may shrink: the loss is spread over the wide ones.
    int* widest = nullptr;
    for (std::size_t i = 0; i < widths.size(); ++i) {
      if (columns_[i].overflow == Overflow::keep || widths[i] <= kNarrowest) continue;
      if (widest == nullptr || widths[i] > *widest) widest = &widths[i];
    }
    if (widest == nullptr) break;
    --*widest;
    --excess;
  }
  return widths;
}

void TextTable::append_row(std::string& out, const Row& row, const std::vector<int>& widths,
                           const Look& look) const {
  std::vector<std::vector<std::string>> lines(columns_.size());
  std::size_t height = 1;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    if (row.is_rule)
      lines[i] = {std::string(static_cast<std::size_t>(widths[i]), '-')};
    else if (columns_[i].overflow == Overflow::wrap)
      lines[i] = wrapped(row.cells[i].text, widths[i]);
    else
      lines[i] = {truncated(row.cells[i].text, widths[i])};
    height = std::max(height, lines[i].size());
  }
  for (std::size_t line = 0; line < height; ++line) {
    std::size_t blanks = static_cast<std::size_t>(look.indent);  // owed before the next visible text
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      const std::string text = line < lines[i].size() ? lines[i][line] : std::string();
      const auto padding = static_cast<std::size_t>(std::max(widths[i] - display_width(text), 0));
      if (columns_[i].align == Align::right) blanks += padding;
      if (!text.empty()) {
        out.append(blanks, ' ');
        out += painted(text, row.is_rule ? Paint::faint : row.cells[i].paint, look.coloured);
        blanks = 0;
      }
      if (columns_[i].align == Align::left) blanks += padding;
      blanks += kGap;
    }
    out += '\n';
  }
}

std::string TextTable::text(const Look& look) const {
  const std::vector<int> widths = fitted_widths(look.width > 0 ? std::max(look.width - look.indent, 1) : 0);
  Row titles;
  Row units;
  bool has_unit = false;
  for (const Column& column : columns_) {
    titles.cells.emplace_back(column.title, Paint::strong);
    units.cells.emplace_back(column.unit, Paint::faint);
    has_unit = has_unit || !column.unit.empty();
  }
  std::string out;
  append_row(out, titles, widths, look);
  if (has_unit) append_row(out, units, widths, look);
  for (const Row& row : rows_) append_row(out, row, widths, look);
  return out;
}

}  // namespace rocetune
