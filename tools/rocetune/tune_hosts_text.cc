#include "tools/rocetune/tune_hosts_text.h"

#include <fmt/core.h>

#include "tools/rocetune/outcome_text.h"

namespace rocetune::cli {
namespace {

std::vector<Said> findings_of(const tune::HostPlant& plant) {
  std::vector<Said> out;
  const auto& hosts = plant.host_space().hosts();
  for (const tune::FoundHost& found : hosts) {
    for (const diagnose::Finding& finding : found.findings) {
      if (finding.severity == diagnose::Severity::info) continue;
      const std::string where = hosts.size() > 1 ? found.host.name + " " + finding.subject : finding.subject;
      out.push_back({finding.severity, finding.rule, where, finding.cause, finding.fix.text});
    }
  }
  return out;
}

std::string hosts_text(const tune::HostPlant& plant) {
  std::string out;
  for (const tune::FoundHost& found : plant.host_space().hosts()) {
    out += (out.empty() ? "" : ", ") + found.host.name + " (";
    for (const std::string& port : found.ports) out += (&port == &found.ports.front() ? "" : " ") + port;
    out += ")";
  }
  return out;
}

std::string knobs_of_cost(const search::Space& space, search::ChangeCost cost) {
  std::string out;
  for (const search::Knob& knob : space.knobs()) {
    if (knob.cost == cost) out += (out.empty() ? "" : ", ") + knob.name;
  }
  return out;
}

// What is in force now, and what a person does next.
std::string state_text(const tune::HostTuning& tuning) {
  std::string out;
  if (tuning.committed) {
    out += "\nthe change is in force, confirmed on every host\n";
    for (const std::string& undo : tuning.undo) out += "  undo: " + undo + "\n";
    return out;
  }
  if (!tuning.commit_error.empty()) out += "\nNOT COMMITTED: " + tuning.commit_error + "\n";
  if (tuning.outcome.restored) {
    out += "\nevery host is as it was\n";
  } else {
    out += "\nNOT AS IT WAS: " + tuning.outcome.restore_error + "\n";
  }
  for (const std::string& file : tuning.plan_files)
    out += "  to have the change: rocetune apply " + file + "\n";
  return out;
}

}  // namespace

std::string consent_text(const tune::HostPlant& plant, const TuneCommand& command) {
  const search::Space& space = plant.space();
  std::string out = fmt::format(
      "rocetune tune changes {} again and again while the workload runs, {}.\n", hosts_text(plant),
      command.budget.find_first_not_of("0123456789") == std::string::npos ? command.budget + " trials at most"
                                                                          : "for " + command.budget);
  out += fmt::format("  it turns: {} knobs (--dry-run lists them)\n", space.size());
  const std::string bounces = knobs_of_cost(space, search::ChangeCost::bounces_link);
  const std::string reloads = knobs_of_cost(space, search::ChangeCost::reloads_driver);
  if (!bounces.empty()) out += "  INTERRUPTS LINKS each time: " + bounces + "\n";
  if (!reloads.empty()) out += "  cannot be undone exactly without reloading the driver: " + reloads + "\n";
  out += fmt::format(
      "  every change is a transaction of the host that is taken back after its trial, by the host itself {} "
      "after\n"
      "  this program, this machine or the network died; in the end {}\n",
      to_text(plant.dead_man()),
      command.hosts.commit ? "the best is confirmed, if it is better beyond doubt"
                           : "everything is as it was");
  if (!command.hosts.twin.empty()) {
    out += fmt::format("  the twin {} is searched first, and decides which candidates are tried here\n",
                       command.hosts.twin);
  }
  return out;
}

std::string tuning_text(const tune::HostTuning& tuning, const tune::HostPlant& plant,
                        const TextTable::Look& look, const std::string& of_twin) {
  const search::Outcome& o = tuning.outcome;
  std::string out = headline(o, plant.traits().name, tuning.plan.size(), look.coloured);
  out += state_text(tuning);
  out += plan_text(tuning.plan, look) + attribution_text(o, plant, look) + workloads_text(o, plant, look);
  out += said_text(findings_of(plant), look.coloured);
  return out + of_twin + ending_text(o, tuning.command);
}

std::string space_text(const tune::HostPlant& plant, const TextTable::Look& look) {
  return fmt::format("{}\n{} knobs, {} workloads; no trial was run, nothing was changed\n\n",
                     hosts_text(plant), plant.space().size(), plant.workloads().size()) +
         space_text(plant, plant.host_space().left_out(), findings_of(plant), look);
}

}  // namespace rocetune::cli
