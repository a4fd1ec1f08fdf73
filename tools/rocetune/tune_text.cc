#include "tools/rocetune/tune_text.h"

#include <fmt/core.h>

#include "tools/rocetune/outcome_text.h"

namespace rocetune::cli {
namespace {

using fabric_plant::FabricFinding;
using fabric_plant::FabricPlant;
using fabric_plant::FabricTuning;

// What belongs to the verdict: the best so far of an interrupted run, and what gets worse.
std::string beside_the_headline(const FabricTuning& tuning, bool coloured) {
  // Below the sentence that follows the verdict's word.
  const std::string indent(tuning.outcome.verdict == search::Verdict::change ? 8 : 13, ' ');
  std::string out;
  if (tuning.so_far) {
    out += fmt::format(
        "{}the best so far, which nothing has confirmed: {} change{}, {:+.1f} % in {} trial{}\n", indent,
        tuning.plan.size(), tuning.plan.size() == 1 ? "" : "s", tuning.so_far->gain_percent,
        tuning.so_far->trials, tuning.so_far->trials == 1 ? "" : "s");
  }
  for (const search::Worsened& worse : tuning.worsened) {
    out += indent +
           painted(fmt::format("worse: {} of {}, {:+.1f} {}", enum_name(worse.objective), worse.workload,
                               worse.change_percent,
                               search::kind_of(worse.objective).is_ratio_scale ? "%" : "points"),
                   Paint::warning, coloured) +
           "\n";
  }
  return out;
}

std::vector<Said> findings_of(const FabricPlant& plant) {
  std::vector<Said> out;
  for (const FabricFinding& finding : plant.diagnosis().findings) {
    out.push_back({finding.severity, finding.rule, finding.where, finding.cause,
                   finding.settings.empty() ? "" : plant.space().text(finding.settings)});
  }
  return out;
}

std::string unrepaired_text(const FabricTuning& tuning, bool coloured) {
  std::string out;
  for (const fabric_plant::Unrepaired& u : tuning.unrepaired)
    out += fmt::format("\n{} {}: {}\n  {}.\n", painted("needs hands", Paint::warning, coloured), u.where,
                       u.cause, u.advice);
  return out;
}

// The lines themselves are pages long.
std::string switch_lines_text(const FabricTuning& tuning) {
  if (tuning.switch_lines.empty()) return {};
  std::string systems, incomplete, last;  // those of one system stand together
  for (const fabric_plant::SwitchSnippet& one : tuning.switch_lines) {
    if (one.system == last) continue;
    last = one.system;
    systems += (systems.empty() ? "" : ", ") + last;
    if (!one.unsaid.empty()) incomplete += (incomplete.empty() ? "" : ", ") + last;
  }
  std::string out =
      fmt::format("\nlines for switches ({}): --html FILE, or switch_lines[] of --json", systems);
  if (!incomplete.empty()) out += fmt::format("; what {} cannot say is named there", incomplete);
  return out + "\n";
}

}  // namespace

std::string tuning_text(const FabricTuning& tuning, const FabricPlant& plant, const TextTable::Look& look) {
  const search::Outcome& o = tuning.outcome;
  std::string out = headline(o, plant.scenario().name, tuning.plan.size(), look.coloured);
  out += beside_the_headline(tuning, look.coloured);
  out += plan_text(tuning.plan, look) + switch_lines_text(tuning) + attribution_text(o, plant, look) +
         workloads_text(o, plant, look);
  out += unrepaired_text(tuning, look.coloured) + said_text(findings_of(plant), look.coloured);
  return out + ending_text(o, tuning.command);
}

std::string space_text(const FabricPlant& plant, const TextTable::Look& look) {
  return fmt::format("{}: {}\n{} knobs, {} workloads; no trial was run\n\n", plant.scenario().name,
                     plant.scenario().description, plant.space().size(), plant.workloads().size()) +
         space_text(plant, plant.left_out(), findings_of(plant), look);
}

}  // namespace rocetune::cli
