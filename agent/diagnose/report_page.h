// A report as a page to attach to a ticket: one HTML file that needs nothing else.
#pragma once

#include <string>
#include <vector>

#include "agent/diagnose/finding.h"
#include "agent/diagnose/report_json.h"

namespace rocetune::diagnose {

struct ReportPage {
  const Report& report;
  const std::vector<Input>& inputs;
  const FactTable& facts;
  std::string taken;  // "2026-11-30T10:15:00Z"; empty: not said
};
// What to do first, findings with evidence and fix, what was read, what was not checked and why, what passed,
// the numbers. A manager reads the top, an engineer the rest.
std::string report_page(const ReportPage& page);

}  // namespace rocetune::diagnose
