#include <CLI/CLI.hpp>

#include <memory>

#include "agent/evidence/switches/columns.h"
#include "tools/rocetune/command_line_flags.h"
#include "tools/rocetune/subcommands.h"
#include "tools/rocetune/switch_config.h"

namespace rocetune::cli {
namespace {

constexpr Bytes kLeastMark(1), kMostMark(1'000'000'000);
constexpr Duration kShortestStorm = milliseconds(10), kLongestStorm = seconds(60);

auto mark_size = [](const std::string& text) -> Parsed<Bytes> {
  auto parsed = parse_bytes(text);
  if (parsed && (*parsed < kLeastMark || *parsed > kMostMark))
    return tl::unexpected(UnitError{text, fmt::format("{} to {}", to_text(kLeastMark), to_text(kMostMark))});
  return parsed;
};
auto storm_time = [](const std::string& text) -> Parsed<Duration> {
  auto parsed = parse_duration(text);
  if (parsed && (*parsed < kShortestStorm || *parsed > kLongestStorm))
    return tl::unexpected(
        UnitError{text, fmt::format("{} to {}", to_text(kShortestStorm), to_text(kLongestStorm))});
  return parsed;
};

template <class T, class Parse>
void add_choice(CLI::App& app, const std::string& flag, T& out, const std::string& type,
                const std::string& help, const Parse& parse) {
  app.add_option_function<std::string>(
         flag, [&out, parse](const std::string& text) { out = *parse(text); }, help)
      ->type_name(type)
      ->check(parsed_by(parse));
}

}  // namespace

void add_switch_config(const Dispatch& dispatch) {
  CLI::App* app = dispatch.app.add_subcommand(
      "switch-config", "lines that make a switch agree with a profile or with this host's class map");
  const auto command = std::make_shared<SwitchConfigCommand>();
  app->add_option_function<std::string>(
         "system",
         [command](const std::string& text) {
           for (const auto& [writer, name] : EnumNames<evidence::SwitchWriter>::names) {
             if (name == text) command->writer = writer;
           }
         },
         "whose words: SONiC, Cumulus NVUE, Arista EOS, Cisco NX-OS, Junos")
      ->type_name("SYSTEM")
      ->check(one_of<evidence::SwitchWriter>())
      ->required();
  app->add_option_function<std::vector<std::string>>(
         "--port",
         [command](const std::vector<std::string>& given) {
           for (const std::string& text : given) {
             for (std::string& port : evidence::ports_in(text))
               command->choices.ports.push_back(std::move(port));
           }
         },
         "port of the switch that carries RoCE, or a range (Ethernet1/1-16); may be repeated")
      ->type_name("NAME")
      ->check(some("a name"));
  CLI::Option* profile = add_text(*app, "--profile", command->profile, "NAME",
                                  "class map of this profile or file (see plan) instead of a host's");
  CLI::Option* from = add_text(*app, "--from", command->from, "FILE",
                               "of the host in this file (snapshot, inspect --json) instead of this one")
                          ->excludes(profile);
  CLI::Option* root =
      add_text(*app, "--root", command->common.root, "DIR", "host root: a container's view of its host")
          ->excludes(from)
          ->excludes(profile);
  add_fabric(*app, command->fabric)->excludes(from)->excludes(profile)->excludes(root);
  add_text(*app, "--nic", command->nics, "NAME",
           "netdev of the host whose class map counts (default: all that carry RoCE)")
      ->excludes(profile);
  add_choice(*app, "--kmin", command->choices.mark_from, "SIZE",
             "lossless queues mark from this length on (150kB)", mark_size);
  add_choice(*app, "--kmax", command->choices.mark_all, "SIZE",
             "and with --pmax from this length on (1500kB)", mark_size);
  app->add_option("--pmax", command->choices.mark_percent, "share that is marked at --kmax, in percent (100)")
      ->type_name("PERCENT")
      ->check(whole_number(1, 100));
  add_choice(*app, "--storm-after", command->choices.storm_after, "TIME",
             "detection time of the PFC watchdog (200ms)", storm_time);
  app->add_flag("--json", command->common.json, "one JSON object: text and notes");
  add_text(*app, "--config-dir", command->config_directory, "DIR",
           "folder laid out as configs/, its files before built-in ones");
  app->footer(
      "Prints lines; touches no switch. What is to be known besides goes to standard error.\n\n"
      "  rocetune switch-config sonic --profile roce-dscp26-prio3 --port Ethernet0 --port Ethernet4 > "
      "roce.json\n"
      "  rocetune switch-config eos --port Ethernet1/1-16\n"
      "  rocetune switch-config nvue --from node1.snapshot\n"
      "  rocetune switch-config nxos --fabric incast-dcqcn --host h3 --port Ethernet1/1");
  app->callback(
      [command, &action = dispatch.action] { action = [command] { return run_switch_config(*command); }; });
}

}  // namespace rocetune::cli
