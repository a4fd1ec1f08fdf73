#include "dataplane/base/json_writer.h"

#include <charconv>
#include <cmath>
#include <utility>

#include "congestion/units.h"
#include "dataplane/base/utf8.h"

namespace rocetune {
void JsonWriter::newline() {
  if (style_ == Style::compact) return;
  out_ += '\n';
  out_.append(open_.size() * 2, ' ');
}

void JsonWriter::before_value() {
  if (after_key_) {
    after_key_ = false;
    return;
  }
  ROCETUNE_ASSERT(open_.empty() || open_.back() == '[');
  if (open_.empty()) return;
  if (!first_) out_ += ',';
  newline();
  first_ = false;
}

JsonWriter& JsonWriter::begin_object() {
  before_value();
  out_ += '{';
  open_.push_back('{');
  first_ = true;
  return *this;
}

JsonWriter& JsonWriter::end_object() {
  ROCETUNE_ASSERT(!open_.empty() && open_.back() == '{' && !after_key_);
  open_.pop_back();
  if (!first_) newline();
  out_ += '}';
  first_ = false;
  return *this;
}

JsonWriter& JsonWriter::begin_array() {
  before_value();
  out_ += '[';
  open_.push_back('[');
  first_ = true;
  return *this;
}

JsonWriter& JsonWriter::end_array() {
  ROCETUNE_ASSERT(!open_.empty() && open_.back() == '[');
  open_.pop_back();
  if (!first_) newline();
  out_ += ']';
  first_ = false;
  return *this;
}

JsonWriter& JsonWriter::key(std::string_view name) {
  ROCETUNE_ASSERT(!open_.empty() && open_.back() == '{' && !after_key_);
  if (!first_) out_ += ',';
  newline();
  first_ = false;
  quoted(name);
  out_ += style_ == Style::compact ? ":" : ": ";
  after_key_ = true;
  return *this;
}

JsonWriter& JsonWriter::value(std::string_view text) {
  before_value();
  quoted(text);
  return *this;
}

JsonWriter& JsonWriter::value(bool b) {
  before_value();
  out_ += b ? "true" : "false";
  return *this;
}

JsonWriter& JsonWriter::value(std::int64_t n) {
  before_value();
  out_ += std::to_string(n);
  return *this;
}

JsonWriter& JsonWriter::value(std::uint64_t n) {
  before_value();
  out_ += std::to_string(n);
  return *this;
}

JsonWriter& JsonWriter::value(double d) {
  if (!std::isfinite(d)) return null();
  before_value();
  char buffer[32];
  const auto result = std::to_chars(buffer, buffer + sizeof buffer, d);
  out_.append(buffer, result.ptr);
  return *this;
}

JsonWriter& JsonWriter::null() {
  before_value();
  out_ += "null";
  return *this;
}

void JsonWriter::quoted(std::string_view text) {
  constexpr char kHex[] = "0123456789abcdef";
  out_ += '"';
  while (!text.empty()) {
    const char c = text.front();
    if (c == '"' || c == '\\') {
      out_ += '\\';
      out_ += c;
    } else if (c == '\n') {
      out_ += "\\n";
    } else if (c == '\t') {
      out_ += "\\t";
    } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) {
      out_ += "\\u00";
      out_ += kHex[static_cast<unsigned char>(c) >> 4];
      out_ += kHex[c & 15];
    } else if (const std::size_t length = utf8_length(text); length > 0) {
      out_.append(text.substr(0, length));
      text.remove_prefix(length);
      continue;
    } else {
      out_ += "\xEF\xBF\xBD";
    }
    text.remove_prefix(1);
  }
  out_ += '"';
}

std::string JsonWriter::take() {
  ROCETUNE_ASSERT(open_.empty() && !after_key_);
  if (style_ == Style::indented) out_ += '\n';
  first_ = true;
  return std::exchange(out_, std::string());
}

}  // namespace rocetune
