#include <CLI/CLI.hpp>

#include <memory>

#include "tools/rocetune/command_line_flags.h"
#include "tools/rocetune/env.h"
#include "tools/rocetune/subcommands.h"

namespace rocetune::cli {

void add_env(const Dispatch& dispatch) {
  CLI::App* app = dispatch.app.add_subcommand(
      "env", "settings of a communication library that fit this host's class map, each with its reason");
  const auto command = std::make_shared<EnvCommand>();
  app->add_option_function<std::string>(
         "library",
         [command](const std::string& text) {
           for (const auto& [library, name] : EnumNames<diagnose::Library>::names) {
             if (name == text) command->library = library;
           }
         },
         "whose variables")
      ->type_name("LIBRARY")
      ->check(one_of<diagnose::Library>())
      ->required();
  CLI::Option* root =
      add_text(*app, "--root", command->common.root, "DIR", "host root: a container's view of its host");
  CLI::Option* from = add_text(*app, "--from", command->from, "FILE",
                               "of the host in this file (snapshot, inspect --json) instead of this one")
                          ->excludes(root);
  add_fabric(*app, command->fabric)->excludes(from)->excludes(root);
  app->add_flag("--json", command->common.json, "one JSON object");
  add_text(*app, "--config-dir", command->config_directory, "DIR",
           "folder laid out as configs/, its files before built-in ones");
  app->footer(
      "Reads and changes nothing. What is not known is said and not guessed. An environment or log that is "
      "there\n"
      "already is judged by doctor --from.\n\n"
      "  rocetune env nccl > roce.env && . ./roce.env\n"
      "  rocetune env ucx --from node1.snapshot\n"
      "  rocetune env nvshmem --json | jq -r '.set[] | \"\\(.name)=\\(.value)\"'\n"
      "  rocetune env nccl --fabric incast-dcqcn --host h3\n\n"
      "Exit codes: 0 fine, 1 no class map is in force (the traffic class is missing), 2 bad input.");
  app->callback([command, &action = dispatch.action] { action = [command] { return run_env(*command); }; });
}

}  // namespace rocetune::cli
