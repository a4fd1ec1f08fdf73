#include "tools/rocetune/tune_hosts.h"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <iostream>

#include "agent/diagnose/engine.h"
#include "agent/tune/host_plant/tuning.h"
#include "agent/tune/planner.h"
#include "dataplane/base/durable.h"
#include "tools/rocetune/consent.h"
#include "tools/rocetune/intent.h"
#include "tools/rocetune/stop_signal.h"
#include "tools/rocetune/tune_hosts_html.h"
#include "tools/rocetune/tune_hosts_text.h"
#include "tools/rocetune/tune_run.h"
#include "tools/rocetune/tune_twin.h"

namespace rocetune::cli {
namespace {

using tune::HostControl;
using tune::HostPlant;

// The same run again.
std::string asked_again(const TuneCommand& command) {
  const TunedHosts& hosts = command.hosts;
  std::string out = fmt::format("rocetune tune --budget {} --seed {}", command.budget, command.seed);
  const auto add = [&](const char* flag, const std::vector<std::string>& values) {
    for (const std::string& value : values) out += fmt::format(" {} {}", flag, tune::shell_word(value));
  };
  add("--workload", hosts.workloads);
  add("--held-out", hosts.held_out);
  add("--metric", hosts.metrics);
  add("--host", hosts.hosts);
  if (!hosts.hosts.empty() && hosts.ssh != TunedHosts().ssh) add("--ssh", {hosts.ssh});
  if (hosts.remote_rocetune != TunedHosts().remote_rocetune)
    add("--remote-rocetune", {hosts.remote_rocetune});
  add("--port", hosts.ports);
  add("--vary", hosts.varied);
  add("--allow", hosts.allow);
  if (!hosts.profile.empty()) add("--profile", {hosts.profile});
  add("--objective", command.objectives);
  if (!hosts.twin.empty()) add("--twin", {hosts.twin});
  if (hosts.twin_budget != TunedHosts().twin_budget)
    add("--twin-budget", {std::to_string(hosts.twin_budget)});
  return out;
}

Expected<tune::HostPlantOptions> plant_options(const TuneCommand& command) {
  const TunedHosts& hosts = command.hosts;
  tune::HostPlantOptions out;
  const auto add = [&](const std::vector<std::string>& commands, const std::string& name, bool held_out) {
    for (const std::string& line : commands) {
      const auto number = static_cast<std::size_t>(&line - commands.data()) + 1;
      out.workloads.push_back(
          {commands.size() == 1 ? name : fmt::format("{} {}", name, number), line, held_out});
    }
  };
  add(hosts.workloads, "workload", false);
  add(hosts.held_out, "held-out", true);
  for (const std::string& text : hosts.metrics) {
    auto metric = tune::Metric::parse(text);
    if (!metric) return tl::unexpected(metric.error());
    const bool is_twice = std::ranges::any_of(
        out.metrics, [&](const tune::Metric& other) { return other.objective() == metric->objective(); });
    if (is_twice) {
      return tl::unexpected(bad_input({{.place = {},
                                        .key = "--metric",
                                        .found = text,
                                        .allowed = "each objective once",
                                        .nearest = ""}}));
    }
    out.metrics.push_back(std::move(*metric));
  }
  out.workload_limit = hosts.workload_limit;
  out.interval = hosts.interval;
  out.allow = hosts.allow;
  return out;
}

std::vector<HostControl> controls_of(const TunedHosts& hosts) {
  std::vector<HostControl> out;
  tune::HostAddress shared;
  if (!hosts.root.empty()) shared.options = {"--root", hosts.root};
  if (!hosts.state_directory.empty()) shared.journal_options = {"--state-dir", hosts.state_directory};
  if (hosts.hosts.empty()) {
    // This very program, wherever it lies.
    std::error_code error;
    const auto self = std::filesystem::read_symlink("/proc/self/exe", error);
    shared.rocetune = error ? "rocetune" : self.string();
    out.emplace_back(std::move(shared));
    return out;
  }
  for (const std::string& name : hosts.hosts) {
    tune::HostAddress address = tune::over_ssh(name, hosts.ssh, hosts.remote_rocetune);
    address.options = shared.options;
    address.journal_options = shared.journal_options;
    out.emplace_back(std::move(address));
  }
  return out;
}

// Nothing may be open on a host that is going to be changed again and again. What an interrupted run left is
// taken back where that run is resumed.
Expected<> check_nothing_is_open(const HostControl& control, const TuneCommand& command) {
  const auto history = control.history();
  if (!history) return tl::unexpected(history.error());
  for (const tune::PastTransaction& past : *history) {
    const bool is_stuck = past.outcome == "rollback_failed" && &past == &history->back();
    if (!past.is_open() && !is_stuck) continue;
    const std::string id = std::to_string(past.id);
    if (past.is_open() && past.profile == tune::kTunePlanName && !command.resume.empty()) {
      const auto back = control.rollback(past.id, command.hosts.allow);
      if (back && back->outcome == "rolled_back") continue;
      return fail(ErrorKind::conflict, "{}: transaction {} of the interrupted run was not taken back: {}",
                  control.name(), id, back ? back->outcome + ": " + back->reason : back.error().text());
    }
    return tl::unexpected(Error(
        ErrorKind::bad_input,
        fmt::format("{}: transaction {} is {}: {}{}", control.name(), id,
                    is_stuck ? past.outcome : past.phase, control.command_line({"rollback", id}),
                    past.profile == tune::kTunePlanName ? ", or --resume with the log of the run that made it"
                                                        : "")));
  }
  return {};
}

// Facts of all hosts, judged together.
Expected<std::vector<tune::FoundHost>> find_hosts(const std::vector<HostControl>& controls,
                                                  const TuneCommand& command, const ConfigFiles& configs,
                                                  const host::NicTable& nics) {
  const auto policy = diagnose::load_policy(configs, nics);
  if (!policy) return tl::unexpected(policy.error());
  diagnose::Intent intent;
  if (!command.hosts.profile.empty()) {
    const auto profile = tune::load_profile(command.hosts.profile, configs, nics);
    if (!profile) return tl::unexpected(profile.error());
    intent = intent_of(*profile);
  }
  std::vector<tune::FoundHost> out;
  for (const HostControl& control : controls) {
    auto host = control.inspect();
    if (!host) return tl::unexpected(host.error());
    host::name_nics(*host, nics);
    for (const tune::FoundHost& other : out) {
      if (other.host.name == host->name) {
        return tl::unexpected(
            Error(ErrorKind::bad_input,
                  fmt::format("--host: {} is {}, which was named already", control.name(), host->name)));
      }
    }
    std::vector<std::string> remarks;
    auto ports = tune::chosen_ports(*host, command.hosts.ports, nics, remarks);
    if (!ports)
      return tl::unexpected(Error(ErrorKind::bad_input, ports.error().within(control.name()).text()));
    out.push_back({std::move(*host), std::move(*ports), {}});
  }
  for (tune::FoundHost& found : out) {
    const std::array judged{diagnose::JudgedHost{&found.host}};
    auto report = diagnose::diagnose({judged, intent, *policy, found.ports, {}});
    found.findings = std::move(report.findings);
  }
  return out;
}

struct Opened {
  std::vector<HostControl> controls;
  std::unique_ptr<HostPlant> plant;
};
Expected<Opened> open_hosts(const TuneCommand& command, const ConfigFiles& configs) {
  auto options = plant_options(command);
  if (!options) return tl::unexpected(options.error());
  std::vector<tune::VariedVariable> varied;
  for (const std::string& text : command.hosts.varied) varied.push_back(*tune::parse_varied(text));
  auto nics = host::NicTable::load(configs);
  if (!nics) return tl::unexpected(nics.error());
  auto limits = tune::load_limits(configs, *nics);
  if (!limits) return tl::unexpected(limits.error());
  const auto space_limits = tune::load_host_space_limits(configs);
  if (!space_limits) return tl::unexpected(space_limits.error());
  Opened out;
  out.controls = controls_of(command.hosts);
  if (!command.dry_run) {
    for (const HostControl& control : out.controls) {
      if (auto open = check_nothing_is_open(control, command); !open) return tl::unexpected(open.error());
    }
  }
  auto hosts = find_hosts(out.controls, command, configs, *nics);
  if (!hosts) return tl::unexpected(hosts.error());
  const tune::SoakLimits soak = limits->soak;
  auto space = tune::HostSpace::make(std::move(*hosts), varied, *space_limits, configs, std::move(*limits),
                                     command.hosts.allow);
  if (!space) return tl::unexpected(space.error());
  out.plant = std::make_unique<HostPlant>(out.controls, std::move(*space), std::move(*options), soak);
  return out;
}

// After a verdict: what is to be done, as steps and as plans.
Expected<> lay_out(const TuneCommand& command, const HostPlant& plant, tune::HostTuning& tuning) {
  auto steps = plant.host_space().steps(tuning.outcome.best);
  if (!steps) return tl::unexpected(steps.error());
  tuning.plan = std::move(*steps);
  const auto& hosts = plant.host_space().hosts();
  for (std::size_t h = 0; h < hosts.size(); ++h) {
    auto plan = plant.host_space().plan(tuning.outcome.best, h, SystemClock().unix_ns());
    if (!plan) return tl::unexpected(plan.error());
    tuning.host_plans.push_back(std::move(*plan));
    if (command.hosts.output.empty() || tuning.host_plans.back().is_empty()) continue;
    const std::string file =
        hosts.size() == 1 ? command.hosts.output : command.hosts.output + "." + hosts[h].host.name;
    if (auto written = write_atomically(file, to_json_text(tuning.host_plans.back())); !written) {
      return tl::unexpected(written.error());
    }
    tuning.plan_files.push_back(file);
  }
  return {};
}

ExitCode commit(Opened& opened, tune::HostTuning& tuning) {
  auto committed = opened.plant->commit(tuning.outcome.best, stop_was_asked);
  if (!committed) {
    tuning.commit_error = committed.error().text();
    complain(tuning.commit_error);
    const auto back = opened.plant->restore();
    if (!back) complain(back.error().text());
    return back ? ExitCode::failed_undone : ExitCode::failed_not_undone;
  }
  for (std::size_t h = 0; h < committed->size(); ++h) {
    if ((*committed)[h] == 0) continue;
    tuning.undo.push_back(opened.controls[h].command_line({"rollback", std::to_string((*committed)[h])}));
  }
  tuning.committed = std::move(*committed);
  return ExitCode::fine;
}

std::string dry_run_text(const TuneCommand& command, const HostPlant& plant, const TunedTwin* twin,
                         const TextTable::Look& look) {
  if (command.json) {
    return space_json(plant, [&](JsonWriter& out) {
      if (twin != nullptr) twin::write_twin(out, twin->twin());
    });
  }
  return space_text(plant, look) + (twin == nullptr ? std::string() : mapping_text(twin->twin(), look));
}

std::string outcome_text(const TuneCommand& command, const tune::HostTuning& tuning, const HostPlant& plant,
                         const TunedTwin* twin, const TextTable::Look& look) {
  if (command.json) {
    return json_of(tuning, plant, command.series, [&](JsonWriter& out) {
      if (twin != nullptr) twin->write(out, tuning.outcome);
    });
  }
  return tuning_text(tuning, plant, look,
                     twin == nullptr ? std::string() : twin_text(twin->told(tuning.outcome), look));
}

}  // namespace

ExitCode tune_hosts(const TuneCommand& command) {
  const ConfigFiles configs;
  const auto budget = parse_budget(command.budget);
  ROCETUNE_ASSERT(budget.has_value());  // the command line has read it
  const auto policy = search::load_policy(configs).and_then([&](const search::Policy& shipped) {
    return search::with_objectives(shipped, command.objectives, "--objective");
  });
  if (!policy) return complain(policy.error());
  const auto of_twin = twin_file(command);
  if (!of_twin) return complain(of_twin.error());
  auto opened = open_hosts(command, configs);
  if (!opened) return complain(opened.error());
  HostPlant& plant = *opened->plant;
  std::unique_ptr<TunedTwin> twin;
  if (*of_twin) {
    auto made = TunedTwin::open(**of_twin, command, plant, *policy);
    if (!made) return complain(made.error());
    twin = std::move(*made);
  }
  const auto look = TextTable::Look::for_stream(STDOUT_FILENO, command.colour);
  if (command.dry_run) return print_report("tune", dry_run_text(command, plant, twin.get(), look));
  if (!command.html.empty()) {
    if (auto writable = check_writable(command.html); !writable) return complain(writable.error());
  }
  fmt::print(stderr, "{}", consent_text(plant, command));
  if (auto asked = consent(command.hosts.yes, "Begin?"); !asked) return complain(asked.error());

  const search::TuneOptions options{
      .budget = *budget, .seed = command.seed, .guide = twin ? &twin->guide() : nullptr};
  const auto record = recorded(command, plant, options);
  if (!record) return complain(record.error());
  search::Plant& asked = *record ? static_cast<search::Plant&>(**record) : plant;
  tune::HostTuning tuning{.command = asked_again(command)};
  tuning.outcome = search_with_progress("tune " + plant.traits().name, asked, *policy, options);
  ExitCode code = code_of(tuning.outcome);
  if (code == ExitCode::failed_not_undone) complain(tuning.outcome.restore_error);
  if (auto laid = lay_out(command, plant, tuning); !laid) return complain(laid.error());
  if (command.hosts.commit && tuning.outcome.verdict == search::Verdict::change && code == ExitCode::fine) {
    code = commit(*opened, tuning);
  }
  const auto written =
      command.html.empty()
          ? Expected<>()
          : write_atomically(command.html,
                             tuning_page(tuning, plant, *policy,
                                         twin ? std::optional(twin->told(tuning.outcome)) : std::nullopt));
  const ExitCode printed = print_report("tune", outcome_text(command, tuning, plant, twin.get(), look));
  if (!written) return complain(written.error());
  return code == ExitCode::fine ? printed : code;
}

}  // namespace rocetune::cli
