#include "agent/diagnose/finding_groups.h"

#include <fmt/core.h>

#include <map>
#include <set>
#include <string_view>
#include <tuple>

namespace rocetune::diagnose {

std::string named(const std::vector<std::string>& names, std::size_t most) {
  std::string out;
  for (std::size_t i = 0; i < names.size() && i < most; ++i) out += (i == 0 ? "" : ", ") + names[i];
  if (names.size() > most) out += fmt::format(" and {} more", names.size() - most);
  return out;
}

std::string FindingGroup::subject_text() const { return named(subjects, kMostSubjects); }

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

std::vector<NotCheckedGroup> grouped(const std::vector<NotChecked>& not_checked,
                                     const std::function<std::string(const NotChecked&)>& reason_of) {
  struct Known {
    std::size_t index = 0;
    std::set<std::string_view> rules, subjects;
  };
  std::vector<NotCheckedGroup> out;
  std::map<std::string, Known> known;
  for (const NotChecked& one : not_checked) {
    const auto [at, is_new] = known.try_emplace(reason_of(one), Known{out.size(), {}, {}});
    if (is_new) out.push_back({at->first, {}, {}});
    NotCheckedGroup& group = out[at->second.index];
    if (at->second.rules.insert(one.rule).second) group.rules.push_back(one.rule);
    if (at->second.subjects.insert(one.subject).second) group.subjects.push_back(one.subject);
  }
  return out;
}

}  // namespace rocetune::diagnose
