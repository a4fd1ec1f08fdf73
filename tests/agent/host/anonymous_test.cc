#include "agent/host/anonymous.h"

#include <gtest/gtest.h>

#include <set>

namespace rocetune::host {
namespace {

TEST(Anonymous, EqualStaysEqualDifferentStaysDifferent) {
  const Anonymizer hide("salt");
  std::set<std::string> seen;
  for (int i = 0; i < 256; ++i) {
    const std::string address = "10.1.2." + std::to_string(i);
    EXPECT_EQ(hide.ipv4(address), hide.ipv4(address));
    seen.insert(hide.ipv4(address));
  }
  EXPECT_EQ(seen.size(), 256u);
  EXPECT_NE(hide.name("node1"), hide.name("node2"));
  EXPECT_NE(hide.ipv4("10.1.2.3"), Anonymizer("other").ipv4("10.1.2.3"));
}

std::string net24(const std::string& address) { return address.substr(0, address.rfind('.')); }

TEST(Anonymous, SubnetsAndKindsOfAddressesStay) {
  const Anonymizer hide("salt");
  EXPECT_EQ(net24(hide.ipv4("10.1.2.3")), net24(hide.ipv4("10.1.2.77")));
  EXPECT_NE(net24(hide.ipv4("10.1.2.3")), net24(hide.ipv4("10.1.3.3")));
  EXPECT_TRUE(hide.ipv4("10.1.2.3/24").starts_with("10."));
  EXPECT_TRUE(hide.ipv4("10.1.2.3/24").ends_with("/24"));
  EXPECT_TRUE(hide.ipv4("192.168.7.1").starts_with("192.168."));
  EXPECT_TRUE(hide.ipv4("172.20.7.1").starts_with("172.20."));
  EXPECT_TRUE(hide.ipv6("fe80::1/64").starts_with("fe80::"));
  EXPECT_EQ(hide.address("not an address"), hide.name("not an address"));
}

TEST(Anonymous, MacsAndWhatIsMadeOfThemStayTogether) {
  const Anonymizer hide("salt");
  const std::string mac = hide.mac("b8:ce:f6:01:02:03");
  EXPECT_TRUE(mac.starts_with("b8:ce:f6:")) << "the vendor is no secret";
  EXPECT_NE(mac, "b8:ce:f6:01:02:03");
  EXPECT_EQ(hide.mac("00:00:00:00:00:00"), "00:00:00:00:00:00") << "no LACP partner stays none";
  // The EUI-64 GID of the hidden MAC is the hidden GID.
  const std::string gid = hide.gid("fe80:0000:0000:0000:bace:f6ff:fe01:0203");
  EXPECT_EQ(gid, "fe80:0000:0000:0000:bace:f6ff:fe" + mac.substr(9, 2) + ":" + mac.substr(12, 2) +
                     mac.substr(15, 2));
}

TEST(Anonymous, IPv4MappedGidsFollowTheirAddress) {
  const Anonymizer hide("salt");
  const std::string gid = hide.gid("0000:0000:0000:0000:0000:ffff:0a01:0203");
  EXPECT_TRUE(gid.starts_with("0000:0000:0000:0000:0000:ffff:0a")) << gid;
  EXPECT_NE(gid, "0000:0000:0000:0000:0000:ffff:0a01:0203");
}

TEST(Anonymous, TheWholeHost) {
  Host host;
  host.name = "secret-host";
  host.boot_id = "secret-boot";
  host.kernel_command_line = "secret=1";
  Port port;
  port.name = "eth0";
  port.mac = "b8:ce:f6:11:22:33";
  port.addresses = {"10.77.88.99/24"};
  port.network_namespace = "secret-pod";
  RdmaPort rdma;
  rdma.device = "mlx5_0";
  rdma.node_guid = "b8ce:f603:0011:2233";
  rdma.gids = {{3, GidType::roce_v2, "0000:0000:0000:0000:0000:ffff:0a4d:5863", "eth0"}};
  port.rdma = rdma;
  Attachments attached;
  attached.ssh_peers = {"10.77.88.1"};
  attached.storage_mounts = {"secret-filer:/home"};
  port.attachments = attached;
  host.ports = {port};
  make_anonymous(host, Anonymizer("salt"));
  const std::string text = to_json_text(host);
  for (const char* secret : {"secret", "10.77", "11:22:33", "0a4d:5863", "0011:2233"}) {
    EXPECT_EQ(text.find(secret), std::string::npos) << secret << " in " << text;
  }
  EXPECT_EQ(host.ports[0].name, "eth0");
  EXPECT_EQ(host.ports[0].rdma->gids[0].index, 3);
  EXPECT_FALSE(host.kernel_command_line.has_value());
}

}  // namespace
}  // namespace rocetune::host
