// Writes JSON in the order it is told, two-space indented or compact, deterministic to the byte. Keys carry
// their unit
// ("mtu_bytes"); what is not known is not written, or written as null with a reason beside it, never as zero.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace rocetune {

class JsonWriter {
 public:
  enum class Style { indented, compact };
  explicit JsonWriter(Style style = Style::indented) : style_(style) {}

  JsonWriter& begin_object();
  JsonWriter& end_object();
  JsonWriter& begin_array();
  JsonWriter& end_array();
  JsonWriter& key(std::string_view name);
  JsonWriter& value(std::string_view text);  // invalid UTF-8 bytes become U+FFFD
  JsonWriter& value(const char* text) { return value(std::string_view(text)); }
  JsonWriter& value(bool);
  JsonWriter& value(std::int64_t);
  JsonWriter& value(std::uint64_t);
  JsonWriter& value(int n) { return value(std::int64_t{n}); }
  JsonWriter& value(unsigned n) { return value(std::uint64_t{n}); }
  JsonWriter& value(double);  // shortest form that reads back equal; NaN and infinities become null
  JsonWriter& null();
  template <class T>
  JsonWriter& member(std::string_view name, const T& v) {
    key(name);
    return value(v);
  }

  // The text so far; complete (every begin has its end) when taken. Indented style ends with a newline.
  std::string take();

 private:
  void before_value();
  void newline();
  void quoted(std::string_view text);

  Style style_;
  std::string out_;
  std::vector<char> open_;  // '{' or '['
  bool first_ = true;       // nothing yet in the innermost container
  bool after_key_ = false;
};

}  // namespace rocetune
