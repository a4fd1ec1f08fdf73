#include "agent/host/rdma_files.h"

#include <gtest/gtest.h>

#include "tests/places.h"

namespace rocetune::host {
namespace {

TEST(RoceMtu, LeavesRoomForHeaders) {
  // The kernel's table: 4192, 2144 and 1120 are the first netdev MTUs of 4096, 2048 and 1024.
  for (const auto& [netdev, rdma] : {std::pair{9000, 4096},
                                     {4192, 4096},
                                     {4191, 2048},
                                     {2144, 2048},
                                     {2143, 1024},
                                     {1500, 1024},
                                     {1120, 1024},
                                     {1119, 512},
                                     {352, 256}}) {
    EXPECT_EQ(roce_mtu_for(Bytes(netdev)), Bytes(rdma)) << netdev;
  }
  EXPECT_FALSE(roce_mtu_for(Bytes(351)));
}

TEST(RdmaRate, MayHaveADecimal) {
  EXPECT_EQ(parse_rdma_rate("100 Gb/sec (4X EDR)"), gigabits_per_second(100));
  EXPECT_EQ(parse_rdma_rate("2.5 Gb/sec (1X SDR)"), megabits_per_second(2500));
  EXPECT_FALSE(parse_rdma_rate("fast"));
  EXPECT_FALSE(parse_rdma_rate("nan Gb/sec"));
}

TEST(RdmaFiles, AKernelWithoutRdmaHasNoDevices) {
  const HostFiles files(source_root() + "/tests/fixtures/hosts/plain");
  EXPECT_EQ(rdma_device_names(files), std::vector<std::string>{});
}

TEST(RdmaFiles, EmptyGidSlotsAreLeftOut) {
  const HostFiles files(source_root() + "/tests/fixtures/hosts/mlx5");
  const RdmaPort port = read_rdma_port(files, "mlx5_0", 1);
  const std::vector<Gid> gids = read_gids(files, "mlx5_0", 1, port.link_layer);
  ASSERT_EQ(gids.size(), 4u);
  EXPECT_EQ(gids[3].type, GidType::roce_v2);
  EXPECT_TRUE(gids[3].is_ipv4_mapped());
  EXPECT_EQ(gids[3].netdev, "ens1f0np0");
  EXPECT_EQ(port.state, "ACTIVE");
  EXPECT_EQ(port.counter_lifespan_ms, 10);
}

TEST(RdmaFiles, CmDefaultsAreReadOnlyWhereTheirDirectoryExists) {
  const HostFiles files(source_root() + "/tests/fixtures/hosts/mlx5");
  EXPECT_EQ(read_rdma_port(files, "mlx5_0", 1).cm_default_tos, TosByte::from_wire(106));
  const auto other = read_rdma_port(files, "mlx5_1", 1).cm_default_tos;
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().kind, Unavailable::Kind::absent);
  EXPECT_NE(other.error().why.find("kernel's default"), std::string::npos);
}

}  // namespace
}  // namespace rocetune::host
