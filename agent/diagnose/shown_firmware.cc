// Firmware settings as mlxconfig shows them: which congestion control runs, what a reboot will change.
#include <fmt/core.h>

#include <algorithm>

#include "agent/diagnose/rule.h"
#include "agent/diagnose/shown_ports.h"
#include "agent/evidence/rdma_tools/mlxconfig.h"

namespace rocetune::diagnose {
namespace {

using evidence::MlxconfigDevice;
using evidence::MlxconfigSetting;

std::string device_label(const evidence::Document& document, const MlxconfigDevice& device) {
  const std::string host = document.host.value_or("");
  const std::string name = device.device.empty() ? std::string("adapter") : device.device;
  return host.empty() ? name : host + " " + name;
}

Evidence shown_setting(const evidence::Document& document, const MlxconfigSetting& setting) {
  const std::string value = setting.current && *setting.current != setting.next_boot
                                ? fmt::format("{} (next boot {})", *setting.current, setting.next_boot)
                                : setting.next_boot;
  return shown(setting.name, value, "", document, setting.line);
}

const std::string& value_now(const MlxconfigSetting& setting) {
  return setting.current ? *setting.current : setting.next_boot;
}

// ---- ECN-5 ----

// Settings that say who steers. Each with what it means if it is on, and if it is off.
struct SteeringKnob {
  std::string_view name;
  const char* on;  // nullptr: says nothing then
  const char* off;
};
constexpr SteeringKnob kSteering[] = {
    {"USER_PROGRAMMABLE_CC",
     "programmable congestion control is on: an algorithm in the NIC's processor steers", nullptr},
    {"ROCE_CC_LEGACY_DCQCN", nullptr, "legacy DCQCN is off"},
    {"ROCE_CC_PRIO_MASK_P1", nullptr, "no priority of port 1 has congestion control"},
    {"ROCE_CC_PRIO_MASK_P2", nullptr, "no priority of port 2 has congestion control"},
};

Outcome judge_steering(const DossierFacts& facts) {
  std::vector<Finding> findings;
  std::vector<Evidence> seen;
  for (const auto& [document, query] : facts.dossier.all<evidence::MlxconfigQuery>()) {
    for (const MlxconfigDevice& device : query->devices) {
      Finding finding;
      std::string what;
      for (const SteeringKnob& knob : kSteering) {
        const MlxconfigSetting* setting = device.find(knob.name);
        const auto value =
            setting == nullptr ? std::nullopt : evidence::mlxconfig_number(value_now(*setting));
        if (!value) continue;
        seen.push_back(shown_setting(*document, *setting));
        const char* says = *value != 0 ? knob.on : knob.off;
        if (says == nullptr) continue;
        what += (what.empty() ? "" : "; ") + std::string(says);
        finding.evidence.push_back(seen.back());
      }
      if (what.empty() || findings.size() >= kMostShownFindings) continue;
      finding.severity = Severity::info;
      finding.confidence = Confidence::medium;
      finding.subject = device_label(*document, device);
      finding.cause = fmt::format(
          "By its firmware settings {}. The DCQCN parameters (cc_params, ECN of the host) may have no effect "
          "then.",
          what);
      finding.fix = advise(
          "Find out which algorithm runs before its parameters are changed; use the same on both ends, and "
          "compare it with "
          "DCQCN under incast.",
          {"mlxconfig -d DEVICE -e q | grep -E 'ROCE_CC|PROGRAMMABLE'"});
      findings.push_back(std::move(finding));
    }
  }
  return Outcome::of(std::move(findings), std::move(seen),
                     "mlxconfig does not show which congestion control is on");
}

// ---- OPS-1 ----

Outcome judge_next_boot(const DossierFacts& facts) {
  std::vector<Finding> findings;
  std::size_t compared = 0;
  const evidence::Document* last = nullptr;
  for (const auto& [document, query] : facts.dossier.all<evidence::MlxconfigQuery>()) {
    for (const MlxconfigDevice& device : query->devices) {
      Finding finding;
      for (const MlxconfigSetting& setting : device.settings) {
        if (!setting.current) continue;
        ++compared;
        last = document;
        if (*setting.current != setting.next_boot && finding.evidence.size() < 16)
          finding.evidence.push_back(shown_setting(*document, setting));
      }
      if (finding.evidence.empty() || findings.size() >= kMostShownFindings) continue;
      finding.severity = Severity::info;
      finding.subject = device_label(*document, device);
      finding.cause = fmt::format(
          "Firmware settings ({} of them) differ between now and the next boot: what was measured now will "
          "not "
          "hold after a reboot, or what was set is not in force yet.",
          finding.evidence.size());
      finding.fix = advise("Reset the firmware (mlxfwreset) or reboot before measuring, and look again.",
                           {"mlxfwreset -d DEVICE query"});
      findings.push_back(std::move(finding));
    }
  }
  if (!findings.empty()) return Outcome::found(std::move(findings));
  if (compared == 0)
    return Outcome::not_checked(
        "mlxconfig -e, which shows the present values beside those of the next boot, is not among the "
        "inputs");
  return Outcome::passed(
      {shown("firmware settings, the same now and at the next boot", compared, "", *last)});
}

}  // namespace

std::span<const Rule> shown_firmware_rules() {
  static constexpr Rule kRules[] = {
      {.id = "ECN-5",
       .title = "The firmware runs DCQCN",
       .condition =
           "mlxconfig shows no programmable congestion control, legacy DCQCN on, and a priority that has it.",
       .why = "Tuning the parameters of an algorithm that does not run does nothing.",
       .needs = "mlxconfig q.",
       .decided = "Info: another algorithm is a choice, not a fault. Without -e the values are those of the "
                  "next boot.",
       .fix = "Find out which runs.",
       .source = "NVIDIA firmware documentation; oci-hpc",
       .gates = {},
       .judge = judge_steering},
      {.id = "OPS-1",
       .title = "Firmware settings are in force",
       .condition = "mlxconfig -e shows the same values now and at the next boot.",
       .why = "What is measured must be what stays.",
       .needs = "mlxconfig -e q.",
       .decided = "Info if they differ.",
       .fix = "mlxfwreset or a reboot.",
       .source = "NVIDIA mlxconfig documentation",
       .gates = {},
       .judge = judge_next_boot},
  };
  return kRules;
}

}  // namespace rocetune::diagnose
