#include "tools/rocetune/inspect_section.h"

#include <fmt/core.h>

#include <algorithm>

namespace rocetune::cli {
namespace {

std::vector<std::string> wrapped(const std::string& text, int room) {
  std::vector<std::string> out{""};
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t end = std::min(text.find(' ', at), text.size());
    const std::string word = text.substr(at, end - at);
    if (!out.back().empty() && out.back().size() + 1 + word.size() > static_cast<std::size_t>(room))
      out.emplace_back();
    out.back() += (out.back().empty() ? "" : " ") + word;
    at = end + 1;
  }
  return out;
}

}  // namespace

std::string joined(const std::vector<std::string>& parts, std::string_view separator) {
  std::string out;
  for (const std::string& part : parts) {
    if (!part.empty()) out += (out.empty() ? "" : std::string(separator)) + part;
  }
  return out;
}

void Section::heading(const std::string& name, const std::string& rest) {
  out_ += painted(name, Paint::strong, look_.coloured);
  if (!rest.empty()) out_ += "  " + rest;
  out_ += "\n";
}

void Section::line(const std::string& label, const std::string& text, Paint paint) {
  if (text.empty()) return;
  const int room = std::max(width() - kLabel - 2, 20);
  std::string shown = label;
  for (const std::string& piece : wrapped(text, room)) {
    out_ += fmt::format("  {:<{}}{}\n", shown, kLabel, painted(piece, paint, look_.coloured));
    shown.clear();
  }
}

void Section::table(const std::string& title, const TextTable& table) {
  if (table.is_empty()) return;
  out_ += fmt::format("  {}\n", title);
  TextTable::Look look = look_;
  look.width = width();
  look.indent = 4;
  out_ += table.text(look);
}

}  // namespace rocetune::cli
