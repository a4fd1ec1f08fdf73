#include "agent/report/pause_tree.h"

#include <gmock/gmock.h>

#include "tests/dataplane/html/well_formed.h"

namespace rocetune::report {
namespace {

using testing::HasSubstr;
using testing::Not;

std::vector<fabric::PauseCause> chain(std::size_t length) {
  std::vector<fabric::PauseCause> out;
  for (std::size_t i = 0; i < length; ++i) {
    out.push_back({.depth = static_cast<int>(i),
                   .pauser = "switch " + std::to_string(i),
                   .held = "switch " + std::to_string(i + 1) + " port 0",
                   .because = "port 1 to switch " + std::to_string(i) + " is held",
                   .priority = 3,
                   .xoffs = 4021,
                   .held_ratio = 0.5});
  }
  return out;
}

TEST(PauseTree, WhatWasHeldUpIsIndentedBelowItsCause) {
  const std::string section = pause_tree_section(chain(2), 9);
  EXPECT_EQ(html::markup_problem(section), "");
  EXPECT_THAT(
      section,
      HasSubstr("<div class='branch' style='--d:0'><b>switch 0</b> held <b>switch 1 port 0</b> <span "
                "class='badge vermilion'>root cause</span><small>port 1 to switch 0 is held</small>"));
  EXPECT_THAT(
      section,
      HasSubstr("<div class='branch' style='--d:1'><b>switch 1</b> held <b>switch 2 port 0</b><small>"));
  EXPECT_THAT(section,
              HasSubstr("<i style='width:50.0%'></i></span> 50\u00a0%</td><td>4\u202f021</td></tr>"));
}

TEST(PauseTree, PrioritiesAreAColumnOnlyIfTheyDiffer) {
  std::vector<fabric::PauseCause> causes = chain(2);
  EXPECT_THAT(pause_tree_section(causes, 9), HasSubstr("All on priority 3."));
  causes[1].priority = 4;
  const std::string section = pause_tree_section(causes, 9);
  EXPECT_THAT(section, HasSubstr("<th scope='col'>priority</th>"));
  EXPECT_THAT(section, HasSubstr("<td>4\u202f021</td><td>4</td></tr>"));
  EXPECT_THAT(section, Not(HasSubstr("All on")));
}

TEST(PauseTree, IsNotIndentedOffThePage) {
  EXPECT_THAT(pause_tree_section(chain(30), 9), Not(HasSubstr("--d:13")));
}

TEST(PauseTree, ALongOneUnfolds) {
  const std::string section = pause_tree_section(chain(kMostCauses + 2), 9);
  EXPECT_EQ(html::markup_problem(section), "");
  EXPECT_THAT(section, HasSubstr("<details><summary>960 more</summary>"));
  EXPECT_THAT(section, HasSubstr("And 2 more; --json has all."));
  EXPECT_THAT(section, Not(HasSubstr("<b>switch 1000</b>")));
}

TEST(PauseTree, WithoutCausesTellsNoneFromUnknown) {
  EXPECT_THAT(pause_tree_section({}, 0), HasSubstr("no pause frame was sent"));
  EXPECT_THAT(pause_tree_section({}, 1), HasSubstr("does not say by whom"));
}

TEST(PauseTree, InACircleNothingIsTheRoot) {
  const std::vector<fabric::PauseCause> causes{{0, "switch 0", "switch 1 port 2", "it is held", 3, 2, 0.9}};
  EXPECT_THAT(pause_tree_section(causes, 2), HasSubstr("root cause"));
  EXPECT_THAT(pause_tree_section(causes, 2, true), testing::Not(HasSubstr("root cause")));
  EXPECT_THAT(pause_tree_section(causes, 2, true), HasSubstr("In a circle there is no first cause"));
}

}  // namespace
}  // namespace rocetune::report
