// How flags look in every command's help, and what a bad value gets: "--flag: found X, allowed: ...; did you
// mean Y?". CLI11 puts the flag in front; a checker returns the rest, or nothing.
#pragma once

#include <CLI/CLI.hpp>

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "dataplane/base/reflect.h"
#include "dataplane/base/terminal.h"
#include "tools/rocetune/fabric_host.h"

namespace rocetune::cli {

std::string refusal(const std::string& found, const std::string& allowed, const std::string& nearest = "");

// One of the names; the help shows them as NAME:{a,b}.
CLI::Validator one_of(std::vector<std::string> names);
// The names of a reflected enum.
template <class E>
CLI::Validator one_of() {
  std::vector<std::string> names;
  for (const auto& [value, name] : EnumNames<E>::names) names.emplace_back(name);
  return one_of(std::move(names));
}

// A whole number in decimal digits.
CLI::Validator whole_number(std::int64_t least, std::int64_t most = std::numeric_limits<std::int64_t>::max());

// Any integer of 32 bits; its range is checked with those of all flags together, `allowed` names it.
CLI::Validator an_integer(const std::string& allowed);

// Not empty: a shell variable that is not set must not read as a flag that was not given. `what` is allowed.
CLI::Validator some(const std::string& what);

// A text of that kind, shown as `type` (NAME, FILE, DIR, PATH, ...) in the help, never empty.
template <class Text>
CLI::Option* add_text(CLI::App& app, const std::string& flag, Text& out, const std::string& type,
                      const std::string& help) {
  const std::string what = type == "FILE"   ? "a file"
                           : type == "DIR"  ? "a folder"
                           : type == "PATH" ? "a file or a folder"
                                            : "a name";
  return app.add_option(flag, out, help)->type_name(type)->check(some(what));
}

// A text with a form of its own (congestion/units.h).
template <class Parse>
CLI::Validator parsed_by(const Parse& parse) {
  return CLI::Validator(
      [parse](const std::string& given) {
        const auto value = parse(given);
        return value ? std::string() : refusal(given, value.error().allowed);
      },
      "");
}

// --fabric, --host and what belongs to them (command_line_fabric.cc). Returns --fabric, for what it excludes.
CLI::Option* add_fabric(CLI::App& app, FabricOptions& out);

// --colour.
void add_colour(CLI::App& app, ColourChoice& out);

}  // namespace rocetune::cli
