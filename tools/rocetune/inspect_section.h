// One section of what `rocetune inspect` prints: a heading, labelled lines, tables.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "dataplane/base/text_table.h"

namespace rocetune::cli {

// "a, b, c" of what is not empty.
std::string joined(const std::vector<std::string>& parts, std::string_view separator = ", ");

// Collects "label  text" lines, wrapped and indented.
class Section {
 public:
  static constexpr int kDefaultWidth = 100;  // columns, when the stream has no width
  static constexpr int kLabel = 16;          // columns of the labels on the left

  explicit Section(const TextTable::Look& look) : look_(look) {}

  void heading(const std::string& name, const std::string& rest);
  // Nothing is printed for an empty text.
  void line(const std::string& label, const std::string& text, Paint paint = Paint::plain);
  // Nothing is printed for a table without rows.
  void table(const std::string& title, const TextTable& table);
  void blank() { out_ += "\n"; }
  std::string take() { return std::move(out_); }

 private:
  int width() const { return look_.width > 0 ? look_.width : kDefaultWidth; }

  TextTable::Look look_;
  std::string out_;
};

}  // namespace rocetune::cli
