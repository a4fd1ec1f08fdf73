// Small words of this family's readers: numbers at the beginning of a text, prompts of another host.
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "agent/evidence/format.h"
#include "agent/evidence/line.h"
#include "agent/evidence/words.h"

namespace rocetune::evidence {

// The number that a text begins with (blanks in front), whatever follows. Nothing if it is out of range.
template <class Number>
std::optional<Number> leading_number(std::string_view text) {
  text = trimmed(text);
  const auto value = take_number<Number>(text);
  if constexpr (std::floating_point<Number>) {
    if (value && !(*value > -1e18 && *value < 1e18)) return std::nullopt;
  }
  return value;
}

// The number that a text is, within [least, most].
template <std::integral Number>
std::optional<Number> whole_number(std::string_view text, Number least, Number most) {
  text = trimmed(text);
  const auto value = take_number<Number>(text);
  if (!value || !text.empty() || *value < least || *value > most) return std::nullopt;
  return value;
}

// "0x1f", "1f".
inline std::optional<std::uint64_t> hex_number(std::string_view text) {
  text = trimmed(text);
  if (text.starts_with("0x") || text.starts_with("0X")) text.remove_prefix(2);
  return take_number<std::uint64_t>(text, 16);
}

// Several hosts in one file: a prompt of another host than the one before begins another document.
class PromptWatch {
 public:
  explicit PromptWatch(const Context& context) : host_(context.host) {}
  // True if the line is a prompt with a host; it is then noted.
  bool take(const Line& line) {
    if (!line.is_command || line.prompt_host.empty()) return false;
    is_other_host_ = is_other_host_ || (!host_.empty() && host_ != line.prompt_host);
    host_ = line.prompt_host;
    return true;
  }
  bool is_other_host() const { return is_other_host_; }

 private:
  std::string host_;
  bool is_other_host_ = false;
};

}  // namespace rocetune::evidence
