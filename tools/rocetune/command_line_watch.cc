#include <CLI/CLI.hpp>

#include <memory>

#include "tools/rocetune/command_line_flags.h"
#include "tools/rocetune/subcommands.h"
#include "tools/rocetune/watch.h"

namespace rocetune::cli {
namespace {

using counters::WatchOptions;

// Of virtual time, which reading costs nothing of.
constexpr Duration kShortestOfFabric = microseconds(1);
constexpr Duration kUsualOfFabric = milliseconds(1);

Parsed<Duration> parse_interval(std::string_view text, Duration shortest) {
  auto interval = parse_duration(text);
  if (interval && (*interval < shortest || *interval > WatchOptions::kLongestInterval)) {
    return tl::unexpected(
        UnitError{std::string(text), to_text(shortest) + " to " + to_text(WatchOptions::kLongestInterval)});
  }
  return interval;
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
      "  rocetune watch --raw 'rx_prio3_*' --raw np_cnp_sent --json | jq .ports[0].raw\n"
      "  rocetune watch --fabric incast-dcqcn --host h0 --interval 500us");
  auto command = std::make_shared<WatchCommand>();
  WatchOptions& options = command->watch;
  auto interval = std::make_shared<std::string>(to_text(options.interval));

  CLI::Option* fabric = add_fabric(*watch, command->fabric);  // before --interval, whose range depends on it
  CLI::Option* interval_option =
      watch
          ->add_option("--interval", *interval,
                       "time between two looks, with its unit; of a fabric by default 1ms of virtual time")
          ->type_name("TIME")
          ->capture_default_str()
          ->check(parsed_by([command](std::string_view text) {
            return parse_interval(
                text, command->fabric.is_given() ? kShortestOfFabric : WatchOptions::kShortestInterval);
          }));
  auto count = std::make_shared<std::uint64_t>(0);
  CLI::Option* count_option = watch->add_option("--count", *count, "end after this many intervals")
                                  ->type_name("N")
                                  ->check(whole_number(1));
  add_text(*watch, "--port", options.ports, "NAME",
           "netdev to watch, may be repeated (default: every RoCE port)");
  watch
      ->add_option("--raw", options.raw,
                   "also show the NIC's own counters that fit a shell pattern, may be repeated")
      ->type_name("PATTERN");
  CLI::Option* record =
      add_text(*watch, "--record", options.record, "FILE", "write every reading to a new file");
  CLI::Option* replay = add_text(*watch, "--replay,--from", options.replay, "FILE",
                                 "show what watch --record or snapshot wrote, not this host");
  replay->excludes(record);
  watch->add_flag("--json", command->common.json, "JSON lines, also in a terminal");
  CLI::Option* root = add_text(*watch, "--root", command->common.root, "DIR",
                               "read this tree instead of the host's / (RDMA counters only)")
                          ->excludes(replay);
  fabric->excludes(root)->excludes(replay);
  add_text(*watch, "--config-dir", command->config_directory, "DIR",
           "counter tables of your own, in place of built-in ones");
  add_colour(*watch, command->colour);
  watch->callback([=, &dispatch_action = dispatch.action] {
    dispatch_action = [=] {
      command->interval_given = interval_option->count() > 0;
      command->watch.interval = command->fabric.is_given() && !command->interval_given
                                    ? kUsualOfFabric
                                    : parse_duration(*interval).value();
      if (count_option->count() > 0) command->watch.count = *count;
      return run_watch(*command);
    };
  });
}

}  // namespace rocetune::cli
