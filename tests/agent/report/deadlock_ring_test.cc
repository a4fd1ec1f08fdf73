#include "agent/report/deadlock_ring.h"

#include <gmock/gmock.h>

#include "tests/dataplane/html/well_formed.h"

namespace rocetune::report {
namespace {

using testing::HasSubstr;
using testing::Not;

std::string section_of(std::size_t ports) {
  fabric::Deadlock deadlock{.found_us = 1234.5, .priority = 3};
  for (std::size_t i = 0; i < ports; ++i) deadlock.cycle.push_back("switch " + std::to_string(i) + " port 2");
  return deadlock_section(deadlock);
}

TEST(DeadlockRing, IsACircleOfPorts) {
  const std::string section = section_of(4);
  EXPECT_EQ(html::markup_problem(section), "");
  EXPECT_THAT(section, HasSubstr("Seen at 1.23\u00a0ms on priority 3: 4 ports wait for each other"));
  EXPECT_THAT(section, HasSubstr("<circle class='solid' cx='240.0' cy='50.0' r='12'/>"));
  EXPECT_THAT(section, HasSubstr("text-anchor='start'>switch 1 port 2</text>"));
  EXPECT_THAT(section, HasSubstr("text-anchor='end'>switch 3 port 2</text>"));
}

TEST(DeadlockRing, ALongCircleIsAList) {
  for (const std::size_t ports : {std::size_t{0}, std::size_t{1}, kMostInRing + 1}) {
    const std::string section = section_of(ports);
    EXPECT_EQ(html::markup_problem(section), "");
    EXPECT_THAT(section, Not(HasSubstr("<svg")));
  }
  EXPECT_THAT(section_of(13), HasSubstr("<li>switch 12 port 2</li>\n</ol>"));
}

TEST(DeadlockRing, EverySizeIsWellFormed) {
  for (std::size_t ports = 2; ports <= kMostInRing; ++ports)
    EXPECT_EQ(html::markup_problem(section_of(ports)), "");
}

}  // namespace
}  // namespace rocetune::report
