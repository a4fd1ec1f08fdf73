#include "agent/diagnose/report_page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rocetune::diagnose {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

Report with_finding() {
  Report report;
  report.host = "node<1>";
  report.findings.push_back({.rule = "MAP-5",
                             .severity = Severity::critical,
                             .subject = "eth0",
                             .evidence = {{"DSCP 26", "<2>", "", "nccl.log:12"}},
                             .cause = "a & b",
                             .fix = {"map it", {}, {"dcb app add dev eth0", "dcb app del dev eth0"}}});
  report.not_checked = {{"MTU-2", "host", "one end only"}, {"GID-2", "host", "one end only"}};
  return report;
}

TEST(ReportPage, SaysFirstWhatToDoAndQuotesItsEvidence) {
  const Report report = with_finding();
  const std::vector<Input> inputs{{"nccl.log", "nccl-log", "node1", "before", 3, 9}};
  const FactTable facts{{"wc.status@nccl.log", 12}};
  const std::string page = report_page({report, inputs, facts, "2026-11-30T10:00:00Z"});
  EXPECT_LT(page.find("First: MAP-5 on eth0: map it"), page.find("nccl.log:12"));
  EXPECT_THAT(page, HasSubstr("1 critical finding"));
  EXPECT_THAT(page, HasSubstr("$ dcb app add dev eth0\n$ dcb app del dev eth0\n"));
  EXPECT_THAT(page, HasSubstr("3–9"));
  EXPECT_THAT(page, HasSubstr("GID-2"));
  EXPECT_THAT(page, HasSubstr("wc.status"));
}

TEST(ReportPage, NothingFromOutsideBecomesMarkup) {
  const std::string page = report_page({with_finding(), {}, {}, ""});
  EXPECT_THAT(page, Not(HasSubstr("node<1>")));
  EXPECT_THAT(page, Not(HasSubstr("<2>")));
  EXPECT_THAT(page, HasSubstr("a &amp; b"));
}

TEST(ReportPage, NothingJudgedIsNoGoodNews) {
  const std::string page = report_page({Report{}, {}, {}, ""});
  EXPECT_THAT(page, HasSubstr("nothing could be judged"));
  EXPECT_THAT(page, HasSubstr("class='verdict warn'"));
}

}  // namespace
}  // namespace rocetune::diagnose
