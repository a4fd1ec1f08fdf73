#include <algorithm>

#include "agent/diagnose/rule.h"

namespace rocetune::diagnose {
namespace {

Outcome judge_boot_unit(const HostFacts& facts) {
  Needs need;
  const bool* installed = need(facts.host.boot_unit_installed, "boot unit");
  if (installed == nullptr) return need.not_checked();
  std::vector<Evidence> seen{setting("boot unit", *installed ? "installed" : "not installed", "", "systemd")};
  const Observed<bool>& confirmed = facts.host.state_confirmed;
  if (confirmed) seen.push_back(setting("confirmed state", *confirmed ? "there" : "none", "", "journal"));
  if (*installed) {
    if (need(confirmed, "confirmed state") == nullptr) return need.not_checked();
    if (*confirmed) return Outcome::passed(std::move(seen));
  }
  const bool anything = std::any_of(facts.ports.begin(), facts.ports.end(),
                                    [](const PortFacts& p) { return p.roce_class.has_value(); });
  if (!anything) return Outcome::not_checked("no RoCE class is set up: nothing to keep over a reboot");
  Finding finding;
  finding.severity = Severity::info;
  finding.confidence = Confidence::medium;
  finding.evidence = std::move(seen);
  finding.cause =
      *installed ? "The boot unit is there, but no state was confirmed that it could bring back: a reboot or "
                   "driver reload drops class map and PFC, unless another program writes them again."
                 : "Class map and PFC live in the kernel only: a reboot or driver reload drops them, unless "
                   "another program writes them again.";
  std::vector<std::string> commands;
  if (!confirmed.value_or(false)) commands = {"rocetune apply --profile NAME", "rocetune confirm"};
  if (!*installed) commands.emplace_back("rocetune persist");
  finding.fix =
      advise(*installed                  ? "Apply a profile and confirm it."
             : confirmed.value_or(false) ? "Have the confirmed state brought back at boot."
                                         : "Apply a profile, confirm it, and have it brought back at boot.",
             std::move(commands));
  return Outcome::found(std::move(finding));
}

}  // namespace

std::span<const Rule> persistence_rules() {
  static constexpr Rule kRules[] = {
      {.id = "OPS-1",
       .title = "Settings survive a reboot",
       .condition = "The boot unit that applies the last confirmed state is installed, and there is such a "
                    "state.",
       .why = "Run-time QoS is lost on reboot, driver reload and some link events.",
       .needs = "Whether the unit is there, the journal, a RoCE class worth keeping.",
       .decided = "Info if unit or state is missing: other programs may do the same, which is not visible.",
       .fix = "Confirm what was applied, then rocetune persist.",
       .source = "MiaAI-Lab/GLM-5.3-Flash-EXL3-2x-DGX-Sparks#115",
       .gates = {},
       .judge = judge_boot_unit},
  };
  return kRules;
}

}  // namespace rocetune::diagnose
