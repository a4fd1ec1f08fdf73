#include "agent/host/rdma_netlink.h"

#include <gtest/gtest.h>
#include <linux/netlink.h>
#include <rdma/rdma_netlink.h>

#include "tests/agent/host/netlink_payload.h"

namespace rocetune::host {
namespace {

void put_counter(NetlinkRequest& reply, const char* name, std::uint64_t value) {
  reply.begin_nest(RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY);
  reply.put_string(RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY_NAME, name);
  reply.put(RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY_VALUE, value);
  reply.end_nest();
}

TEST(RdmaNetlink, ReadsHardwareCounters) {
  NetlinkRequest reply(0, 0);
  reply.put(RDMA_NLDEV_ATTR_DEV_INDEX, std::uint32_t{2});
  reply.begin_nest(RDMA_NLDEV_ATTR_STAT_HWCOUNTERS);
  put_counter(reply, "np_cnp_sent", 7);
  put_counter(reply, "rp_cnp_handled", 1ull << 40);
  reply.end_nest();
  const auto counters = parse_rdma_statistics(payload_of(reply));
  ASSERT_TRUE(counters);
  const std::map<std::string, std::uint64_t> expected{{"np_cnp_sent", 7}, {"rp_cnp_handled", 1ull << 40}};
  EXPECT_EQ(*counters, expected);
}

TEST(RdmaNetlink, AReplyWithoutCountersIsAnErrorNotAnEmptySet) {
  NetlinkRequest reply(0, 0);
  reply.put(RDMA_NLDEV_ATTR_DEV_INDEX, std::uint32_t{2});
  EXPECT_FALSE(parse_rdma_statistics(payload_of(reply)));
}

TEST(RdmaNetlink, TellsOptionalCountersApart) {
  NetlinkRequest reply(0, 0);
  reply.begin_nest(RDMA_NLDEV_ATTR_STAT_HWCOUNTERS);
  reply.begin_nest(RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY);
  reply.put_string(RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY_NAME, "cc_rx_ce_pkts");
  reply.put(RDMA_NLDEV_ATTR_STAT_HWCOUNTER_DYNAMIC, std::uint8_t{0});
  reply.end_nest();
  put_counter(reply, "np_cnp_sent", 7);
  reply.end_nest();
  const auto status = parse_rdma_statistics_status(payload_of(reply));
  ASSERT_TRUE(status);
  ASSERT_EQ(status->size(), 2u);
  EXPECT_TRUE((*status)[0].is_optional);
  EXPECT_FALSE((*status)[0].is_on);
  EXPECT_FALSE((*status)[1].is_optional);
}

TEST(RdmaNetlink, ReadsALinkWhoseNetdevIsHidden) {
  NetlinkRequest reply(0, 0);
  reply.put(RDMA_NLDEV_ATTR_DEV_INDEX, std::uint32_t{2}).put_string(RDMA_NLDEV_ATTR_DEV_NAME, "mlx5_0");
  reply.put(RDMA_NLDEV_ATTR_PORT_INDEX, std::uint32_t{1}).put(RDMA_NLDEV_ATTR_PORT_STATE, std::uint8_t{4});
  const auto link = parse_rdma_link(payload_of(reply));
  ASSERT_TRUE(link);
  EXPECT_EQ(link->device, "mlx5_0");
  EXPECT_EQ(rdma_state_text(link->state.value()), "ACTIVE");
  EXPECT_FALSE(link->netdev);
}

TEST(RdmaNetlink, NamespaceModeZeroIsExclusive) {
  NetlinkRequest reply(0, 0);
  EXPECT_EQ(parse_rdma_namespaces_exclusive(payload_of(reply)).error().kind(), ErrorKind::absent);
  reply.put(RDMA_NLDEV_SYS_ATTR_NETNS_MODE, std::uint8_t{0});
  EXPECT_EQ(parse_rdma_namespaces_exclusive(payload_of(reply)), true);
}

}  // namespace
}  // namespace rocetune::host
