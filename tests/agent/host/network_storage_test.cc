#include "agent/host/network_storage.h"

#include <gtest/gtest.h>

namespace rocetune::host {
namespace {

using Names = std::vector<std::string>;

Names servers_of(const std::string& line) {
  const auto found = parse_network_mounts(line + "\n");
  return found.size() == 1 ? found[0].servers : Names{"not one mount"};
}

TEST(NetworkMounts, NameTheServerTheyReallyUse) {
  const auto mounts = parse_network_mounts(
      "/dev/sda1 / ext4 rw 0 0\n"
      "filer:/home /home nfs4 rw,vers=4.2,clientaddr=10.0.0.7,addr=10.0.0.2 0 0\n"
      "10.0.0.3,10.0.0.4:/ /ceph ceph rw 0 0\n"
      "//10.0.0.5/share /smb cifs rw,addr=10.0.0.5 0 0\n");
  ASSERT_EQ(mounts.size(), 3u);
  EXPECT_EQ(mounts[0], (NetworkStorage{"/home", "nfs4", {"10.0.0.2"}}));
  EXPECT_EQ(mounts[1].servers, (Names{"10.0.0.3", "10.0.0.4"}));
  EXPECT_EQ(mounts[2].servers, Names{"10.0.0.5"});
}

TEST(NetworkMounts, AnIpv6ServerStandsInBrackets) {
  EXPECT_EQ(servers_of("[fd00::2]:/x /x nfs rw 0 0"), Names{"fd00::2"});
}

TEST(NetworkMounts, PortAndLnetAreNoPartOfTheServer) {
  EXPECT_EQ(servers_of("10.0.0.1:6789,[fd00::1]:6789:/ /c ceph rw 0 0"), (Names{"10.0.0.1", "fd00::1"}));
  EXPECT_EQ(servers_of("u@1.fs=/ /c ceph rw,mon_addr=10.0.0.1:3300/10.0.0.2:3300 0 0"),
            (Names{"10.0.0.1", "10.0.0.2"}));
  EXPECT_EQ(servers_of("10.0.0.1@o2ib,192.0.2.1@tcp:10.0.0.2@o2ib:/fs /l lustre rw 0 0"),
            (Names{"10.0.0.1", "192.0.2.1", "10.0.0.2"}));
  EXPECT_EQ(servers_of("backend0,10.0.0.9:14000/fs01 /w wekafs rw 0 0"), (Names{"backend0", "10.0.0.9"}));
  EXPECT_EQ(servers_of("tcp://10.0.0.3:3334/pvfs /p pvfs2 rw 0 0"), Names{"10.0.0.3"});
}

TEST(NetworkMounts, TypesThatHideTheirServersHaveNone) {
  for (const char* type : {"gpfs", "beegfs", "afs", "fuse.daos"}) {
    EXPECT_EQ(servers_of(std::string("something /x ") + type + " rw 0 0"), Names{}) << type;
  }
}

TEST(NetworkMounts, NineOverVirtioNeedsNoNetwork) {
  EXPECT_TRUE(parse_network_mounts("host / 9p rw,trans=virtio 0 0\n").empty());
  EXPECT_EQ(servers_of("10.0.0.8 /x 9p rw,trans=tcp 0 0"), Names{"10.0.0.8"});
}

TEST(NvmeServer, IsTheTransportAddress) {
  EXPECT_EQ(parse_nvme_server("traddr=10.0.0.5,trsvcid=4420,host_traddr=10.0.0.1"), "10.0.0.5");
  EXPECT_EQ(parse_nvme_server("0000:01:00.0"), "");
}

}  // namespace
}  // namespace rocetune::host
