#include "tests/agent/diagnose/handed_texts.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "agent/evidence/assembly.h"
#include "agent/evidence/catalogue/catalogue.h"
#include "dataplane/base/file.h"
#include "tests/agent/diagnose/host_builder.h"
#include "tests/places.h"

namespace rocetune::diagnose {

Report report_on(const HandedTexts& texts) {
  std::vector<evidence::FileReport> files;
  std::vector<evidence::Document> documents;
  for (const auto& [name, content] : texts) {
    std::string text = content;
    if (content.starts_with('@')) {
      const auto fixture =
          read_file(source_root() + "/tests/fixtures/texts/" + content.substr(1), Bytes(1 << 20));
      EXPECT_TRUE(fixture) << content;
      text = fixture.value_or("");
    }
    evidence::TextReading reading = evidence::read_text(text, name, evidence::all_formats());
    files.push_back(std::move(reading.report));
    std::move(reading.documents.begin(), reading.documents.end(), std::back_inserter(documents));
  }
  const evidence::Dossier dossier(std::move(files), std::move(documents));
  const std::vector<evidence::AssembledHost> assembled = evidence::assemble_hosts(dossier);
  std::vector<JudgedHost> hosts;
  for (const evidence::AssembledHost& host : assembled) hosts.push_back({&host.host});
  return diagnose({.hosts = hosts,
                   .declared = {},
                   .policy = test_policy(),
                   .only_ports = {},
                   .captures = {},
                   .dossier = &dossier});
}

std::optional<Severity> worst_of(const Report& report, std::string_view rule) {
  std::optional<Severity> worst;
  for (const Finding& finding : report.findings) {
    if (finding.rule == rule) worst = std::max(worst.value_or(finding.severity), finding.severity);
  }
  return worst;
}

bool is_not_checked(const Report& report, std::string_view rule) {
  return std::any_of(report.not_checked.begin(), report.not_checked.end(),
                     [&](const NotChecked& n) { return n.rule == rule; });
}

bool has_passed(const Report& report, std::string_view rule) {
  return std::any_of(report.passed.begin(), report.passed.end(),
                     [&](const Passed& p) { return p.rule == rule; });
}

std::string words_of(const Report& report, std::string_view rule) {
  std::string out;
  for (const Finding& finding : report.findings) {
    if (finding.rule != rule) continue;
    out += finding.subject + ": " + finding.cause + "\n";
    for (const Evidence& e : finding.evidence)
      out += "  " + e.name + " = " + e.value + " (" + e.source + ")\n";
  }
  return out;
}

}  // namespace rocetune::diagnose
