// Planted faults: each is named by its own rule and by nothing else, alone and in pairs.
#include "tests/agent/diagnose/faults.h"

#include <gtest/gtest.h>

#include <set>

namespace rocetune::diagnose {
namespace {

std::string text_of(const Report& report) {
  std::string out;
  for (const Finding& f : report.findings) {
    out += fmt::format("{} {} {}: {}\n", enum_name(f.severity), f.rule, f.subject, f.cause);
  }
  return out;
}

TEST(Faults, AHealthyHostHasNoFindingAtAll) {
  const Report report = healthy().report();
  EXPECT_EQ(text_of(report), "");
  EXPECT_GT(report.passed.size(), 30u);
}

TEST(Faults, EachIsNamedByItsRuleAlone) {
  for (const Fault& fault : all_faults()) {
    Scenario s = healthy();
    fault.plant(s);
    const Report report = s.report();
    EXPECT_EQ(alarms(report), std::vector<std::string>{fault.rule}) << fault.name << "\n" << text_of(report);
  }
}

TEST(Faults, EachIsFoundOnThePortThatHasIt) {
  for (const Fault& fault : all_faults()) {
    Scenario s = healthy();
    fault.plant(s);
    for (const Finding& finding : s.report().findings)
      EXPECT_TRUE(finding.subject.starts_with("eth0")) << fault.name;
  }
}

TEST(Faults, PairsAreBothNamedAndNothingElse) {
  int pairs = 0;
  for (const Fault& first : all_faults()) {
    for (const Fault& second : all_faults()) {
      if (&first >= &second || first.shares_place_with(second)) continue;
      ++pairs;
      Scenario s = healthy();
      first.plant(s);
      second.plant(s);
      const std::set<std::string> expected{first.rule, second.rule};
      const Report report = s.report();
      EXPECT_EQ(alarms(report), std::vector<std::string>(expected.begin(), expected.end()))
          << first.name << " and " << second.name << "\n"
          << text_of(report);
    }
  }
  EXPECT_GT(pairs, 150);
}

TEST(Faults, SettingsAreNamedWithoutCountersToo) {
  for (const Fault& fault : all_faults()) {
    Scenario s = healthy();
    fault.plant(s);
    s.sampled = false;
    const bool is_event = fault.rule == "PFC-5" || fault.rule == "PFC-6" || fault.rule == "ECN-3";
    const std::vector<std::string> expected =
        is_event ? std::vector<std::string>{} : std::vector<std::string>{fault.rule};
    EXPECT_EQ(alarms(s.report()), expected) << fault.name;
  }
}

}  // namespace
}  // namespace rocetune::diagnose
