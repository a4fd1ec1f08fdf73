#include "agent/evidence/file_name.h"

#include <gtest/gtest.h>

namespace rocetune::evidence {
namespace {

TEST(FileName, PhasesAndWhatTwoOfThemHaveInCommon) {
  const NameParts before = parts_of_name("hw_counters.sender1.before.txt");
  const NameParts after = parts_of_name("hw_counters.sender1.after60s.txt");
  ASSERT_TRUE(before.phase && after.phase);
  EXPECT_EQ(before.series, after.series);
  EXPECT_EQ(before.phase->kind, Phase::Kind::before);
  EXPECT_EQ(after.phase->kind, Phase::Kind::after);
  EXPECT_EQ(after.phase->elapsed, seconds(60));
  EXPECT_EQ(before.host, "sender1");
}

TEST(FileName, RunsMomentsAndNegativeTimes) {
  EXPECT_EQ(parts_of_name("ethtool-S-prio.before-2to1.txt").phase->run, "2to1");
  EXPECT_EQ(parts_of_name("ethtool-S.48-queues.after-1s.txt").phase->elapsed, seconds(-1));
  EXPECT_EQ(parts_of_name("stats.t2.txt").phase->ordinal, 2);
  EXPECT_EQ(parts_of_name("counters-before.txt").series, parts_of_name("counters-after.txt").series);
  EXPECT_EQ(parts_of_name("counters.before").phase->kind, Phase::Kind::before);
  EXPECT_EQ(parts_of_name("ethtool-S-prio.before-fix.txt").phase->run, "fix");
}

TEST(FileName, WordsThatOnlyLookLikePhasesAreNone) {
  for (const char* name :
       {"text.txt", "t.txt", "topo.xml", "nccl.log", "mtu1500.txt", "nccl-tests.all_reduce.16ranks.txt"}) {
    EXPECT_FALSE(parts_of_name(name).phase) << name;
  }
}

TEST(FileName, HostsAreGuessedFromWordsForMachinesOnly) {
  EXPECT_EQ(parts_of_name("devinfo.nodeA.txt").host, "nodeA");
  EXPECT_EQ(parts_of_name("hostA.dcb.after60s.txt").host, "hostA");
  EXPECT_EQ(parts_of_name("rdma-statistic.g1.txt").host, "g1");
  EXPECT_EQ(parts_of_name("ib_write_bw.2to1.sender2.txt").host, "sender2");
  for (const char* name :
       {"log.gid1.txt", "ib_write_bw.1qp.txt", "ib_write_bw.loss0.txt", "nccl.large-transfers.log",
        "nccl-tests.mtu1500.txt", "env.txt", "receiver.pcap", "ibv_devinfo.fragment.txt"}) {
    EXPECT_EQ(parts_of_name(name).host, "") << name;
  }
}

TEST(FileName, FoldersStayInFront) {
  const NameParts parts = parts_of_name("a/node1.x.before.txt");
  EXPECT_EQ(parts.series, "a/node1.x.txt");
}

}  // namespace
}  // namespace rocetune::evidence
