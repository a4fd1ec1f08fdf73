#include <CLI/CLI.hpp>

#include <memory>

#include "tools/rocetune/command_line_flags.h"
#include "tools/rocetune/subcommands.h"
#include "tools/rocetune/tune.h"

namespace rocetune::cli {

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
      "  rocetune tune --fabric quickstart\n"
      "  rocetune tune --fabric quickstart --dry-run\n"
      "  rocetune tune --fabric my-fabric.toml --budget 5min --objective p99_fct\n"
      "  rocetune tune --fabric dual-plane --without 'workload.*' --without hosts.mtu\n"
      "  rocetune tune --fabric my-fabric.toml --log trials.jsonl\n"
      "  rocetune tune --fabric my-fabric.toml --resume trials.jsonl --json | jq .plan");
  auto command = std::make_shared<TuneCommand>();
  tune->add_option(
          "--fabric", command->fabric,
          "a TOML file, or the name of a shipped fabric or scenario (configs/fabrics, configs/scenarios)")
      ->type_name("FABRIC")
      ->required()
      ->check(some("a file or a name"));
  tune->add_option("--budget", command->budget, "how many trials, or for how long")
      ->type_name("N|TIME")
      ->capture_default_str()
      ->check(parsed_by(parse_budget));
  tune->add_option("--seed", command->seed, "of the search and of the circumstances of its runs")
      ->type_name("NUMBER")
      ->capture_default_str();
  tune->add_option("--set", command->settings, "another value for a key of the file; may be repeated")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false);
  tune->add_option("--objective", command->objectives,
                   "what counts, in place of configs/tune/objectives.toml: goodput, busbw, latency, p99_fct, "
                   "pause_ratio, fairness; may be repeated")
      ->type_name("NAME[=WEIGHT]")
      ->allow_extra_args(false);
  tune->add_option("--only", command->only, "turn this knob, or all that begin so (hosts.*); may be repeated")
      ->type_name("KNOB")
      ->allow_extra_args(false);
  tune->add_option("--without", command->without, "leave this knob as it is; may be repeated")
      ->type_name("KNOB")
      ->allow_extra_args(false);
  tune->add_option("--threads", command->threads,
                   "runs at once; default: all cores; they change only its time")
      ->type_name("COUNT")
      ->check(whole_number(1, 1024));
  CLI::Option* log = add_text(*tune, "--log", command->log, "FILE", "write every trial down as it ends");
  add_text(*tune, "--resume", command->resume, "FILE", "go on with an interrupted run from its --log")
      ->excludes(log);
  tune->add_flag("--dry-run", command->dry_run,
                 "name the knobs, constraints and doctor's findings, and run no trial");
  tune->add_flag("--series", command->series, "what changes over time, in the JSON");
  tune->add_flag("--json", command->json, "everything as JSON");
  add_colour(*tune, command->colour);
  tune->callback([=, &action = dispatch.action] { action = [=] { return run_tune(*command); }; });
}

}  // namespace rocetune::cli
