#include "tools/rocetune/tune_hosts_html.h"

#include "agent/tune/search/remarks.h"

namespace rocetune::cli {

std::string tuning_page(const tune::HostTuning& tuning, const tune::HostPlant& plant,
                        const search::Policy& policy, std::optional<report::TuneTwin> twin) {
  report::TunePage page{.command = tuning.command,
                        .description = {},
                        .plant = plant,
                        .outcome = tuning.outcome,
                        .policy = policy,
                        .plan = tuning.plan,
                        .so_far = std::nullopt,
                        .worsened = search::worsened_by(plant, policy, tuning.outcome)};
  const auto& hosts = plant.host_space().hosts();
  for (const tune::FoundHost& found : hosts) {
    for (const diagnose::Finding& finding : found.findings) {
      if (finding.severity == diagnose::Severity::info) continue;
      page.findings.push_back(
          {.severity = std::string(enum_name(finding.severity)),
           .rule = finding.rule,
           .where = hosts.size() > 1 ? found.host.name + " " + finding.subject : finding.subject,
           .cause = finding.cause,
           .cure = finding.fix.text});
    }
  }
  page.left_out = plant.host_space().left_out();
  page.twin = std::move(twin);
  page.undo = tuning.undo;
  return report::tune_page(page);
}

}  // namespace rocetune::cli
