// Every rule of the table passes, finds and abstains on a fixture, and says so in docs/rules.md.
#include <gtest/gtest.h>

#include <fstream>
#include <set>
#include <sstream>

#include "agent/diagnose/rule_text.h"
#include "tests/agent/diagnose/rule_fixtures.h"
#include "tests/places.h"

namespace rocetune::diagnose {
namespace {

std::vector<Fixture> all_fixtures() {
  std::vector<Fixture> out = surrounding_fixtures();
  for (Fixture& fixture : class_fixtures()) out.push_back(std::move(fixture));
  for (Fixture& fixture : captured_fixtures()) out.push_back(std::move(fixture));
  return out;
}

enum class Judged { host, port, capture };
Judged judged_by(const Rule& rule) {
  if (rule.scope() == Scope::host) return Judged::host;
  return rule.scope() == Scope::capture ? Judged::capture : Judged::port;
}
Judged judged_in(const Fixture& fixture) {
  const std::string_view subject = fixture.subject;
  if (subject == "host") return Judged::host;
  return subject.ends_with(".pcap") ? Judged::capture : Judged::port;
}

bool is_about(const std::string& subject, const Fixture& fixture) {
  return subject == fixture.subject || subject.starts_with(std::string(fixture.subject) + " ");
}

struct Seen {
  int found = 0, passed = 0, not_checked = 0;
  std::string text;
};
Seen look_for(const Report& report, const Fixture& fixture) {
  Seen seen;
  for (const Finding& f : report.findings) {
    if (f.rule != fixture.rule || !is_about(f.subject, fixture)) continue;
    ++seen.found;
    seen.text += f.cause + "\n";
  }
  for (const Passed& p : report.passed) seen.passed += p.rule == fixture.rule && is_about(p.subject, fixture);
  for (const NotChecked& n : report.not_checked) {
    if (n.rule != fixture.rule || !is_about(n.subject, fixture)) continue;
    ++seen.not_checked;
    seen.text += n.reason + "\n";
  }
  return seen;
}

TEST(Rules, EveryFixtureHasItsOutcomeAndNoOther) {
  for (const Fixture& fixture : all_fixtures()) {
    Scenario s = healthy();
    fixture.change(s);
    const Seen seen = look_for(s.report(), fixture);
    const std::string where = fmt::format("{} on {}: {}", fixture.rule, fixture.subject, fixture.says);
    EXPECT_EQ(seen.found > 0, fixture.kind == Kind::found) << where << "\n" << seen.text;
    EXPECT_EQ(seen.passed, fixture.kind == Kind::passed ? 1 : 0) << where << "\n" << seen.text;
    EXPECT_EQ(seen.not_checked, fixture.kind == Kind::not_checked ? 1 : 0) << where << "\n" << seen.text;
    EXPECT_NE(seen.text.find(fixture.says), std::string::npos) << where << "\n" << seen.text;
  }
}

TEST(Rules, EveryRowHasAFixtureOfEachKind) {
  // A fact that is always there, and rules that only say whether a verdict is possible.
  const std::set<std::pair<std::string, Kind>> impossible{
      {"HOST-1", Kind::not_checked}, {"OPS-4", Kind::found}, {"OPS-3", Kind::found}};
  for (const Rule* rule : all_rules()) {
    if (rule->scope() == Scope::dossier) continue;  // text_rules_test.cc
    for (const Kind kind : {Kind::found, Kind::passed, Kind::not_checked}) {
      if (impossible.contains({std::string(rule->id), kind})) continue;
      bool has = false;
      for (const Fixture& fixture : all_fixtures()) {
        has |= rule->id == fixture.rule && judged_in(fixture) == judged_by(*rule) && fixture.kind == kind;
      }
      EXPECT_TRUE(has) << rule->id << " kind " << static_cast<int>(kind);
    }
  }
}

TEST(Rules, NoTwoRowsJudgeTheSameSubjectUnderOneId) {
  std::set<std::pair<std::string_view, Judged>> seen;
  for (const Rule* rule : all_rules()) {
    if (rule->scope() == Scope::dossier) continue;  // an id may have several: text_rules_test.cc
    EXPECT_TRUE(seen.insert({rule->id, judged_by(*rule)}).second) << rule->id;
  }
}

TEST(Rules, EveryRowIsDescribed) {
  for (const Rule* rule : all_rules()) {
    for (const std::string_view text :
         {rule->title, rule->condition, rule->why, rule->needs, rule->decided, rule->fix, rule->source}) {
      EXPECT_FALSE(text.empty()) << rule->id;
    }
    EXPECT_TRUE(explain(std::string(rule->id))) << rule->id;
  }
  const auto unknown = explain("PFC-11");
  ASSERT_FALSE(unknown);
  EXPECT_NE(unknown.error().text().find("did you mean PFC-1"), std::string::npos) << unknown.error().text();
}

TEST(Rules, TheDocumentIsInStep) {
  std::ifstream file(source_root() + "/docs/rules.md");
  std::stringstream text;
  text << file.rdbuf();
  EXPECT_EQ(text.str(), rules_markdown()) << "write it anew: rocetune doctor --explain all > docs/rules.md";
}

}  // namespace
}  // namespace rocetune::diagnose
