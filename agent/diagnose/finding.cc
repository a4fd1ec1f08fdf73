#include "agent/diagnose/finding.h"

#include <fmt/core.h>

#include <algorithm>

namespace rocetune::diagnose {

Outcome Outcome::found(Finding finding) {
  std::vector<Finding> one;
  one.push_back(std::move(finding));
  return found(std::move(one));
}

Outcome Outcome::found(std::vector<Finding> findings) {
  ROCETUNE_ASSERT(!findings.empty());
  for (const Finding& finding : findings) {
    ROCETUNE_ASSERT(!finding.evidence.empty());
    ROCETUNE_ASSERT(!finding.cause.empty());
    ROCETUNE_ASSERT(!finding.fix.text.empty());
  }
  return Outcome(Value(std::in_place_index<0>, std::move(findings)));
}

Outcome Outcome::passed(std::vector<Evidence> evidence) {
  ROCETUNE_ASSERT(!evidence.empty());
  return Outcome(Value(std::in_place_index<1>, std::move(evidence)));
}

Outcome Outcome::not_checked(std::string reason) {
  ROCETUNE_ASSERT(!reason.empty());
  return Outcome(Value(std::in_place_index<2>, std::move(reason)));
}

Outcome Outcome::of(std::vector<Finding> findings, std::vector<Evidence> good, std::string reason) {
  if (!findings.empty()) return found(std::move(findings));
  if (!good.empty()) return passed(std::move(good));
  return not_checked(std::move(reason));
}

bool Report::has_finding_at_least(Severity severity) const {
  return std::any_of(findings.begin(), findings.end(),
                     [&](const Finding& f) { return f.severity >= severity; });
}

std::string Report::first_step() const {
  if (has_finding_at_least(Severity::warning)) {
    const Finding& first = findings.front();
    return fmt::format("{} on {}: {}", first.rule, first.subject, first.fix.text);
  }
  if (passed.empty()) return "nothing could be judged: see what was not checked, and why";
  if (!not_checked.empty()) {
    return fmt::format("nothing to fix in the {} checks made; {} were not made, see why", passed.size(),
                       not_checked.size());
  }
  return "nothing to fix";
}

}  // namespace rocetune::diagnose
