// Every row over texts passes, finds and abstains on a fixture.
#include <gtest/gtest.h>

#include <fstream>
#include <set>
#include <sstream>

#include "agent/counters/schema.h"
#include "agent/diagnose/engine.h"
#include "agent/evidence/assembly.h"
#include "agent/evidence/catalogue/catalogue.h"
#include "tests/agent/diagnose/text_fixtures.h"
#include "tests/places.h"

namespace rocetune::diagnose {
namespace {

std::vector<TextFixture> all_text_fixtures() {
  std::vector<TextFixture> out;
  for (auto family : {host_tool_text_fixtures, rdma_tool_text_fixtures, log_text_fixtures,
                      benchmark_text_fixtures, switch_text_fixtures}) {
    for (TextFixture& fixture : family()) out.push_back(std::move(fixture));
  }
  return out;
}

const Rule* row_of(const TextFixture& fixture) {
  for (const Rule* rule : all_rules()) {
    if (rule->scope() == Scope::dossier && rule->id == fixture.rule && rule->title == fixture.title)
      return rule;
  }
  return nullptr;
}

Report judged(const std::vector<TextFile>& files, std::span<const Rule* const> rules) {
  std::vector<evidence::FileReport> reports;
  std::vector<evidence::Document> documents;
  for (const TextFile& file : files) {
    evidence::TextReading reading = evidence::read_text(file.content, file.name, evidence::all_formats());
    reports.push_back(std::move(reading.report));
    std::move(reading.documents.begin(), reading.documents.end(), std::back_inserter(documents));
  }
  const evidence::Dossier dossier(std::move(reports), std::move(documents));
  std::vector<evidence::AssembledHost> assembled = evidence::assemble_hosts(dossier);
  std::vector<JudgedHost> hosts;
  static const host::NicTable kNics = host::NicTable::load(ConfigFiles()).value();
  for (evidence::AssembledHost& one : assembled) {
    host::name_nics(one.host, kNics);
    hosts.push_back({&one.host, nullptr, true});
  }
  static const counters::Schema kSchema = counters::Schema::load(ConfigFiles()).value();
  const std::vector<CountedPort> counted = counted_ports(dossier, kSchema);
  return diagnose(
      Facts{.hosts = hosts, .declared = {}, .policy = test_policy(), .dossier = &dossier, .counted = counted},
      rules);
}

std::string said_in(const Report& report) {
  std::string out;
  for (const Finding& finding : report.findings) out += "found: " + finding.cause + "\n";
  for (const NotChecked& one : report.not_checked) out += "not checked: " + one.reason + "\n";
  for (const Passed& one : report.passed) out += "passed on " + one.subject + "\n";
  return out;
}

TEST(TextRules, EveryFixtureHasItsOutcomeAndNoOther) {
  for (const TextFixture& fixture : all_text_fixtures()) {
    const Rule* row = row_of(fixture);
    ASSERT_NE(row, nullptr) << "no row over texts: " << fixture.rule << " \"" << fixture.title << "\"";
    const Report report = report_of(fixture.files, *row);
    const std::string where =
        fmt::format("{} \"{}\": {}\n{}", fixture.rule, fixture.title, fixture.says, said_in(report));
    EXPECT_EQ(!report.findings.empty(), fixture.kind == Kind::found) << where;
    EXPECT_EQ(!report.passed.empty(), fixture.kind == Kind::passed) << where;
    EXPECT_EQ(!report.not_checked.empty(), fixture.kind == Kind::not_checked) << where;
    EXPECT_NE(said_in(report).find(fixture.says), std::string::npos) << where;
    if (fixture.severity && !report.findings.empty()) {
      EXPECT_EQ(report.findings.front().severity, *fixture.severity) << where;
    }
    for (const Finding& finding : report.findings) {
      EXPECT_FALSE(finding.evidence.empty()) << where;
      EXPECT_FALSE(finding.subject.empty()) << where;
    }
  }
}

TEST(TextRules, EveryRowHasAFixtureOfEachKindAndSeveralFindings) {
  const std::vector<TextFixture> fixtures = all_text_fixtures();
  for (const Rule* rule : all_rules()) {
    if (rule->scope() != Scope::dossier) continue;
    std::map<Kind, int> kinds;
    for (const TextFixture& fixture : fixtures) {
      if (row_of(fixture) == rule) ++kinds[fixture.kind];
    }
    const std::string row = fmt::format("{} \"{}\"", rule->id, rule->title);
    EXPECT_GE(kinds[Kind::found], 2) << row << ": findings in two wordings or more";
    EXPECT_GE(kinds[Kind::not_checked], 1) << row;
    EXPECT_GE(kinds[Kind::passed], 1) << row;
  }
}

TEST(TextRules, NoTwoRowsAreTheSame) {
  std::set<std::pair<std::string_view, std::string_view>> seen;
  for (const Rule* rule : all_rules()) {
    if (rule->scope() != Scope::dossier) continue;
    EXPECT_TRUE(seen.insert({rule->id, rule->title}).second)
        << rule->id << " \"" << rule->title << "\" twice";
  }
}

// Texts that have nothing to do with RoCE: no row over texts may say anything good or bad of them.
TEST(TextRules, ForeignTextsAreNoEvidence) {
  const Report report =
      report_of({{"letter.txt", "Dear colleague,\nthe cluster is slow since Monday.\nRegards\n"},
                 {"table.csv", "a,b,c\n1,2,3\n4,5,6\n"},
                 {"empty.txt", ""}});
  EXPECT_TRUE(report.findings.empty()) << said_in(report);
  EXPECT_TRUE(report.passed.empty()) << said_in(report);
}

}  // namespace

TextFile from_texts(const std::string& path, const std::string& name) {
  std::ifstream in(source_root() + "/tests/fixtures/texts/" + path, std::ios::binary);
  EXPECT_TRUE(in) << path;
  std::stringstream text;
  text << in.rdbuf();
  return {name.empty() ? path.substr(path.rfind('/') + 1) : name, text.str()};
}

Report report_of(const std::vector<TextFile>& files) { return judged(files, all_rules()); }

Report report_of(const std::vector<TextFile>& files, const Rule& row) {
  const Rule* const rows[] = {&row};
  return judged(files, rows);
}

}  // namespace rocetune::diagnose
