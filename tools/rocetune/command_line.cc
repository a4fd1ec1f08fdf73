#include "tools/rocetune/command_line.h"

#include <CLI/CLI.hpp>
#include <fmt/core.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <vector>

#include "tools/rocetune/subcommands.h"

namespace rocetune::cli {
namespace {

std::vector<std::string> known_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* sub : app.get_subcommands({})) names.push_back(sub->get_name());
  for (const CLI::Option* option : app.get_options({})) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

// The first word CLI11 did not understand, with what was probably meant.
std::string suggestion(const CLI::App& app, int argc, const char* const* argv) {
  const CLI::App* scope = &app;
  for (int i = 1; i < argc; ++i) {
    const std::string word = std::string(argv[i]).substr(0, std::string(argv[i]).find('='));
    const auto subcommands =
        scope->get_subcommands([&](const CLI::App* sub) { return sub->check_name(word); });
    if (!subcommands.empty()) {
      scope = subcommands.front();
      continue;
    }
    if (i > 1 && !word.starts_with("--")) continue;
    const std::vector<std::string> names = known_names(*scope);
    if (std::find(names.begin(), names.end(), word) != names.end()) continue;
    const std::string nearest = nearest_name(word, names);
    if (!nearest.empty()) return fmt::format("unknown: {}; did you mean {}?", word, nearest);
  }
  return "";
}

}  // namespace

ExitCode run(int argc, const char* const* argv) {
  CLI::App app{"rocetune: see, diagnose, change and tune the lossless Ethernet of a RoCE v2 host",
               "rocetune"};
  app.set_version_flag("--version", "rocetune " ROCETUNE_VERSION);
  app.require_subcommand(1);
  std::function<ExitCode()> action;
  const Dispatch dispatch{app, action};
  add_doctor(dispatch);
  add_inspect(dispatch);
  add_watch(dispatch);
  add_plan(dispatch);
  add_apply(dispatch);
  add_confirm(dispatch);
  add_rollback(dispatch);
  add_recover(dispatch);
  add_history(dispatch);
  add_persist(dispatch);
  add_deadman(dispatch);
  add_tune(dispatch);
  add_sim(dispatch);
  add_snapshot(dispatch);
  add_tap(dispatch);
  add_bench(dispatch);

  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& help) {
    return static_cast<ExitCode>(app.exit(help));
  } catch (const CLI::ParseError& error) {
    complain(error.what());
    if (const std::string hint = suggestion(app, argc, argv); !hint.empty()) fmt::print(stderr, "{}\n", hint);
    fmt::print(stderr, "Run with --help for usage.\n");
    return ExitCode::bad_input;
  }
  return action();
}

void print(std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), stdout);
  std::fflush(stdout);
}

ExitCode print_report(std::string_view command, std::string_view text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) == text.size()) return ExitCode::fine;
  fmt::print(stderr, "rocetune {}: standard output: {}\n", command, errno_text(errno));
  return ExitCode::failed_undone;
}

void complain(std::string_view text) { fmt::print(stderr, "rocetune: {}\n", text); }

ExitCode complain(const Error& error) {
  complain(error.text());
  return ExitCode::bad_input;
}

}  // namespace rocetune::cli
