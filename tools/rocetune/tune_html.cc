#include "tools/rocetune/tune_html.h"

#include <algorithm>

#include "agent/report/tune_page.h"

namespace rocetune::cli {
namespace {

report::TuneFinding finding_of(const fabric_plant::FabricTuning& tuning,
                               const fabric_plant::FabricPlant& plant,
                               const fabric_plant::FabricFinding& finding) {
  report::TuneFinding out{
      .severity = std::string(enum_name(finding.severity)),
      .rule = finding.rule,
      .where = finding.where,
      .cause = finding.cause,
      .cure = finding.settings.empty() ? finding.why_no_settings : plant.space().text(finding.settings),
      .is_hardware = finding.is_hardware};
  const auto advised = std::ranges::find_if(tuning.unrepaired, [&](const fabric_plant::Unrepaired& one) {
    return one.rule == finding.rule && one.where == finding.where;
  });
  if (advised != tuning.unrepaired.end()) out.cure = advised->advice + ".";
  if (out.cure.empty()) out.cure = finding.fix;
  return out;
}

// As people call what a writer is for.
std::string title_of(std::string_view system) {
  constexpr std::pair<std::string_view, std::string_view> kTitles[] = {{"sonic", "SONiC"},
                                                                       {"nvue", "Cumulus Linux (NVUE)"},
                                                                       {"eos", "Arista EOS"},
                                                                       {"nxos", "Cisco NX-OS"},
                                                                       {"junos", "Juniper Junos"}};
  const auto* const known =
      std::ranges::find(kTitles, system, &std::pair<std::string_view, std::string_view>::first);
  return std::string(known == std::end(kTitles) ? system : known->second);
}

std::string trial_of(const fabric_plant::FabricPlant& plant) {
  const int runs = plant.table().runs;
  return fmt::format("A trial is {} run{} of each workload, and {} of what is held out.", runs,
                     runs == 1 ? "" : "s", runs * fabric_plant::kHeldOutRuns);
}

}  // namespace

std::string tuning_page(const fabric_plant::FabricTuning& tuning, const fabric_plant::FabricPlant& plant) {
  report::TunePage page{.command = tuning.command,
                        .description = plant.scenario().description,
                        .plant = plant,
                        .outcome = tuning.outcome,
                        .policy = tuning.policy,
                        .plan = tuning.plan,
                        .so_far = tuning.so_far,
                        .worsened = tuning.worsened,
                        .trial = trial_of(plant)};
  for (const auto& finding : plant.diagnosis().findings)
    page.findings.push_back(finding_of(tuning, plant, finding));
  for (const std::string_view system : fabric_plant::kSwitchSystems) page.makers.emplace_back(system);
  for (const fabric_plant::SwitchNames& one : tuning.switch_names)
    page.emitted.push_back({one.where, one.knob, one.value, {one.sonic, one.nvue, one.eos}});
  for (const fabric_plant::SwitchSnippet& one : tuning.switch_lines)
    page.switch_lines.push_back({title_of(one.system), one.where, one.text, one.notes, one.unsaid});
  page.left_out = plant.left_out();
  return report::tune_page(page);
}

}  // namespace rocetune::cli
