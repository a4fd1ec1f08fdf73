#include "dataplane/fabric/flow_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rocetune::fabric {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

const std::vector<NodeId> kIslands{0, 0, 0, 3};

FlowFile parsed(std::string_view text) { return parse_flow_file(text, "x.csv", kIslands, milliseconds(1)); }
std::vector<std::string> issues(std::string_view text) {
  std::vector<std::string> out;
  for (const InputIssue& issue : parsed(text).issues) out.push_back(issue.text());
  return out;
}

TEST(FlowFile, ALineIsAFlow) {
  const FlowFile file =
      parsed("start_us,from,to,bytes\n# warm\n\n0,0,1,1000\r\n 12.345678 , 2,\t0 , 4294967295");
  EXPECT_THAT(file.issues, IsEmpty());
  ASSERT_EQ(file.flows.size(), 2u);
  EXPECT_EQ(file.flows[0].from, 0u);
  EXPECT_EQ(file.flows[0].to, 1u);
  EXPECT_EQ(file.flows[0].bytes, 1000u);
  EXPECT_EQ(file.flows[1].start, Instant(picoseconds(12'345'678)));
  EXPECT_EQ(file.flows[1].from, 2u);
  EXPECT_EQ(file.flows[1].bytes, 4294967295u);
}

TEST(FlowFile, EveryBadLineIsToldWithItsPlace) {
  EXPECT_THAT(issues("0,0,1\n"
                     "0,0,1,5,6\n"
                     "x,0,1,5\n"
                     "1000.1,0,1,5\n"
                     "-1,0,1,5\n"
                     "0.0000001,0,1,5\n"
                     "1,4,1,5\n"
                     "1,0,+1,5\n"
                     "1,2,2,5\n"
                     "1,2,3,5\n"
                     "1,0,1,0\n"
                     "1,0,1,4294967296\n"
                     "1,0,1,\n"
                     "1,0,1,1\n"
                     "start_us,from,to,bytes\n"),
              ElementsAre("x.csv:1:1: found \"0,0,1\", allowed: start_us,from,to,bytes",
                          "x.csv:2:1: found \"0,0,1,5,6\", allowed: start_us,from,to,bytes",
                          "x.csv:3:1: start_us: found \"x\", allowed: 0 to 1000 microseconds",
                          "x.csv:4:1: start_us: found \"1000.1\", allowed: 0 to 1000 microseconds",
                          "x.csv:5:1: start_us: found \"-1\", allowed: 0 to 1000 microseconds",
                          "x.csv:6:1: start_us: found \"0.0000001\", allowed: 0 to 1000 microseconds",
                          "x.csv:7:3: from: found \"4\", allowed: a host, 0 to 3",
                          "x.csv:8:5: to: found \"+1\", allowed: a host, 0 to 3",
                          "x.csv:9:5: to: found \"2\", allowed: another host than from",
                          "x.csv:10:5: to: found \"3\", allowed: a host that host 2 has a way to",
                          "x.csv:11:7: bytes: found \"0\", allowed: 1 to 4294967295",
                          "x.csv:12:7: bytes: found \"4294967296\", allowed: 1 to 4294967295",
                          "x.csv:13:7: bytes: found \"\", allowed: 1 to 4294967295",
                          "x.csv:15:1: start_us: found \"start_us\", allowed: 0 to 1000 microseconds"));
}

TEST(FlowFile, ManyBadLinesAreCounted) {
  std::string text;
  for (int i = 0; i < 25; ++i) text += "?\n";
  const auto found = issues(text);
  ASSERT_EQ(found.size(), FlowFile::kMostIssues + 1);
  EXPECT_EQ(found.back(), "x.csv: found 5 more bad lines, allowed: lines as above");
}

}  // namespace
}  // namespace rocetune::fabric
