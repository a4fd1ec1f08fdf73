// What Linux 6.1 really answered, recorded in the VM lab on a test NIC with PFC on 3, DSCP 26 on 3 and 48 on
// 6, the address 192.0.2.7/24 and VLAN 7 "storage" on top. Each file in tests/fixtures/netlink is one message
// without nlmsghdr.
#include <gtest/gtest.h>

#include "agent/host/dcb_netlink.h"
#include "agent/host/devlink_netlink.h"
#include "agent/host/ethtool_netlink.h"
#include "agent/host/rdma_netlink.h"
#include "agent/host/route_netlink.h"
#include "dataplane/base/file.h"
#include "tests/places.h"

namespace rocetune::host {
namespace {

std::string recorded(const std::string& name) {
  return read_file(source_root() + "/tests/fixtures/netlink/" + name).value();
}
ByteSpan bytes(const std::string& text) { return std::as_bytes(std::span(text)); }

TEST(RecordedNetlink, Dcb) {
  const std::string message = recorded("dcb_ieee");
  const auto reply = parse_ieee_reply(bytes(message));
  ASSERT_TRUE(reply) << reply.error().text();
  EXPECT_EQ(reply->port, "eth0");
  EXPECT_EQ(reply->dcb.pfc->enabled, PrioritySet::of(Priority(3)));
  EXPECT_EQ(reply->dcb.pfc->delay, 7);
  const std::vector<AppEntry> app{{AppSelector::dscp, 26, Priority(3)}, {AppSelector::dscp, 48, Priority(6)}};
  EXPECT_EQ(reply->dcb.app, app);
  EXPECT_EQ(reply->dcb.buffers->total, Bytes(262016));
  EXPECT_TRUE(reply->dcb.ets);
  EXPECT_TRUE(reply->dcb.max_rate);
  EXPECT_TRUE(reply->dcb.dcbx->host);
  EXPECT_EQ(reply->dcb.peer_pfc.error().kind, Unavailable::Kind::absent);
}

TEST(RecordedNetlink, Link) {
  const std::string message = recorded("link_eth0");
  const auto link = parse_link(bytes(message));
  ASSERT_TRUE(link) << link.error().text();
  EXPECT_EQ(link->name, "eth0");
  EXPECT_EQ(link->permanent_mac, "b8:ce:f6:00:00:01");
  EXPECT_EQ(link->max_mtu, Bytes(9978));
  EXPECT_EQ(link->parent_bus, "pci");
  EXPECT_EQ(link->parent_device, "0000:01:00.0");
}

TEST(RecordedNetlink, Vlan) {
  const std::string below = recorded("link_eth0"), message = recorded("link_storage");
  const auto link = parse_link(bytes(message));
  ASSERT_TRUE(link) << link.error().text();
  EXPECT_EQ(link->kind, "vlan");
  EXPECT_EQ(link->lower, parse_link(bytes(below))->index);
}

TEST(RecordedNetlink, Address) {
  const std::string message = recorded("address");
  EXPECT_EQ(parse_address(bytes(message))->address, "192.0.2.7/24");
}

TEST(RecordedNetlink, Rdma) {
  const std::string device = recorded("rdma_device"), link = recorded("rdma_link"),
                    system = recorded("rdma_system");
  EXPECT_EQ(parse_rdma_device(bytes(device))->name, "mlx5_0");
  EXPECT_EQ(parse_rdma_device(bytes(device))->firmware, "22.39.1002");
  EXPECT_EQ(parse_rdma_device(bytes(device))->ports, 1u);
  EXPECT_EQ(parse_rdma_link(bytes(link))->device, "mlx5_0");
  EXPECT_EQ(parse_rdma_namespaces_exclusive(bytes(system)), false);
}

TEST(RecordedNetlink, RdmaStatistics) {
  const std::string message = recorded("rdma_statistics");
  const auto counters = parse_rdma_statistics(bytes(message));
  ASSERT_TRUE(counters) << counters.error().text();
  for (const char* const name :
       {"np_cnp_sent", "np_ecn_marked_roce_packets", "rp_cnp_handled", "out_of_sequence"}) {
    EXPECT_TRUE(counters->contains(name)) << name;
  }
}

TEST(RecordedNetlink, Devlink) {
  const std::string info = recorded("devlink_info"), param = recorded("devlink_param_0"),
                    family = recorded("family_devlink");
  EXPECT_EQ(parse_devlink_info(bytes(info))->versions.at("fw.psid"), "MT_0000000359");
  EXPECT_EQ(parse_devlink_info(bytes(info))->driver, "mlx5_core");
  const auto parsed = parse_devlink_param(bytes(param));
  ASSERT_TRUE(parsed) << parsed.error().text();
  EXPECT_EQ(parsed->name, "enable_roce");
  EXPECT_EQ(parsed->value, "true");
  EXPECT_TRUE(parse_family(bytes(family)));
}

TEST(RecordedNetlink, LanesOfALinkThatIsDownAreAbsent) {
  const std::string message = recorded("ethtool_linkmodes");
  EXPECT_EQ(parse_lanes(bytes(message)).error().kind(), ErrorKind::absent);
}

}  // namespace
}  // namespace rocetune::host
