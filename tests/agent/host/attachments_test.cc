#include "agent/host/attachments.h"

#include <gtest/gtest.h>

namespace rocetune::host {
namespace {

TEST(TcpTable, ReadsEndpointsInHostOrder) {
  const auto table = parse_tcp_table(
      "  sl  local_address rem_address   st\n"
      "   0: 070AA8C0:0016 320AA8C0:D2F0 01 00000000:00000000\n"
      "   1: 00000000:0016 00000000:0000 0A 00000000:00000000\n"
      "   2: garbage line\n");
  ASSERT_EQ(table.size(), 2u);
  EXPECT_EQ(table[0], (TcpConnection{"192.168.10.7", "192.168.10.50", 22, 54000, true, false}));
  EXPECT_TRUE(table[1].is_listening);
}

TEST(TcpTable, AMappedAddressIsAnIpv4Address) {
  const auto table = parse_tcp_table(
      "   0: 0000000000000000FFFF0000070AA8C0:0016 0000000000000000FFFF0000320AA8C0:D2F0 01 0\n"
      "   1: 000080FE00000000FFCEBAFE50341256:0016 000080FE00000000FFCEBAFE51341256:D2F0 01 0\n");
  ASSERT_EQ(table.size(), 2u);
  EXPECT_EQ(table[0].remote_address, "192.168.10.50");
  EXPECT_EQ(table[1].remote_address, "fe80::feba:ceff:5612:3451");
}

TEST(NetworkMounts, NameTheServerTheyReallyUse) {
  const auto mounts = parse_network_mounts(
      "/dev/sda1 / ext4 rw 0 0\n"
      "filer:/home /home nfs4 rw,vers=4.2,clientaddr=10.0.0.7,addr=10.0.0.2 0 0\n"
      "10.0.0.3,10.0.0.4:/ /ceph ceph rw 0 0\n"
      "//10.0.0.5/share /smb cifs rw,addr=10.0.0.5 0 0\n");
  ASSERT_EQ(mounts.size(), 3u);
  EXPECT_EQ(mounts[0], (NetworkMount{"/home", "nfs4", {"10.0.0.2"}}));
  EXPECT_EQ(mounts[1].servers, (std::vector<std::string>{"10.0.0.3", "10.0.0.4"}));
  EXPECT_EQ(mounts[2].servers, std::vector<std::string>{"10.0.0.5"});
}

TEST(NetworkMounts, AnIpv6ServerStandsInBrackets) {
  EXPECT_EQ(parse_network_mounts("[fd00::2]:/x /x nfs rw 0 0\n")[0].servers,
            std::vector<std::string>{"fd00::2"});
}

TEST(RouteTo, LongestPrefixWinsThenMetric) {
  const std::vector<RouteEntry> routes{{"0.0.0.0/0", 1, 100},
                                       {"10.0.0.0/8", 2, 0},
                                       {"10.1.0.0/16", 3, 20},
                                       {"10.1.0.0/16", 4, 10},
                                       {"::/0", 5, 0}};
  EXPECT_EQ(route_to(routes, "10.1.2.3"), 4);
  EXPECT_EQ(route_to(routes, "10.2.2.3"), 2);
  EXPECT_EQ(route_to(routes, "8.8.8.8"), 1);
  EXPECT_EQ(route_to(routes, "fd00::1"), 5);
  EXPECT_FALSE(route_to(routes, "filer"));
}

TEST(RouteTo, NoRouteIsNoLink) { EXPECT_FALSE(route_to({{"10.0.0.0/8", 2, 0}}, "192.0.2.1")); }

}  // namespace
}  // namespace rocetune::host
