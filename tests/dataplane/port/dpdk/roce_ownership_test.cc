#include "dataplane/port/dpdk/roce_ownership.h"

#include <gtest/gtest.h>

#include <fstream>

#include "tests/dataplane/base/scratch_directory.h"

namespace rocetune::dpdk {
namespace {

class RoceOwnership : public ::testing::Test {
 protected:
  void write(const std::string& path, std::string_view text) {
    const std::filesystem::path file = root_ / path;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << text;
  }
  ScratchDirectory root_;
  RootedPath host_{root_.path()};
};

TEST_F(RoceOwnership, AGidTableMeansThatRoceOwnsThePort) {
  write("sys/bus/pci/devices/0000:03:00.0/infiniband/mlx5_0/ports/1/gids/0", "fe80::\n");
  EXPECT_EQ(roce_device_of(host_, "0000:03:00.0"), "mlx5_0");
  EXPECT_EQ(roce_device_of(host_, "0000:03:00.1"), std::nullopt);
}

TEST_F(RoceOwnership, WithoutGidsThePortIsFree) {
  write("sys/bus/pci/devices/0000:03:00.0/infiniband/mlx5_0/ports/1/state", "4: ACTIVE\n");
  EXPECT_EQ(roce_device_of(host_, "0000:03:00.0"), std::nullopt);
}

TEST_F(RoceOwnership, OnlyConnectXHasATransportOfItsOwn) {
  EXPECT_TRUE(has_own_roce_transport("mlx5_pci"));
  EXPECT_FALSE(has_own_roce_transport("net_memif"));
  EXPECT_FALSE(has_own_roce_transport("net_ice"));
}

TEST_F(RoceOwnership, TheRefusalSaysWhatToDo) {
  EXPECT_EQ(
      roce_owns_port_text("0000:03:00.0", "mlx5_0"),
      "RoCE is enabled on 0000:03:00.0 (mlx5_0 has GIDs): its own transport takes UDP port 4791, and no "
      "frame of RoCE reaches DPDK. To give the port to DPDK (ends every RDMA connection of mlx5_0):\n"
      "  devlink dev param set pci/0000:03:00.0 name enable_roce value false cmode driverinit\n"
      "  devlink dev reload pci/0000:03:00.0");
}

}  // namespace
}  // namespace rocetune::dpdk
