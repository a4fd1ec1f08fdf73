#include "agent/diagnose/finding_groups.h"

#include <fmt/core.h>

#include <map>
#include <tuple>

namespace rocetune::diagnose {

std::string FindingGroup::subject_text() const {
  constexpr std::size_t kMostNamed = 6;
  std::string out;
  for (std::size_t i = 0; i < subjects.size() && i < kMostNamed; ++i)
    out += (i == 0 ? "" : ", ") + subjects[i];
  if (subjects.size() > kMostNamed) out += fmt::format(" and {} more", subjects.size() - kMostNamed);
  return out;
}

std::vector<FindingGroup> grouped(const Report& report) {
  std::vector<FindingGroup> out;
  std::map<std::tuple<std::string, Severity, std::string, std::string>, std::size_t> known;
  for (const Finding& finding : report.findings) {
    const auto [at, is_new] =
        known.try_emplace({finding.rule, finding.severity, finding.cause, finding.fix.text}, out.size());
    if (is_new) out.push_back({&finding, {}});
    out[at->second].subjects.push_back(finding.subject);
  }
  return out;
}

}  // namespace rocetune::diagnose
