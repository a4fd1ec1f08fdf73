// What rules over texts say about texts: one fixture for each outcome, and more in other variants.
#pragma once

#include <vector>

#include "tests/agent/diagnose/rule_fixtures.h"
#include "tests/agent/diagnose/text_report.h"

namespace rocetune::diagnose {

struct TextFixture {
  const char* rule;
  Kind kind;
  std::vector<Text> texts;
  const char* says = "";  // part of the cause or the reason
  Severity severity = Severity::warning;
};

// Counters, bonds, queue-pair attributes and hosts that differ, by tools of the host.
std::vector<TextFixture> told_fixtures();
std::vector<TextFixture> told_loss_fixtures();

}  // namespace rocetune::diagnose
