#include <CLI/CLI.hpp>

#include <memory>

#include "tools/rocetune/command_line_flags.h"
#include "tools/rocetune/snapshot.h"
#include "tools/rocetune/subcommands.h"

namespace rocetune::cli {
namespace {

constexpr Duration kLongestSnapshot = seconds(3600);
constexpr Duration kShortestInterval = milliseconds(10);  // hw_counters are cached that long

Parsed<Duration> parse_span(std::string_view text, Duration least, bool may_be_none) {
  if (may_be_none && text == "0") return Duration(0);
  auto span = parse_duration(text);
  if (span && (*span < least || *span > kLongestSnapshot)) {
    return tl::unexpected(UnitError{std::string(text), (may_be_none ? "0, or " : "") + to_text(least) +
                                                           " to " + to_text(kLongestSnapshot)});
  }
  return span;
}

}  // namespace

void add_snapshot(const Dispatch& dispatch) {
  CLI::App* snapshot = dispatch.app.add_subcommand(
      "snapshot", "one file with everything that inspect, watch and doctor need, to be read anywhere");
  snapshot->footer(
      "Reads and changes nothing. The file holds host facts, a few seconds of counters, the kernel's lines "
      "about NICs\n"
      "and /etc/nccl.conf. It is not overwritten, and only its owner can read it.\n\n"
      "  rocetune snapshot\n"
      "  rocetune snapshot node1.snapshot --watch-for 30s\n"
      "  rocetune snapshot --anonymous ticket.snapshot\n"
      "  rocetune doctor --from node1.snapshot; rocetune inspect --from node1.snapshot; rocetune watch "
      "--from "
      "node1.snapshot\n"
      "  rocetune snapshot --script > collect.sh    # for a host where this binary may not be copied\n"
      "  sh collect.sh && rocetune doctor --from rocetune-*/");
  auto command = std::make_shared<SnapshotCommand>();
  auto watch_for = std::make_shared<std::string>(to_text(command->watch_for));
  auto interval = std::make_shared<std::string>(to_text(command->interval));
  add_text(*snapshot, "FILE", command->file, "FILE",
           "where to write it, - for standard output (default: rocetune-HOST-TIME.snapshot)");
  snapshot->add_option("--watch-for", *watch_for, "sample counters for so long, 0 = not at all")
      ->type_name("TIME")
      ->capture_default_str()
      ->check(parsed_by([](std::string_view text) { return parse_span(text, kShortestInterval, true); }));
  snapshot->add_option("--interval", *interval, "time between two readings")
      ->type_name("TIME")
      ->capture_default_str()
      ->check(parsed_by([](std::string_view text) { return parse_span(text, kShortestInterval, false); }));
  CLI::Option* anonymous = snapshot->add_flag("--anonymous", command->anonymous,
                                              "hash names, addresses, GUIDs and sessions (equal ones stay "
                                              "equal), leave texts and the command line out");
  add_text(*snapshot, "--salt", command->salt, "WORD",
           "of the hashes, to compare several hosts (default: random, told to nobody)")
      ->needs(anonymous);
  snapshot->add_flag("--script", command->script,
                     "print a shell script instead that collects the same with ethtool, dcb and friends");
  snapshot->add_flag("--json", command->common.json, "what was written, as one JSON object");
  add_text(*snapshot, "--root", command->common.root, "DIR", "read this tree instead of the host's /");
  add_text(*snapshot, "--config-dir", command->config_directory, "DIR",
           "tables of your own, in place of built-in ones");
  snapshot->callback([=, &action = dispatch.action] {
    action = [=] {
      command->watch_for = parse_span(*watch_for, kShortestInterval, true).value();
      command->interval = parse_span(*interval, kShortestInterval, false).value();
      return run_snapshot(*command);
    };
  });
}

}  // namespace rocetune::cli
