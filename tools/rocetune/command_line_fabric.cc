#include <CLI/CLI.hpp>

#include "tools/rocetune/command_line_flags.h"

namespace rocetune::cli {
namespace {

// No scenario's limit is later.
constexpr Duration kLatestMoment = seconds(3600);

Parsed<Duration> parse_moment(std::string_view text) {
  auto at = parse_duration(text);
  if (at && (*at < Duration(0) || *at > kLatestMoment))
    return tl::unexpected(UnitError{std::string(text), "0s to " + to_text(kLatestMoment)});
  return at;
}

}  // namespace

CLI::Option* add_fabric(CLI::App& app, FabricOptions& out) {
  const std::string group = "A host of the virtual fabric in place of this machine";
  CLI::Option* fabric = add_text(app, "--fabric", out.scenario, "SCENARIO",
                                 "a TOML file, or the name of a shipped scenario (sim --list)")
                            ->group(group);
  CLI::Option* host =
      add_text(app, "--host", out.host, "NAME", "which of its hosts: h0, h1, ...")->group(group);
  fabric->needs(host);
  host->needs(fabric);
  app.add_option("--set", out.settings, "another value for a key of the scenario; may be repeated")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false)
      ->needs(fabric)
      ->group(group);
  app.add_option("--seed", out.seed, "instead of the scenario's own")
      ->type_name("NUMBER")
      ->check(whole_number(0))
      ->needs(fabric)
      ->group(group);
  app.add_option_function<std::string>(
         "--at", [&out](const std::string& text) { out.at = parse_moment(text).value(); },
         "virtual time to look at it (default: 0s)")
      ->type_name("TIME")
      ->check(parsed_by(parse_moment))
      ->needs(fabric)
      ->group(group);
  add_text(app, "--apply", out.plan_file, "FILE", "what plan -o wrote for it, applied before time begins")
      ->needs(fabric)
      ->group(group);
  return fabric;
}

}  // namespace rocetune::cli
