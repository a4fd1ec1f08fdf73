#include "dataplane/base/utf8.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

namespace rocetune {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";  // U+FFFD
constexpr std::string_view kEllipsis = "\xE2\x80\xA6";     // U+2026

struct Range {
  char32_t first;
  char32_t last;
};
// Blocks of combining marks and invisible characters (Unicode categories Mn, Me, Cf), the ones people meet.
constexpr std::array<Range, 9> kZeroWidth{{{0x0300, 0x036F},
                                           {0x0483, 0x0489},
                                           {0x0591, 0x05BD},
                                           {0x0610, 0x061A},
                                           {0x064B, 0x065F},
                                           {0x200B, 0x200F},
                                           {0x20D0, 0x20FF},
                                           {0xFE00, 0xFE0F},
                                           {0xFE20, 0xFE2F}}};
// Wide and fullwidth blocks of Unicode Standard Annex 11.
constexpr std::array<Range, 9> kDoubleWidth{{{0x1100, 0x115F},
                                             {0x2E80, 0x303E},
                                             {0x3041, 0xA4CF},
                                             {0xAC00, 0xD7A3},
                                             {0xF900, 0xFAFF},
                                             {0xFE30, 0xFE6F},
                                             {0xFF00, 0xFF60},
                                             {0x1F300, 0x1FAFF},
                                             {0x20000, 0x3FFFD}}};

template <std::size_t N>
bool is_in(const std::array<Range, N>& ranges, char32_t c) {
  return std::any_of(ranges.begin(), ranges.end(),
                     [c](const Range& range) { return range.first <= c && c <= range.last; });
}

// The code point of a valid sequence.
char32_t decoded(std::string_view sequence) {
  const auto lead = static_cast<unsigned char>(sequence[0]);
  if (sequence.size() == 1) return lead;
  char32_t out = lead & (0x7Fu >> sequence.size());
  for (const char c : sequence.substr(1)) out = out << 6 | (static_cast<unsigned char>(c) & 0x3Fu);
  return out;
}

struct Character {
  std::size_t bytes;
  int columns;
};
// The first character of a text that is not empty; an invalid byte counts as one column.
Character first_of(std::string_view text) {
  const std::size_t length = utf8_length(text);
  if (length <= 1) return {1, 1};
  const char32_t c = decoded(text.substr(0, length));
  return {length, is_in(kZeroWidth, c) ? 0 : is_in(kDoubleWidth, c) ? 2 : 1};
}

// The longest prefix of at most `width` columns, in bytes.
std::size_t prefix_within(std::string_view text, int width) {
  std::size_t bytes = 0;
  int columns = 0;
  while (bytes < text.size()) {
    const Character c = first_of(text.substr(bytes));
    if (columns + c.columns > width) break;
    columns += c.columns;
    bytes += c.bytes;
  }
  return bytes;
}

}  // namespace

std::size_t utf8_length(std::string_view text) {
  if (text.empty()) return 0;
  const auto byte = [&](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u; };
  const auto continues = [&](std::size_t i) { return (byte(i) & 0xC0) == 0x80; };
  const unsigned lead = byte(0);
  if (lead < 0x80) return 1;
  if (lead >= 0xC2 && lead <= 0xDF) return continues(1) ? 2 : 0;
  if (lead >= 0xE0 && lead <= 0xEF) {
    const unsigned second = byte(1);
    if (lead == 0xE0 && second < 0xA0) return 0;
    if (lead == 0xED && second > 0x9F) return 0;
    return continues(1) && continues(2) ? 3 : 0;
  }
  if (lead >= 0xF0 && lead <= 0xF4) {
    const unsigned second = byte(1);
    if (lead == 0xF0 && second < 0x90) return 0;
    if (lead == 0xF4 && second > 0x8F) return 0;
    return continues(1) && continues(2) && continues(3) ? 4 : 0;
  }
  return 0;
}

std::string printable(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const std::size_t length = std::max<std::size_t>(utf8_length(text), 1);
    const std::string_view sequence = text.substr(0, length);
    const auto lead = static_cast<unsigned char>(sequence[0]);
    const bool is_control = (length == 1 && (lead < 0x20 || lead >= 0x7F)) ||
                            (length == 2 && lead == 0xC2 && static_cast<unsigned char>(sequence[1]) < 0xA0);
    if (lead == '\t' || lead == '\n' || lead == '\r')
      out += ' ';
    else
      out += is_control ? kReplacement : sequence;
    text.remove_prefix(length);
  }
  return out;
}

int display_width(std::string_view text) {
  int columns = 0;
  while (!text.empty()) {
    const Character c = first_of(text);
    columns += c.columns;
    text.remove_prefix(c.bytes);
  }
  return columns;
}

std::string truncated(std::string_view text, int width) {
  if (width <= 0) return {};
  if (display_width(text) <= width) return std::string(text);
  return std::string(text.substr(0, prefix_within(text, width - 1))) + std::string(kEllipsis);
}

std::vector<std::string> wrapped(std::string_view text, int width) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    std::size_t end = prefix_within(text, width);
    std::size_t next = end;
    if (end < text.size()) {
      const std::size_t blank = text.rfind(' ', end);
      if (blank != std::string_view::npos && blank > 0) {
        end = blank;
        next = blank;
      } else if (end == 0) {
        end = next = first_of(text).bytes;
      }
    }
    lines.emplace_back(text.substr(0, end));
    while (!lines.back().empty() && lines.back().back() == ' ') lines.back().pop_back();
    while (next < text.size() && text[next] == ' ') ++next;
    text.remove_prefix(next);
  }
  if (lines.empty()) lines.emplace_back();
  return lines;
}

}  // namespace rocetune
