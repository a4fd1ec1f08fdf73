// What is wrong with a fabric, by doctor's rules: on every host as on any host, on switches by what the
// fabric itself says of them. And which settings cure it.
#pragma once

#include <stop_token>
#include <string>
#include <vector>

#include "agent/diagnose/finding.h"
#include "agent/diagnose/policy.h"
#include "agent/tune/fabric_plant/knobs.h"
#include "agent/tune/search/space.h"
#include "dataplane/base/config_files.h"

namespace rocetune::fabric_plant {

// A finding, with everybody of whom it is true in the same way.
struct FabricFinding {
  std::string rule;  // an id of docs/rules.md, or of switches: docs/tuning.md
  diagnose::Severity severity = diagnose::Severity::warning;
  std::string where;  // "h3", "h0-h15", "switch 2"
  std::string cause;  // one sentence
  std::string fix;    // in words
  std::vector<diagnose::Evidence> evidence;
  std::vector<search::Setting> settings;  // that cure it; empty: none of this space does
  std::string why_no_settings;            // then
  bool is_hardware = false;               // the host itself is slow
};

struct FabricDiagnosis {
  std::vector<FabricFinding> findings;  // worst first
};

// `scenario` is with_own_parts; its own workload is run once, hosts' counters are read before and after.
// Findings that are merely worth knowing (info) are left out. Errors: configs cannot be read; conflict: it
// was stopped.
Expected<FabricDiagnosis> diagnose_fabric(const fabric::Scenario& scenario,
                                          const std::vector<FabricKnob>& knobs, const search::Space& space,
                                          const ConfigFiles& configs, const std::stop_token& stop = {});

// Of diagnose_fabric: what is wrong with switches.
std::vector<FabricFinding> switch_findings(const fabric::Scenario& scenario,
                                           const std::vector<FabricKnob>& knobs, const search::Space& space);

}  // namespace rocetune::fabric_plant
