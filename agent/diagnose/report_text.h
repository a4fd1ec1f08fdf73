// A report for people: findings by severity with evidence and fixes, what was not checked and why, the first
// step.
#pragma once

#include <string>

#include "agent/diagnose/finding.h"

namespace rocetune::diagnose {

struct ReportLook {
  int width = 100;  // lines are broken here; 40 or more
  bool coloured = false;
  bool list_passed = false;
};

std::string to_text(const Report& report, const ReportLook& look);

}  // namespace rocetune::diagnose
