#include "agent/evidence/host_tools/words.h"

#include <algorithm>
#include <utility>

#include "agent/evidence/line.h"

namespace rocetune::evidence {
namespace {

constexpr bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

}  // namespace

std::optional<int> small_number_of(std::string_view text) {
  const auto value = integer_of_any_base(text);
  if (!value || !std::in_range<int>(*value)) return std::nullopt;
  return static_cast<int>(*value);
}

std::vector<std::string_view> command_words(std::string_view command) {
  command = command.substr(0, command.find_first_of("|;>&"));
  std::vector<std::string_view> words = host::words(command);
  if (!words.empty() && words.front() == "sudo") words.erase(words.begin());
  if (!words.empty()) words.front().remove_prefix(words.front().rfind('/') + 1);
  return words;
}

bool calls(std::string_view command, std::string_view program) {
  const auto words = command_words(command);
  return !words.empty() && words.front() == program;
}

std::string_view option_value(std::string_view command, std::string_view option) {
  const auto words = command_words(command);
  const auto at = std::find(words.begin(), words.end(), option);
  return at == words.end() || at + 1 == words.end() ? std::string_view() : *(at + 1);
}

std::string_view interface_of_ethtool(std::string_view command) {
  const auto words = command_words(command);
  if (words.size() < 2 || words.front() != "ethtool" || words.back().starts_with('-')) return {};
  return words.back();
}

std::string_view interface_in_title(std::string_view line, std::string_view title) {
  line = trimmed(line);
  if (!line.starts_with(title) || !line.ends_with(':')) return {};
  line.remove_prefix(title.size());
  line.remove_suffix(1);
  return is_made_of(line, "_-.@:") ? line : std::string_view();
}

bool is_made_of(std::string_view text, std::string_view others) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [&](char c) {
    return is_digit(c) || is_letter(c) || others.find(c) != std::string_view::npos;
  });
}

}  // namespace rocetune::evidence
