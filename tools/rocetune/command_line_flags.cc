#include "tools/rocetune/command_line_flags.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <optional>

#include "dataplane/base/error.h"

namespace rocetune::cli {
namespace {

std::string joined_by(const std::vector<std::string>& names, const char* between) {
  std::string out;
  for (const std::string& name : names) out += (out.empty() ? "" : between) + name;
  return out;
}

std::optional<std::int64_t> integer_of(const std::string& text) {
  std::int64_t value = 0;
  const char* const end = text.data() + text.size();
  const auto [read_to, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || read_to != end) return std::nullopt;
  return value;
}

std::string range_text(std::int64_t least, std::int64_t most) {
  if (most != std::numeric_limits<std::int64_t>::max())
    return fmt::format("an integer {} to {}", least, most);
  return least == 1 ? "an integer above 0" : fmt::format("an integer from {}", least);
}

}  // namespace

std::string refusal(const std::string& found, const std::string& allowed, const std::string& nearest) {
  return InputIssue{.place = {},
                    .key = "",
                    .found = found.empty() ? "nothing" : found,
                    .allowed = allowed,
                    .nearest = nearest}
      .text();
}

CLI::Validator one_of(std::vector<std::string> names) {
  const std::string shown = "{" + joined_by(names, ",") + "}";
  return CLI::Validator(
      [names = std::move(names)](const std::string& given) {
        if (std::find(names.begin(), names.end(), given) != names.end()) return std::string();
        return refusal(given, joined_by(names, ", "), nearest_name(given, names));
      },
      shown);
}

CLI::Validator whole_number(std::int64_t least, std::int64_t most) {
  return CLI::Validator(
      [=](const std::string& given) {
        const auto value = integer_of(given);
        if (value && *value >= least && *value <= most) return std::string();
        return refusal(given, range_text(least, most));
      },
      "");
}

CLI::Validator an_integer(const std::string& allowed) {
  return CLI::Validator(
      [allowed](const std::string& given) {
        const auto value = integer_of(given);
        const bool fits = value && *value >= 0 && *value <= std::numeric_limits<std::uint32_t>::max();
        return fits ? std::string() : refusal(given, allowed);
      },
      "");
}

CLI::Validator some(const std::string& what) {
  return CLI::Validator(
      [what](const std::string& given) { return given.empty() ? refusal(given, what) : std::string(); }, "");
}

void add_colour(CLI::App& app, ColourChoice& out) {
  app.add_option_function<std::string>(
         "--colour",
         [&out](const std::string& given) {
           out = given == "always"  ? ColourChoice::always
                 : given == "never" ? ColourChoice::never
                                    : ColourChoice::automatic;
         },
         "colours: auto is only on a terminal, without NO_COLOR")
      ->type_name("WHEN")
      ->check(one_of({"auto", "always", "never"}));
}

}  // namespace rocetune::cli
