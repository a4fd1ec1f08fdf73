#include "agent/diagnose/report_text.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>

#include "agent/diagnose/finding_groups.h"
#include "dataplane/base/terminal.h"
#include "dataplane/base/text_table.h"

namespace rocetune::diagnose {
namespace {

Paint paint_of(Severity severity) {
  switch (severity) {
    case Severity::critical:
      return Paint::severe;
    case Severity::warning:
      return Paint::warning;
    case Severity::info:
      break;
  }
  return Paint::notice;
}

const char* heading_of(Severity severity) {
  switch (severity) {
    case Severity::critical:
      return "CRITICAL";
    case Severity::warning:
      return "WARNING";
    case Severity::info:
      break;
  }
  return "INFO";
}

class Writer {
 public:
  explicit Writer(const ReportLook& look) : look_(look) {}

  void line(std::string_view text = {}) { out_ += fmt::format("{}\n", text); }
  void heading(std::string_view text, Paint paint) { line(painted(text, paint, look_.coloured)); }
  // Words, broken at the width; following lines are indented as the first. The text is never cut.
  void words(int indent, std::string_view text) {
    const std::string blank(static_cast<std::size_t>(indent), ' ');
    std::string current;
    std::size_t at = 0;
    while (at < text.size()) {
      const std::size_t end = std::min(text.find(' ', at), text.size());
      const std::string_view word = text.substr(at, end - at);
      const bool fits = indent + static_cast<int>(current.size() + 1 + word.size()) <= look_.width;
      if (!current.empty() && !fits) {
        line(blank + current);
        current.clear();
      }
      current += (current.empty() ? "" : " ") + std::string(word);
      at = end + 1;
    }
    if (!current.empty()) line(blank + current);
  }
  void table(int indent, const std::vector<Evidence>& evidence) {
    TextTable table({{.title = "evidence"}, {.title = "value"}, {.title = "source"}});
    for (const Evidence& e : evidence) {
      table.add_row({e.name, e.unit.empty() ? e.value : e.value + " " + e.unit, {e.source, Paint::faint}});
    }
    out_ += table.text({.width = 0, .coloured = look_.coloured, .indent = indent});
  }
  std::string take() { return std::move(out_); }

 private:
  const ReportLook& look_;
  std::string out_;
};

void write_fix(Writer& out, const Fix& fix) {
  out.words(4, "Fix: " + fix.text);
  for (const Change& change : fix.changes) {
    out.line(fmt::format("      {}: {} => {}", to_text(change.knob),
                         host::to_text(change.knob, change.before),
                         host::to_text(change.knob, change.after)));
  }
  for (const std::string& command : fix.commands) out.line("      $ " + command);
}

void write_findings(Writer& out, const Report& report, Severity severity) {
  const auto is_it = [&](const Finding& f) { return f.severity == severity; };
  const auto count = std::count_if(report.findings.begin(), report.findings.end(), is_it);
  if (count == 0) return;
  out.line();
  out.heading(fmt::format("{} ({})", heading_of(severity), count), paint_of(severity));
  for (const FindingGroup& group : grouped(report)) {
    const Finding& finding = *group.first;
    if (!is_it(finding)) continue;
    out.line();
    out.words(2, fmt::format("{}  {}  (confidence {})", finding.rule, group.subject_text(),
                             enum_name(finding.confidence)));
    out.words(4, finding.cause);
    out.table(4, finding.evidence);
    write_fix(out, finding.fix);
  }
}

// "eth0: text" lines of many subjects, those with one text together. A few stay as they are.
std::vector<std::string> by_text(const std::vector<std::string>& lines) {
  constexpr std::size_t kFew = 8;
  if (lines.size() <= kFew) return lines;
  std::vector<std::pair<std::string, std::vector<std::string>>> groups;
  std::map<std::string, std::size_t> known;
  for (const std::string& line : lines) {
    const auto colon = line.find(": ");
    const std::string text = colon == std::string::npos ? line : line.substr(colon + 2);
    const auto [at, is_new] = known.try_emplace(text, groups.size());
    if (is_new) groups.push_back({text, {}});
    if (colon != std::string::npos) groups[at->second].second.push_back(line.substr(0, colon));
  }
  std::vector<std::string> out;
  for (const auto& [text, subjects] : groups) {
    out.push_back(subjects.empty() ? text : named(subjects, kMostSubjects) + ": " + text);
  }
  return out;
}

// More rules with one reason are counted, not named; of more that passed the first are named.
constexpr std::size_t kMostNamed = 30;
constexpr std::size_t kMostRules = 40;

// One line per reason: which rules, on what.
void write_not_checked(Writer& out, const Report& report) {
  if (report.not_checked.empty()) return;
  // What texts do not show is one thing, however many rules would have liked to see it.
  const auto reason_of = [&](const NotChecked& one) -> std::string {
    const bool is_untold =
        !report.texts.empty() && (one.reason.find("not read") != std::string::npos ||
                                  one.reason.find("unknown kind of NIC") != std::string::npos ||
                                  one.reason.find("no pass on it") != std::string::npos);
    return is_untold ? "the texts do not show what they need (doctor --explain RULE says what)" : one.reason;
  };
  out.line();
  out.heading(fmt::format("NOT CHECKED ({})", report.not_checked.size()), Paint::faint);
  for (const NotCheckedGroup& group : grouped(report.not_checked, reason_of)) {
    const std::string rules =
        group.rules.size() > kMostNamed ? fmt::format("{} rules", group.rules.size()) : named(group.rules);
    out.words(2, fmt::format("{} ({}): {}", rules, named(group.subjects, 12), group.reason));
  }
}

void write_passed(Writer& out, const Report& report, bool list) {
  out.line();
  out.heading(fmt::format("PASSED ({})", report.passed.size()), Paint::good);
  if (list) {
    for (const Passed& one : report.passed) {
      out.line(fmt::format("  {}  {}", one.rule, one.subject));
      out.table(4, one.evidence);
    }
    return;
  }
  // Subjects that passed the same rules are one line.
  std::map<std::string, std::vector<std::string>> rules_of;
  for (const Passed& one : report.passed) rules_of[one.subject].push_back(one.rule);
  std::vector<std::string> lines;
  for (const auto& [subject, rules] : rules_of)
    lines.push_back(fmt::format("{}: {}", subject, named(rules, kMostRules)));
  for (const std::string& line : by_text(lines)) out.words(2, line);
}

bool may_hide_refusals(const Report& report) {
  return std::any_of(report.findings.begin(), report.findings.end(), [](const Finding& finding) {
    return std::any_of(finding.fix.commands.begin(), finding.fix.commands.end(), host::hides_refusal);
  });
}

}  // namespace

std::string to_text(const Report& report, const ReportLook& look) {
  ROCETUNE_ASSERT(look.width >= 40);
  Writer out(look);
  const bool has_host =
      (report.captures.empty() && report.texts.empty()) || !report.host.empty() || !report.classes.empty();
  if (has_host) {
    const bool is_told = !report.texts.empty() && report.host.empty();
    const bool are_several = report.host.empty() && report.classes.size() > 1;
    out.heading(is_told       ? "Hosts, as far as the texts say"
                : are_several ? std::string("Hosts")
                              : fmt::format("Host {}", report.host.empty() ? "(no name)" : report.host),
                Paint::strong);
    for (const std::string& line : by_text(report.classes)) out.words(2, line);
  }
  std::vector<std::string> skipped;
  for (const Skipped& one : report.skipped)
    skipped.push_back(fmt::format("{}: not judged, {}", one.subject, one.reason));
  for (const std::string& line : by_text(skipped)) out.words(2, line);
  if (!report.texts.empty()) out.heading("Texts", Paint::strong);
  for (const std::string& line : report.texts) out.words(2, line);
  if (!report.captures.empty()) out.heading("Captures", Paint::strong);
  for (const std::string& line : report.captures) out.words(2, line);
  for (const Severity severity : {Severity::critical, Severity::warning, Severity::info}) {
    write_findings(out, report, severity);
  }
  if (may_hide_refusals(report)) {
    out.line();
    out.words(0, "Read back after a dcb line (dcb pfc show dev ...): it ends with 0 even if refused.");
  }
  write_not_checked(out, report);
  write_passed(out, report, look.list_passed);
  out.line();
  out.words(0, "First: " + report.first_step());
  return out.take();
}

}  // namespace rocetune::diagnose
