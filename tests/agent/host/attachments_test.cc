#include "agent/host/attachments.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

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

TEST(RouteTo, ALinkLocalAddressIsOnEveryLink) {
  EXPECT_FALSE(route_to({{"fe80::/64", 2, 256}, {"fe80::/64", 3, 256}}, "fe80::1"));
}

// A root with what read_attachments looks at; every file may be left out.
class HostRoot : public testing::Test {
 protected:
  HostRoot() {
    std::string name = testing::TempDir() + "rocetune-attachments-XXXXXX";
    root_ = ::mkdtemp(name.data());
    put("/proc/mounts", "/dev/sda1 / ext4 rw 0 0\n");
    put("/proc/net/tcp", "  sl  local_address rem_address   st\n");
    kernel_.routes = std::vector<RouteEntry>{{"10.0.0.0/24", 2, 0}, {"10.9.0.0/16", 2, 0, true}};
    kernel_.addresses = std::vector<AddressEntry>{{2, "10.0.0.1/24"}, {3, "192.0.2.1/24"}, {3, "fe80::2/64"}};
  }
  ~HostRoot() override { std::filesystem::remove_all(root_); }
  void put(const std::string& path, const std::string& text) {
    const std::filesystem::path file = root_ + path;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << text;
  }
  void remove(const std::string& path) { std::filesystem::remove_all(root_ + path); }
  AttachmentSurvey read() {
    const auto found = read_attachments(HostFiles(root_), kernel_);
    EXPECT_TRUE(found);
    return found ? *found : AttachmentSurvey{};
  }
  using Names = std::vector<std::string>;

 private:
  std::string root_;
  KernelAnswers kernel_;
};

TEST_F(HostRoot, NothingThereIsNothingUnknown) {
  Attachments routes_only;
  routes_only.gateway_routes = {"10.9.0.0/16"};
  EXPECT_EQ(read().by_link, (std::map<int, Attachments>{{2, routes_only}}));
  EXPECT_EQ(read().anywhere, Attachments{});
}

TEST_F(HostRoot, LustreOverRdmaIsFoundByTheAddressInItsNid) {
  put("/proc/mounts", "10.0.0.1@o2ib:10.0.0.2@o2ib:/fs /scratch lustre rw 0 0\n");
  EXPECT_EQ(read().by_link.at(2).storage_mounts, Names{"/scratch"});
  EXPECT_TRUE(read().anywhere.unknown_storage.empty());
}

TEST_F(HostRoot, AServerThatIsNoAddressMayBeReachedOverEveryPort) {
  put("/proc/mounts", "filer:/vol /data fuse.glusterfs rw 0 0\ngpfs0 /gpfs gpfs rw 0 0\n");
  EXPECT_TRUE(read().by_link.at(2).storage_mounts.empty());
  EXPECT_EQ(read().anywhere.unknown_storage,
            (Names{"/data: where server filer is reached is not known", "/gpfs: its servers are not known"}));
}

TEST_F(HostRoot, AServerWithoutARouteIsNotKnown) {
  put("/proc/mounts", "192.0.2.1:/vol /data nfs rw,addr=192.0.2.1 0 0\n");
  EXPECT_EQ(read().anywhere.unknown_storage, Names{"/data: where server 192.0.2.1 is reached is not known"});
}

TEST_F(HostRoot, NvmeOverFabricsAndIscsiAreStorage) {
  put("/sys/class/nvme/nvme0/transport", "pcie\n");
  put("/sys/class/nvme/nvme0/address", "0000:01:00.0\n");
  put("/sys/class/nvme/nvme1/transport", "rdma\n");
  put("/sys/class/nvme/nvme1/address", "traddr=10.0.0.5,trsvcid=4420,src_addr=10.0.0.1\n");
  put("/sys/class/nvme/nvme2/transport", "tcp\n");
  put("/sys/class/iscsi_connection/connection1:0/address", "10.0.0.6\n");
  EXPECT_EQ(read().by_link.at(2).storage_mounts, (Names{"connection1:0 (iSCSI)", "nvme1 (NVMe over rdma)"}));
  EXPECT_EQ(read().anywhere.unknown_storage, Names{"nvme2 (NVMe over tcp): its servers are not known"});
}

constexpr const char* kNis =
    "nid                      status alive refs peer  rtr   max    tx   min\n"
    "0@lo                         up     0    2    0    0     0     0     0\n"
    "10.0.0.1@o2ib                up    -1    1   32    0   512   512   505\n";

TEST_F(HostRoot, AnObjectServerGuardsThePortsOfItsLnetInterfaces) {
  put("/sys/module/lnet/version", "2.15\n");
  put("/sys/kernel/debug/lnet/nis", kNis);
  put("/proc/mounts", "/dev/mapper/ost0 /mnt/ost0 lustre ro,svname=fs-OST0000 0 0\n");
  EXPECT_EQ(read().by_link.at(2).storage_mounts, Names{"Lustre (10.0.0.1@o2ib)"});
  EXPECT_FALSE(read().by_link.contains(3));
  EXPECT_TRUE(read().anywhere.unknown_storage.empty());
}

// An older Lustre's place.
TEST_F(HostRoot, LnetInProcCountsToo) {
  put("/sys/module/lnet/version", "2.5\n");
  put("/proc/sys/lnet/nis", kNis);
  EXPECT_EQ(read().by_link.at(2).storage_mounts, Names{"Lustre (10.0.0.1@o2ib)"});
}

TEST_F(HostRoot, LnetWhoseInterfacesCannotBeReadMayUseEveryPort) {
  put("/sys/module/lnet/version", "2.15\n");
  put("/proc/mounts", "/dev/mapper/ost0 /mnt/ost0 lustre_tgt ro,svname=fs-OST0000 0 0\n");
  const Names unknown = read().anywhere.unknown_storage;
  ASSERT_EQ(unknown.size(), 2u);
  EXPECT_EQ(unknown[0], "/mnt/ost0: over which ports this Lustre target is served is not known");
  EXPECT_TRUE(unknown[1].starts_with("Lustre's network (LNet) is loaded, over which ports it goes: "))
      << unknown[1];
}

TEST_F(HostRoot, AnLnetInterfaceOfNoPortOfOursMayUseEveryPort) {
  put("/sys/module/lnet/version", "2.15\n");
  put("/sys/kernel/debug/lnet/nis", "10.7.7.7@o2ib up -1 1 32 0 512 512 505\n22@kfi up 0 1 8 0 1 1 1\n");
  EXPECT_EQ(read().anywhere.unknown_storage,
            (Names{"Lustre (10.7.7.7@o2ib): which port it goes over is not known",
                   "Lustre (22@kfi): which port it goes over is not known"}));
}

TEST_F(HostRoot, WithoutTheModuleThereIsNoLnet) {
  put("/sys/module/nvme/version", "1\n");
  put("/sys/kernel/debug/lnet/nis", kNis);
  EXPECT_TRUE(read().by_link.at(2).storage_mounts.empty());
  EXPECT_TRUE(read().anywhere.unknown_storage.empty());
}

TEST_F(HostRoot, StorageThatThisHostServesOverRdma) {
  const std::string port = "/sys/kernel/config/nvmet/ports/";
  put(port + "1/addr_trtype", "rdma\n");
  put(port + "1/addr_traddr", "10.0.0.1\n");
  put(port + "1/subsystems/nqn.test/x", "");
  put(port + "2/addr_trtype", "tcp\n");
  put(port + "2/addr_traddr", "0.0.0.0\n");
  put(port + "2/subsystems/nqn.test/x", "");
  put(port + "3/addr_trtype", "fc\n");
  put(port + "3/subsystems/nqn.test/x", "");
  put("/proc/fs/nfsd/portlist", "rdma 20049\ntcp 2049\n");
  EXPECT_EQ(read().by_link.at(2).storage_mounts, Names{"NVMe target over rdma (10.0.0.1)"});
  EXPECT_EQ(read().anywhere.unknown_storage,
            (Names{"NFS server (rdma 20049): which port it goes over is not known",
                   "NVMe target over tcp (0.0.0.0): which port it goes over is not known"}));
}

TEST_F(HostRoot, WhatCannotBeReadIsNotNone) {
  remove("/proc/mounts");
  remove("/proc/net/tcp");
  const Attachments found = read().anywhere;
  ASSERT_EQ(found.unknown_storage.size(), 1u);
  EXPECT_NE(found.unknown_storage[0].find("/proc/mounts"), std::string::npos) << found.unknown_storage[0];
  ASSERT_EQ(found.unknown_sessions.size(), 1u);
  EXPECT_NE(found.unknown_sessions[0].find("/proc/net/tcp"), std::string::npos) << found.unknown_sessions[0];
}

// Peer 10.0.0.50 is routed over link 2; the session's own address 192.0.2.1 is on link 3.
TEST_F(HostRoot, ASessionHangsOnThePortOfItsOwnAddressToo) {
  put("/proc/net/tcp", "  sl  local_address rem_address   st\n   0: 010200C0:0016 3200000A:D2F0 01 0\n");
  EXPECT_EQ(read().by_link.at(2).ssh_peers, Names{"10.0.0.50"});
  EXPECT_EQ(read().by_link.at(3).ssh_peers, Names{"10.0.0.50"});
}

TEST_F(HostRoot, ASessionWithALinkLocalPeerHangsOnTheLinkOfItsOwnAddress) {
  put("/proc/net/tcp6",
      "  sl  local_address rem_address   st\n"
      "   0: 000080FE000000000000000002000000:0016 000080FE000000000000000001000000:D2F0 01 0\n");
  EXPECT_EQ(read().by_link.at(3).ssh_peers, Names{"fe80::1"});
  EXPECT_TRUE(read().by_link.at(2).ssh_peers.empty());
}

TEST_F(HostRoot, ASessionOfThisHostWithItselfHangsOnNoPort) {
  put("/proc/net/tcp", "  sl  local_address rem_address   st\n   0: 0100007F:0016 0100007F:D2F0 01 0\n");
  EXPECT_TRUE(read().by_link.at(2).ssh_peers.empty());
  EXPECT_TRUE(read().anywhere.unknown_sessions.empty());
}

}  // namespace
}  // namespace rocetune::host
