#include <algorithm>

#include "agent/diagnose/rule.h"

namespace rocetune::diagnose {
namespace {

Outcome judge_boot_unit(const HostFacts& facts) {
  Needs need;
  const bool* installed = need(facts.host.boot_unit_installed, "boot unit");
  if (installed == nullptr) return need.not_checked();
  const Evidence seen = setting("boot unit", *installed ? "installed" : "not installed", "", "systemd");
  if (*installed) return Outcome::passed({seen});
  const bool anything = std::any_of(facts.ports.begin(), facts.ports.end(),
                                    [](const PortFacts& p) { return p.roce_class.has_value(); });
  if (!anything) return Outcome::not_checked("no RoCE class is set up: nothing to keep over a reboot");
  Finding finding;
  finding.severity = Severity::info;
  finding.confidence = Confidence::medium;
  finding.evidence = {seen};
  finding.cause =
      "Class map and PFC live in the kernel only: a reboot or driver reload drops them, unless another "
      "program writes them again.";
  finding.fix = advise("Confirm a state with rocetune apply, and enable its boot unit.",
                       {"systemctl enable rocetune-boot.service"});
  return Outcome::found(std::move(finding));
}

}  // namespace

std::span<const Rule> persistence_rules() {
  static constexpr Rule kRules[] = {
      {.id = "OPS-1",
       .title = "Settings survive a reboot",
       .condition = "The boot unit that applies the last confirmed state is installed.",
       .why = "Run-time QoS is lost on reboot, driver reload and some link events.",
       .needs = "Whether the unit is there; a RoCE class worth keeping.",
       .decided = "Info if it is not: other programs may do the same, which is not visible.",
       .fix = "Enable the unit.",
       .source = "MiaAI-Lab/GLM-5.3-Flash-EXL3-2x-DGX-Sparks#115",
       .gates = {},
       .judge = judge_boot_unit},
  };
  return kRules;
}

}  // namespace rocetune::diagnose
