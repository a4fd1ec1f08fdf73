#include "agent/host/route_netlink.h"

#include <gtest/gtest.h>
#include <linux/if.h>
#include <linux/if_arp.h>
#include <linux/if_link.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>

#include "tests/agent/host/netlink_payload.h"

namespace rocetune::host {
namespace {

TEST(RouteNetlink, ReadsALink) {
  NetlinkRequest message(RTM_NEWLINK, 0);
  message.header(ifinfomsg{.ifi_family = 0,
                           .__ifi_pad = 0,
                           .ifi_type = ARPHRD_ETHER,
                           .ifi_index = 5,
                           .ifi_flags = IFF_UP,
                           .ifi_change = 0});
  message.put_string(IFLA_IFNAME, "eth0")
      .put(IFLA_MTU, std::uint32_t{9000})
      .put(IFLA_MAX_MTU, std::uint32_t{9978});
  message.put(IFLA_ADDRESS, std::array<std::uint8_t, 6>{8, 0xc0, 0xeb, 1, 2, 3});
  message.put(IFLA_MASTER, std::int32_t{9})
      .put(IFLA_CARRIER, std::uint8_t{1})
      .put_string(IFLA_PHYS_PORT_NAME, "p0");
  message.begin_nest(IFLA_LINKINFO).put_string(IFLA_INFO_SLAVE_KIND, "bond").end_nest();
  const auto link = parse_link(payload_of(message));
  ASSERT_TRUE(link) << link.error().text();
  EXPECT_EQ(link->name, "eth0");
  EXPECT_EQ(link->index, 5);
  EXPECT_TRUE(link->is_ethernet);
  EXPECT_TRUE(link->admin_up);
  EXPECT_EQ(link->carrier, true);
  EXPECT_EQ(link->mtu, Bytes(9000));
  EXPECT_EQ(link->max_mtu, Bytes(9978));
  EXPECT_EQ(link->mac, "08:c0:eb:01:02:03");
  EXPECT_EQ(link->master, 9);
  EXPECT_EQ(link->slave_kind, "bond");
  EXPECT_EQ(link->kind, "");
  EXPECT_EQ(link->phys_port_name, "p0");
  EXPECT_FALSE(link->phys_switch_id);
}

TEST(RouteNetlink, AMaximumMtuOfZeroIsUnknown) {
  NetlinkRequest message(RTM_NEWLINK, 0);
  message.header(ifinfomsg{}).put_string(IFLA_IFNAME, "x").put(IFLA_MAX_MTU, std::uint32_t{0});
  EXPECT_FALSE(parse_link(payload_of(message))->max_mtu);
}

TEST(RouteNetlink, TheLocalAddressWinsOverThePeers) {
  NetlinkRequest message(RTM_NEWADDR, 0);
  message.header(
      ifaddrmsg{.ifa_family = AF_INET, .ifa_prefixlen = 31, .ifa_flags = 0, .ifa_scope = 0, .ifa_index = 3});
  message.put(IFA_ADDRESS, std::array<std::uint8_t, 4>{10, 0, 0, 1})
      .put(IFA_LOCAL, std::array<std::uint8_t, 4>{10, 0, 0, 0});
  EXPECT_EQ(parse_address(payload_of(message)), (AddressEntry{3, "10.0.0.0/31"}));
}

TEST(RouteNetlink, ADefaultRouteHasNoDestinationAttribute) {
  NetlinkRequest message(RTM_NEWROUTE, 0);
  rtmsg head{};
  head.rtm_family = AF_INET6;
  head.rtm_table = RT_TABLE_MAIN;
  head.rtm_type = RTN_UNICAST;
  message.header(head).put(RTA_OIF, std::int32_t{4}).put(RTA_PRIORITY, std::uint32_t{1024});
  const auto routes = parse_route(payload_of(message));
  ASSERT_TRUE(routes);
  EXPECT_EQ(*routes, (std::vector<RouteEntry>{{"::/0", 4, 1024}}));
  message.put(RTA_GATEWAY, std::array<std::uint8_t, 16>{0xfe, 0x80});
  EXPECT_TRUE(parse_route(payload_of(message))->front().has_gateway);
}

TEST(RouteNetlink, AMultipathRouteLeavesByEachOfItsLinks) {
  NetlinkRequest message(RTM_NEWROUTE, 0);
  rtmsg head{};
  head.rtm_family = AF_INET;
  head.rtm_table = RT_TABLE_MAIN;
  head.rtm_type = RTN_UNICAST;
  const auto hop = [](int index) {
    return rtnexthop{.rtnh_len = sizeof(rtnexthop), .rtnh_flags = 0, .rtnh_hops = 0, .rtnh_ifindex = index};
  };
  message.header(head).put(RTA_MULTIPATH, std::array{hop(4), hop(7)});
  const auto routes = parse_route(payload_of(message));
  ASSERT_EQ(routes->size(), 2u);
  EXPECT_EQ((*routes)[1].index, 7);
}

TEST(RouteNetlink, TheRunningKernelListsLoopback) {
  auto socket = RouteSocket::open();
  ASSERT_TRUE(socket) << socket.error().text();
  const auto links = socket->links();
  ASSERT_TRUE(links) << links.error().text();
  const auto loopback =
      std::find_if(links->begin(), links->end(), [](const LinkEntry& l) { return l.name == "lo"; });
  ASSERT_NE(loopback, links->end());
  EXPECT_FALSE(loopback->is_ethernet);
  EXPECT_TRUE(socket->addresses());
  EXPECT_TRUE(socket->routes());
  EXPECT_EQ(socket->set_mtu("no-such-port", Bytes(1500)).error().kind(), ErrorKind::absent);
}

}  // namespace
}  // namespace rocetune::host
