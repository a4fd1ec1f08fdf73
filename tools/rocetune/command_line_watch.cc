#include <CLI/CLI.hpp>

#include <memory>

#include "tools/rocetune/subcommands.h"
#include "tools/rocetune/watch.h"

namespace rocetune::cli {
namespace {

using counters::WatchOptions;

// CLI11's validators return what is wrong, or nothing.
std::string check_interval(const std::string& text) {
  const auto interval = parse_duration(text);
  if (!interval) return "found " + text + ", allowed: " + interval.error().allowed;
  if (*interval < WatchOptions::kShortestInterval || *interval > WatchOptions::kLongestInterval) {
    return "found " + text + ", allowed: " + to_text(WatchOptions::kShortestInterval) + " to " +
           to_text(WatchOptions::kLongestInterval);
  }
  return "";
}

}  // namespace

void add_watch(const Dispatch& dispatch) {
  CLI::App* watch = dispatch.app.add_subcommand(
      "watch", "live counters per priority: traffic, pause, CE and CNP, retransmission, discards");
  watch->footer(
      "A table that redraws itself in a terminal, JSON lines in a pipe. Ctrl-C ends it.\n\n"
      "  rocetune watch --port eth0 --interval 100ms\n"
      "  rocetune watch --record before.jsonl --count 60; rocetune watch --replay before.jsonl --interval "
      "10s\n"
      "  rocetune watch --raw 'rx_prio3_*' --raw np_cnp_sent --json | jq .ports[0].raw");
  auto command = std::make_shared<WatchCommand>();
  WatchOptions& options = command->watch;
  auto interval = std::make_shared<std::string>(to_text(options.interval));

  CLI::Option* interval_option =
      watch->add_option("--interval", *interval, "time between two looks, with its unit")
          ->type_name("TIME")
          ->capture_default_str()
          ->check(CLI::Validator(check_interval, "", "interval"));
  auto count = std::make_shared<std::uint64_t>(0);
  CLI::Option* count_option = watch->add_option("--count", *count, "end after this many intervals")
                                  ->type_name("N")
                                  ->check(CLI::PositiveNumber);
  watch->add_option("--port", options.ports, "netdev to watch, may be repeated (default: every RoCE port)")
      ->type_name("NAME");
  watch->add_option("--raw", options.raw, "also show the NIC's own counters that fit a shell pattern")
      ->type_name("PATTERN");
  CLI::Option* record =
      watch->add_option("--record", options.record, "write every reading to a new file")->type_name("FILE");
  CLI::Option* replay =
      watch->add_option("--replay", options.replay, "show a recorded file instead of this host")
          ->type_name("FILE");
  replay->excludes(record);
  watch->add_flag("--json", command->common.json, "JSON lines, also in a terminal");
  watch
      ->add_option("--root", command->common.root,
                   "read this tree instead of the host's / (RDMA counters only)")
      ->type_name("DIR")
      ->excludes(replay);
  watch
      ->add_option("--config-dir", command->config_directory,
                   "counter tables of your own, in place of built-in ones")
      ->type_name("DIR");
  watch->add_option("--colour", command->colour, "auto, always or never")
      ->type_name("WHEN")
      ->transform(
          CLI::CheckedTransformer(std::map<std::string, ColourChoice>{{"auto", ColourChoice::automatic},
                                                                      {"always", ColourChoice::always},
                                                                      {"never", ColourChoice::never}}));
  watch->callback([=, &dispatch_action = dispatch.action] {
    dispatch_action = [=] {
      command->watch.interval = parse_duration(*interval).value();
      command->interval_given = interval_option->count() > 0;
      if (count_option->count() > 0) command->watch.count = *count;
      return run_watch(*command);
    };
  });
}

}  // namespace rocetune::cli
