#include <CLI/CLI.hpp>

#include <memory>

#include "agent/tune/guardrails.h"
#include "agent/tune/host_plant/host_space.h"
#include "tools/rocetune/command_line_flags.h"
#include "tools/rocetune/subcommands.h"
#include "tools/rocetune/tune.h"

namespace rocetune::cli {
namespace {

template <int kLeastMs, int kMostMs>
Parsed<Duration> duration_within(std::string_view text) {
  auto parsed = parse_duration(text);
  if (parsed && (*parsed < milliseconds(kLeastMs) || *parsed > milliseconds(kMostMs))) {
    return tl::unexpected(
        UnitError{std::string(text),
                  fmt::format("{} to {}", to_text(milliseconds(kLeastMs)), to_text(milliseconds(kMostMs)))});
  }
  return parsed;
}

template <class Parse>
CLI::Option* add_time(CLI::App& app, const std::string& flag, Duration& out, const Parse& parse,
                      const std::string& help) {
  return app
      .add_option_function<std::string>(
          flag, [&out, parse](const std::string& text) { out = parse(text).value(); },
          fmt::format("{} (default {})", help, to_text(out)))
      ->type_name("TIME")
      ->check(parsed_by(parse));
}

// On hosts. Each needs --workload, which excludes --fabric.
void add_hosts(CLI::App& app, TunedHosts& out, CLI::Option* fabric) {
  CLI::Option* workload =
      app.add_option(
             "--workload", out.workloads,
             "a command of /bin/sh that loads the hosts; may be repeated: what is better is so for all")
          ->type_name("COMMAND")
          ->allow_extra_args(false)
          ->check(some("a command"))
          ->excludes(fabric);
  const auto of_hosts = [&](CLI::Option* option) { option->needs(workload); };
  of_hosts(app.add_option("--held-out", out.held_out,
                          "one that is never searched on; must not get worse in the end")
               ->type_name("COMMAND")
               ->allow_extra_args(false)
               ->check(some("a command")));
  of_hosts(app.add_option("--metric", out.metrics,
                          "where its output has a number: busbw=nccl-tests, goodput=perftest, latency=osu, "
                          "goodput=json:PATH, busbw=re:GB/s:REGEX (docs/tuning.md); may be repeated")
               ->type_name("OBJECTIVE=SOURCE")
               ->allow_extra_args(false));
  of_hosts(add_text(app, "--host", out.hosts, "NAME",
                    "tune this host over ssh; may be repeated (default: this host)")
               ->allow_extra_args(false));
  of_hosts(add_text(app, "--ssh", out.ssh, "COMMAND", "how hosts are reached")->capture_default_str());
  of_hosts(add_text(app, "--remote-rocetune", out.remote_rocetune, "FILE", "the program on them")
               ->capture_default_str());
  of_hosts(add_text(app, "--port", out.ports, "NAME",
                    "netdev or bond, may be repeated (default: every physical RoCE port of a known NIC)")
               ->allow_extra_args(false));
  of_hosts(app.add_option("--vary", out.varied,
                          "an environment variable of the workload; the first value is what it has now")
               ->type_name("NAME=A,B")
               ->allow_extra_args(false)
               ->check(parsed_by(tune::parse_varied)));
  of_hosts(add_text(app, "--profile", out.profile, "NAME", "what the hosts are meant to be, for doctor"));
  of_hosts(app.add_option("--allow", out.allow, "consent to something by name, as for apply; may be repeated")
               ->type_name("NAME")
               ->allow_extra_args(false)
               ->check(one_of(tune::consent_names()).description("")));
  of_hosts(add_time(app, "--workload-limit", out.workload_limit, duration_within<1000, 86'400'000>,
                    "a workload that takes longer hangs"));
  of_hosts(add_time(app, "--interval", out.interval, duration_within<100, 60'000>,
                    "between two looks at the counters: harm ends a trial within it"));
  CLI::Option* twin = add_text(
      app, "--twin", out.twin, "FABRIC",
      "a fabric that stands for the hosts: fitted to their baseline, searched first, its best candidates "
      "are tried on them");
  of_hosts(twin);
  app.add_option("--twin-budget", out.twin_budget, "trials of the search on the twin")
      ->type_name("N")
      ->capture_default_str()
      ->check(whole_number(search::kLeastTrials, 100'000))
      ->needs(twin);
  of_hosts(
      app.add_flag("--commit", out.commit, "keep the best, confirmed on every host; else all is as it was"));
  of_hosts(app.add_flag("--yes", out.yes, "do not ask"));
  of_hosts(add_text(app, "-o,--output", out.output, "FILE",
                    "write the plan here as JSON, for apply; of several hosts: FILE.HOST each"));
  of_hosts(add_text(app, "--root", out.root, "DIR", "host root: a container's view of its host"));
  of_hosts(add_text(app, "--state-dir", out.state_directory, "DIR", "journal, lock and history"));
}

// What is searched, for how long, and what counts.
void add_search(CLI::App& app, TuneCommand& out) {
  app.add_option("--budget", out.budget, "how many trials, or for how long")
      ->type_name("N|TIME")
      ->capture_default_str()
      ->check(parsed_by(parse_budget));
  app.add_option("--seed", out.seed, "of the search and of the circumstances of its runs")
      ->type_name("NUMBER")
      ->check(whole_number(0))
      ->capture_default_str();
  app.add_option("--set", out.settings, "another value for a key of the file; may be repeated")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false);
  app.add_option("--objective", out.objectives,
                 "what counts, in place of configs/tune/objectives.toml: goodput, busbw, latency, p99_fct, "
                 "pause_ratio, fairness; may be repeated")
      ->type_name("NAME[=WEIGHT]")
      ->allow_extra_args(false);
  app.add_option("--only", out.only, "turn this knob, or all that begin so (hosts.*); may be repeated")
      ->type_name("KNOB")
      ->allow_extra_args(false);
  app.add_option("--without", out.without, "leave this knob as it is; may be repeated")
      ->type_name("KNOB")
      ->allow_extra_args(false);
  app.add_option("--threads", out.threads, "runs at once; default: all cores; they change only its time")
      ->type_name("COUNT")
      ->check(whole_number(1, 1024));
}

}  // namespace

void add_tune(const Dispatch& dispatch) {
  CLI::App* tune = dispatch.app.add_subcommand(
      "tune",
      "the closed loop: baseline, doctor's fixes, search, confirmation, what to change and how to undo it");
  tune->footer(
      "Runs the workloads of a virtual fabric again and again, under doctor's fixes first, then under what "
      "a\n"
      "search proposes, and says what to change, where, and what each change is worth. The same seed gives "
      "the\n"
      "same answer. Exit code 0: a change, or no change, is the answer; 3: interrupted, the best so far is "
      "told.\n\n"
      "On hosts: doctor's fixes, class maps, MTU, congestion parameters and the workload's variables, each "
      "trial a\n"
      "transaction that is taken back after it; 3 too: failed and undone, 4: failed and NOT undone.\n\n"
      "  rocetune tune --fabric quickstart\n"
      "  rocetune tune --fabric quickstart --html report.html\n"
      "  rocetune tune --fabric quickstart --dry-run\n"
      "  rocetune tune --fabric my-fabric.toml --budget 5min --objective p99_fct\n"
      "  rocetune tune --fabric dual-plane --without 'workload.*' --without hosts.mtu\n"
      "  rocetune tune --fabric my-fabric.toml --log trials.jsonl\n"
      "  rocetune tune --fabric my-fabric.toml --resume trials.jsonl --json | jq .plan\n"
      "  rocetune tune --host gpu1 --host gpu2 --workload './all_reduce.sh' --metric busbw=nccl-tests\n"
      "  rocetune tune --workload 'ib_write_bw -F gpu2' --metric goodput=perftest --port eth2 --commit\n"
      "  rocetune tune --host gpu1 --host gpu2 --workload './all_reduce.sh' --metric busbw=nccl-tests --twin "
      "my-fabric.toml");
  auto command = std::make_shared<TuneCommand>();
  CLI::Option* fabric =
      tune->add_option(
              "--fabric", command->fabric,
              "a TOML file, or the name of a shipped fabric or scenario (configs/fabrics, configs/scenarios)")
          ->type_name("FABRIC")
          ->check(some("a file or a name"));
  add_hosts(*tune, command->hosts, fabric);
  add_search(*tune, *command);
  CLI::Option* log = add_text(*tune, "--log", command->log, "FILE", "write every trial down as it ends");
  add_text(*tune, "--resume", command->resume, "FILE", "go on with an interrupted run from its --log")
      ->excludes(log);
  tune->add_flag("--dry-run", command->dry_run,
                 "name the knobs, constraints and doctor's findings, and run no trial");
  tune->add_flag("--series", command->series, "what changes over time, in the JSON");
  tune->add_flag("--json", command->json, "everything as JSON");
  add_text(*tune, "--html", command->html, "FILE",
           "the report as a page: what to change and what it brings, then all of it");
  add_colour(*tune, command->colour);
  for (const char* flag : {"--set", "--only", "--without", "--threads"})
    tune->get_option(flag)->needs(fabric);
  tune->callback([=, &action = dispatch.action] {
    if (command->fabric.empty() && command->hosts.workloads.empty())
      throw CLI::RequiredError("--fabric, or --workload");
    if (!command->hosts.workloads.empty() && command->hosts.metrics.empty())
      throw CLI::RequiredError("--metric");
    action = [=] { return run_tune(*command); };
  });
}

}  // namespace rocetune::cli
