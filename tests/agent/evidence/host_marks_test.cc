#include "agent/evidence/host_marks.h"

#include <gtest/gtest.h>

#include "agent/evidence/catalogue/catalogue.h"
#include "agent/evidence/dossier.h"

namespace rocetune::evidence {
namespace {

TEST(HostMarks, HeadingsNameHosts) {
  EXPECT_EQ(heading_host("node3 | CHANGED | rc=0 >>"), "node3");
  EXPECT_EQ(heading_host("storage.site | FAILED | rc=2 >>"), "storage.site");
  EXPECT_EQ(heading_host("==> gpu-07 <=="), "gpu-07");
  EXPECT_EQ(heading_host("===== rack2-h100-3 ====="), "rack2-h100-3");
  EXPECT_EQ(heading_host("### node12:"), "node12");
  EXPECT_EQ(heading_host("-- host node4 --"), "node4");
}

TEST(HostMarks, OtherHeadingsDoNot) {
  for (const char* line : {"=== step 2 ===", "### mlx5_0",
                           "== ens3f0 ==", "==> run2 <==", "==> nccl.n1.log <==", "# Rank  0 Pid 7",
                           "--- 10.20.1.6 ping statistics ---", "## Results", "==========", "#wrong",
                           "a | b | c >>", "node1: state", "** 3 errors **"}) {
    EXPECT_EQ(heading_host(line), std::nullopt) << line;
  }
}

TEST(HostMarks, LinesOfPdshAreSortedByHost) {
  const auto hosts = split_by_host("n1: first\nn2: one\n\nn1:   second\r\nn2:\nn1: third\n");
  ASSERT_EQ(hosts.size(), 2U);
  EXPECT_EQ(hosts[0].host, "n1");
  EXPECT_EQ(hosts[0].text, "first\n  second\nthird\n");
  EXPECT_EQ(hosts[0].numbers, (std::vector<int>{1, 4, 6}));
  EXPECT_EQ(hosts[1].text, "one\n\n");
  EXPECT_EQ(hosts[1].numbers, (std::vector<int>{2, 5}));
}

TEST(HostMarks, BothEndsOfATestAreHosts) {
  const auto hosts = split_by_host("server: a\nserver: b\nclient: c\nclient: d\n");
  ASSERT_EQ(hosts.size(), 2U);
  EXPECT_EQ(hosts[1].host, "client");
}

TEST(HostMarks, NamesWithValuesAreNoHosts) {
  EXPECT_TRUE(split_by_host("rnr_retry: 7\ntimeout: 14\nretry_cnt: 7\n").empty());
  EXPECT_TRUE(split_by_host("ACSCtl: SrcValid+\nACSCtl: SrcValid-\nACSCtl: SrcValid+\n").empty());
  EXPECT_TRUE(split_by_host("eth0: flags=1<UP>\neth0: again\neth0: more\n").empty()) << "a device";
  EXPECT_TRUE(split_by_host("node1: text\nwithout\nnode1: text\nnode1: text\n").empty());
  EXPECT_TRUE(split_by_host("a1: 5\nb2: 6\nc3: 7\nd4: 8\n").empty()) << "each once";
  EXPECT_TRUE(split_by_host("").empty());
}

TEST(HostMarks, ATextOfSeveralHostsIsReadHostByHost) {
  const auto reading = read_text(
      "n1: 2: ens1: <BROADCAST,UP,LOWER_UP> mtu 9000 qdisc mq\nn2: 2: ens1: <BROADCAST,UP,LOWER_UP> mtu 1500 "
      "qdisc mq\nn1:     link/ether 02:00:00:00:00:01 brd ff:ff:ff:ff:ff:ff\nn2: nothing known\n",
      "links.txt", all_formats());
  ASSERT_EQ(reading.documents.size(), 2U);
  EXPECT_EQ(reading.documents[0].host, "n1");
  EXPECT_EQ(reading.documents[0].last_line, 3);
  EXPECT_EQ(reading.documents[1].host, "n2");
  EXPECT_EQ(reading.documents[1].first_line, 2);
  EXPECT_EQ(reading.report.lines, 4);
  ASSERT_EQ(reading.report.unread_lines.size(), 1U);
  EXPECT_EQ(reading.report.unread_lines[0].first, 4);
}

TEST(HostMarks, DshbakPutsHostsBetweenRules) {
  const auto reading = read_text(
      "----------------\nn1\n----------------\n2: ens1: <UP> mtu 9000 qdisc mq\n----------------\nn2\n"
      "----------------\n2: ens1: <UP> mtu 1500 qdisc mq\n",
      "links.txt", all_formats());
  ASSERT_EQ(reading.documents.size(), 2U);
  EXPECT_EQ(reading.documents[0].host, "n1");
  EXPECT_EQ(reading.documents[1].host, "n2");
  EXPECT_EQ(reading.report.unread, 0);
}

TEST(HostMarks, AnMtuThatHostsOfOneFileDoNotShareIsNoFact) {
  auto reading =
      read_text("=== n1 ===\n2: ens1: <UP> mtu 9000 qdisc mq\n=== n2 ===\n2: ens1: <UP> mtu 1500 qdisc mq\n",
                "l.txt", all_formats());
  ASSERT_EQ(reading.documents.size(), 2U);
  EXPECT_EQ(reading.documents[1].host, "n2");
  std::vector<FileReport> files;
  files.push_back(std::move(reading.report));
  const Dossier dossier(std::move(files), std::move(reading.documents));
  for (const Fact& fact : dossier.facts()) EXPECT_EQ(fact.name.find("mtu."), std::string::npos) << fact.name;
}

}  // namespace
}  // namespace rocetune::evidence
