// Texts of switches for tests: fixtures, read with the formats of switches.
#pragma once

#include <string>

#include "agent/evidence/dossier.h"
#include "agent/evidence/switches/formats.h"
#include "agent/evidence/switches/switch_evidence.h"
#include "dataplane/base/file.h"
#include "tests/places.h"

namespace rocetune::evidence {

// `name`: below tests/fixtures/texts, "sonic-pfcwd/config.txt".
inline TextReading read_switch_fixture(const std::string& name) {
  const auto text = read_file(source_root() + "/tests/fixtures/texts/" + name, Bytes(1 << 20));
  return read_text(text.value(), name, switch_formats());
}
inline SwitchEvidence switch_in(std::string_view text) {
  const TextReading reading = read_text(text, "x.txt", switch_formats());
  if (reading.documents.empty() || reading.documents[0].as<SwitchEvidence>() == nullptr) return {};
  return *reading.documents[0].as<SwitchEvidence>();
}
inline SwitchEvidence switch_fixture(const std::string& name) {
  const TextReading reading = read_switch_fixture(name);
  if (reading.documents.empty() || reading.documents[0].as<SwitchEvidence>() == nullptr) return {};
  return *reading.documents[0].as<SwitchEvidence>();
}

}  // namespace rocetune::evidence
