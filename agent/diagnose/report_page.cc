#include "agent/diagnose/report_page.h"

#include <fmt/core.h>

#include <algorithm>

#include "agent/diagnose/finding_groups.h"
#include "dataplane/html/markup.h"
#include "dataplane/html/page.h"
#include "dataplane/html/table.h"

namespace rocetune::diagnose {
namespace {

using html::escaped;
using html::Table;

// "1 critical finding, 2 warnings"; empty for none.
std::string counted_findings(const Report& report) {
  std::string out;
  const auto add = [&](Severity severity, const char* one, const char* many) {
    const auto count = std::count_if(report.findings.begin(), report.findings.end(),
                                     [&](const Finding& f) { return f.severity == severity; });
    if (count > 0) out += fmt::format("{}{} {}", out.empty() ? "" : ", ", count, count == 1 ? one : many);
  };
  add(Severity::critical, "critical finding", "critical findings");
  add(Severity::warning, "warning", "warnings");
  add(Severity::info, "remark", "remarks");
  return out;
}

std::string verdict_section(const Report& report) {
  const bool is_wrong = report.has_finding_at_least(Severity::warning);
  const html::Verdict verdict = report.has_finding_at_least(Severity::critical) ? html::Verdict::bad
                                : is_wrong || report.passed.empty()             ? html::Verdict::warn
                                                                                : html::Verdict::good;
  const std::string counted = counted_findings(report);
  return html::verdict_line(verdict, "<b>" + escaped(counted.empty() ? "Nothing found" : counted) +
                                         ".</b> First: " + escaped(report.first_step()));
}

std::string_view class_of(Severity severity) {
  return severity == Severity::critical ? "bad" : severity == Severity::warning ? "warn" : "faint";
}

std::string evidence_table(const std::vector<Evidence>& evidence) {
  Table table({{.title = "evidence", .align = Align::left},
               {.title = "value", .align = Align::left},
               {.title = "where it stands", .align = Align::left}});
  for (const Evidence& e : evidence) {
    table.add_row({Table::Cell(e.name).in_class("wrap"),
                   Table::Cell(e.unit.empty() ? e.value : e.value + " " + e.unit).in_class("wrap"),
                   Table::Cell(e.source).in_class("faint")});
  }
  return table.text();
}

std::string fix_text(const Fix& fix) {
  std::string out = "<p><b>Fix:</b> " + escaped(fix.text) + "</p>\n";
  const auto block = [&](const std::string& lines) {
    if (!lines.empty()) out += "<pre>" + lines + "</pre>\n";
  };
  std::string changes, commands;
  for (const Change& change : fix.changes) {
    changes +=
        escaped(fmt::format("{}: {} => {}", to_text(change.knob), host::to_text(change.knob, change.before),
                            host::to_text(change.knob, change.after))) +
        "\n";
  }
  for (const std::string& command : fix.commands) commands += escaped("$ " + command) + "\n";
  block(changes);
  block(commands);
  return out;
}

std::string findings_section(const Report& report) {
  std::string out;
  for (const FindingGroup& group : grouped(report)) {
    const Finding& finding = *group.first;
    out +=
        fmt::format("<h3><span class='badge {1}'>{2}</span> {0}: {3}</h3>\n", escaped(finding.rule),
                    class_of(finding.severity), enum_name(finding.severity), escaped(group.subject_text()));
    out += "<p>" + escaped(finding.cause) +
           fmt::format(" <span class='faint'>(confidence {})</span></p>\n", enum_name(finding.confidence));
    out += evidence_table(finding.evidence) + fix_text(finding.fix);
  }
  return out.empty() ? out : "<h2>Findings</h2>\n" + out;
}

std::string list(const char* title, const std::vector<std::string>& lines) {
  if (lines.empty()) return {};
  std::string out = fmt::format("<h3>{}</h3>\n<ul>\n", title);
  for (const std::string& line : lines) out += "<li>" + escaped(line) + "</li>\n";
  return out + "</ul>\n";
}

std::string inputs_section(const ReportPage& page) {
  Table table({{.title = "file", .align = Align::left},
               {.title = "recognised as", .align = Align::left},
               {.title = "host", .align = Align::left},
               {.title = "when", .align = Align::left},
               {.title = "lines", .align = Align::right}});
  for (const Input& input : page.inputs) {
    table.add_row({input.file.empty() ? "this host" : input.file, input.format, input.host.value_or("–"),
                   input.phase.value_or("–"),
                   input.first_line > 0 ? fmt::format("{}–{}", input.first_line, input.last_line) : "–"});
  }
  std::vector<std::string> skipped;
  for (const Skipped& one : page.report.skipped)
    skipped.push_back(one.subject + ": not judged, " + one.reason);
  return "<h2>What was read</h2>\n" + table.text() + list("Texts", page.report.texts) +
         list("Captures", page.report.captures) + list("RoCE class of each port", page.report.classes) +
         list("Left out", skipped);
}

// Rules by the reason why they were not checked.
std::string not_checked_section(const Report& report) {
  if (report.not_checked.empty()) return {};
  Table table({{.title = "rules", .align = Align::left},
               {.title = "of", .align = Align::left},
               {.title = "why not", .align = Align::left}});
  for (const NotCheckedGroup& group : grouped(report.not_checked, &NotChecked::reason)) {
    table.add_row({Table::Cell(named(group.rules)).in_class("wrap"),
                   Table::Cell(named(group.subjects)).in_class("wrap"),
                   Table::Cell(group.reason).in_class("wrap")});
  }
  return fmt::format("<details><summary>Not checked ({})</summary>\n{}</details>\n",
                     report.not_checked.size(), table.text());
}

std::string passed_section(const Report& report) {
  if (report.passed.empty()) return {};
  std::string out = fmt::format("<details><summary>Passed ({})</summary>\n", report.passed.size());
  for (const Passed& one : report.passed) {
    out += fmt::format("<h3>{}: {}</h3>\n", escaped(one.rule), escaped(one.subject)) +
           evidence_table(one.evidence);
  }
  return out + "</details>\n";
}

std::string facts_section(const FactTable& facts) {
  if (facts.empty()) return {};
  Table table({{.title = "number", .align = Align::left},
               {.title = "of", .align = Align::left},
               {.title = "value", .align = Align::right}});
  for (const auto& [name, value] : facts) {
    const auto at = name.find('@');
    table.add_row(
        {name.substr(0, at), at == std::string::npos ? "" : name.substr(at + 1), fmt::format("{}", value)});
  }
  return fmt::format("<details><summary>Numbers ({})</summary>\n{}</details>\n", facts.size(), table.text());
}

}  // namespace

std::string report_page(const ReportPage& page) {
  const std::string title =
      page.report.host.empty() ? "RoCE diagnosis" : "RoCE diagnosis of " + page.report.host;
  std::string body;
  if (!page.taken.empty())
    body += "<p class='faint'>" + escaped(page.taken) + ", rocetune " ROCETUNE_VERSION "</p>\n";
  body += verdict_section(page.report) + findings_section(page.report) + inputs_section(page) +
          "<h2>What the verdict rests on</h2>\n" + not_checked_section(page.report) +
          passed_section(page.report) + facts_section(page.facts);
  return html::page_text({.title = title, .body = body});
}

}  // namespace rocetune::diagnose
