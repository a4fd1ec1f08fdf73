#include <CLI/CLI.hpp>

#include <memory>

#include "tools/rocetune/command_line_flags.h"
#include "tools/rocetune/sim.h"
#include "tools/rocetune/subcommands.h"

namespace rocetune::cli {

void add_sim(const Dispatch& dispatch) {
  CLI::App* sim = dispatch.app.add_subcommand(
      "sim", "one what-if on a virtual fabric: completion times, queues, CE, CNPs, pauses");
  sim->footer(
      "Hosts run the real engine and congestion control; switches do PFC, ECN, shared buffers and ETS.\n"
      "The same seed gives the same run. Exit code 1 if a check of the run does not hold.\n\n"
      "  rocetune sim --list\n"
      "  rocetune sim incast-dcqcn\n"
      "  rocetune sim pause-storm-slow-receiver --html storm.html\n"
      "  rocetune sim incast-dcqcn --set flows.0.senders=8 --seeds 5\n"
      "  rocetune sim incast-dcqcn --sweep switches.kmin=50kB,100kB,200kB --sweep hosts.mtu=1024,4096\n"
      "  rocetune sim allreduce-ring-and-tree --sweep jobs.0.steps.0.algorithm=ring,tree --html trees.html\n"
      "  rocetune sim incast-dcqcn --sweep switches.kmin=50kB,200kB --metric 'ports.*.queue_bytes.p99'\n"
      "  rocetune sim reference/fixedpoint-4 --fluid\n"
      "  rocetune sim my-fabric.toml --seed 7 --json | jq .flows");
  auto command = std::make_shared<SimCommand>();
  CLI::Option* scenario =
      sim->add_option("scenario", command->scenario, "a TOML file, or the name of a shipped scenario")
          ->type_name("SCENARIO");
  sim->add_flag("--list", command->list, "name the shipped scenarios")->excludes(scenario);
  sim->add_option("--seed", command->seed, "instead of the scenario's own")
      ->type_name("NUMBER")
      ->check(whole_number(0));
  sim->add_option("--seeds", command->seeds, "this many runs, with seeds that follow each other")
      ->type_name("COUNT")
      ->check(whole_number(1, 10'000));
  sim->add_option("--threads", command->threads,
                  "default: all cores, but one for a single run of fewer than 2048 hosts")
      ->type_name("COUNT")
      ->check(whole_number(1, 1024));
  sim->add_option("--set", command->settings, "another value for a key of the scenario; may be repeated")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false);
  sim->add_option("--sweep", command->sweeps,
                  "a run for each value of a key; several of them: for each combination")
      ->type_name("KEY=V1,V2")
      ->allow_extra_args(false);
  sim->add_option(
         "--metric", command->metrics,
         "what runs are compared by, as a path of the JSON (flows.fct_us.p99); may be repeated; with a "
         "single run: print only these")
      ->type_name("PATH")
      ->allow_extra_args(false);
  sim->add_option("--html", command->html,
                  "also write a page to look at: everything over time, or all of a sweep")
      ->type_name("FILE")
      ->check(some("a file to write"));
  sim->add_flag("--json", command->json, "everything as JSON");
  sim->add_flag("--series", command->series, "what changes over time, in the JSON");
  sim->add_flag(
      "--fluid", command->fluid,
      "no packets: what the fluid model of DCQCN says of flows of several hosts through one switch to one");
  add_colour(*sim, command->colour);
  sim->callback([=, &action = dispatch.action] {
    if (command->scenario.empty() && !command->list) throw CLI::RequiredError("SCENARIO or --list");
    for (const char* other :
         {"--list", "--seed", "--seeds", "--threads", "--sweep", "--metric", "--html", "--series"}) {
      if (command->fluid && sim->count(other) > 0) throw CLI::ExcludesError("--fluid", other);
    }
    action = [=] { return run_sim(*command); };
  });
}

}  // namespace rocetune::cli
