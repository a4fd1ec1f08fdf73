#include "dataplane/port/dpdk/host_readiness.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>

namespace rocetune::dpdk {
namespace {
namespace fs = std::filesystem;
using testing::HasSubstr;

constexpr Bytes kTwoMebibytes(2 << 20), kGibibyte(1 << 30);

class HostReadiness : public testing::Test {
 protected:
  HostReadiness() {
    fs::remove_all(root_);
    fs::create_directories(root_);
  }
  ~HostReadiness() override { fs::remove_all(root_); }
  void put(const std::string& path, const std::string& text) const {
    const fs::path file = root_ + path;
    fs::create_directories(file.parent_path());
    std::ofstream(file) << text;
  }
  void put_pool(const std::string& name, int reserved, int free) const {
    put("/sys/kernel/mm/hugepages/" + name + "/nr_hugepages", std::to_string(reserved) + "\n");
    put("/sys/kernel/mm/hugepages/" + name + "/free_hugepages", std::to_string(free) + "\n");
  }
  RootedPath host() const { return RootedPath(root_); }

 private:
  std::string root_ = testing::TempDir() + "host-readiness";
};

TEST_F(HostReadiness, KernelWithoutHugePagesIsAbsentAndUnmet) {
  const auto pools = read_hugepages(host());
  ASSERT_FALSE(pools);
  EXPECT_EQ(pools.error().kind, Unavailable::Kind::absent);
  EXPECT_EQ(hugepage_requirement(pools).state, Requirement::State::unmet);
}

TEST_F(HostReadiness, ReadsPoolsBySizeWithNodesAndMounts) {
  put_pool("hugepages-1048576kB", 4, 1);
  put_pool("hugepages-2048kB", 512, 500);
  put("/sys/devices/system/node/node0/hugepages/hugepages-2048kB/free_hugepages", "200\n");
  put("/sys/devices/system/node/node1/hugepages/hugepages-2048kB/free_hugepages", "300\n");
  put("/proc/meminfo", "MemTotal:  1 kB\nHugepagesize:       2048 kB\n");
  put("/proc/mounts",
      "tmpfs /run tmpfs rw 0 0\nhugetlbfs /dev/hugepages hugetlbfs rw,relatime 0 0\n"
      "none /mnt/huge1g hugetlbfs rw,pagesize=1024M 0 0\n");
  const auto pools = read_hugepages(host());
  ASSERT_TRUE(pools) << pools.error().why;
  ASSERT_EQ(pools->size(), 2U);
  EXPECT_EQ((*pools)[0], (HugepagePool{kTwoMebibytes, 512, 500, {200, 300}, {"/dev/hugepages"}}));
  EXPECT_EQ((*pools)[1], (HugepagePool{kGibibyte, 4, 1, {}, {"/mnt/huge1g"}}));
  EXPECT_EQ(hugepage_requirement(pools).state, Requirement::State::met);
}

TEST_F(HostReadiness, FreePagesThatAreNotMountedDoNotCount) {
  put_pool("hugepages-2048kB", 512, 500);
  const Requirement requirement = hugepage_requirement(read_hugepages(host()));
  EXPECT_EQ(requirement.state, Requirement::State::unmet);
  EXPECT_EQ(requirement.evidence, "500 x 2MiB free of 512, not mounted");
}

TEST_F(HostReadiness, PagesInUseDoNotCount) {
  put_pool("hugepages-2048kB", 512, 0);
  put("/proc/meminfo", "Hugepagesize:       2048 kB\n");
  put("/proc/mounts", "hugetlbfs /dev/hugepages hugetlbfs rw 0 0\n");
  EXPECT_EQ(hugepage_requirement(read_hugepages(host())).state, Requirement::State::unmet);
}

TEST_F(HostReadiness, NumberThatIsNoneIsAFailureNotZero) {
  put("/sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages", "many\n");
  put("/sys/kernel/mm/hugepages/hugepages-2048kB/free_hugepages", "1\n");
  const auto pools = read_hugepages(host());
  ASSERT_FALSE(pools);
  EXPECT_EQ(pools.error().kind, Unavailable::Kind::failed);
  EXPECT_EQ(hugepage_requirement(pools).state, Requirement::State::not_known);
}

TEST_F(HostReadiness, ListsPortDriversOnce) {
  for (const char* name : {"librte_net_mlx5.so", "librte_net_mlx5.so.23", "librte_net_af_packet.so",
                           "librte_crypto_ccp.so", "notes.txt"}) {
    put(std::string("/usr/lib/dpdk/") + name, "");
  }
  const auto drivers = read_drivers(host(), "/usr/lib/dpdk");
  ASSERT_TRUE(drivers);
  EXPECT_EQ(*drivers, (std::vector<Driver>{{"af_packet", "/usr/lib/dpdk/librte_net_af_packet.so"},
                                           {"mlx5", "/usr/lib/dpdk/librte_net_mlx5.so"}}));
}

TEST_F(HostReadiness, NoDriverFolderIsUnmet) {
  const auto drivers = read_drivers(host(), "/usr/lib/dpdk");
  ASSERT_FALSE(drivers);
  EXPECT_EQ(driver_requirement(drivers).state, Requirement::State::unmet);
}

TEST_F(HostReadiness, VfioNeedsDeviceAndIommuGroups) {
  EXPECT_EQ(vfio_requirement(host()).state, Requirement::State::unmet);
  put("/dev/vfio/vfio", "");
  EXPECT_EQ(vfio_requirement(host()).state, Requirement::State::unmet);
  put("/sys/kernel/iommu_groups/0/devices", "");
  EXPECT_EQ(vfio_requirement(host()).state, Requirement::State::met);
}

TEST_F(HostReadiness, MissingRuntimeFolderIsUnmetWithItsReason) {
  const Requirement requirement = runtime_folder_requirement(host());
  EXPECT_EQ(requirement.state, Requirement::State::unmet);
  EXPECT_THAT(requirement.evidence, HasSubstr("No such file"));
}

}  // namespace
}  // namespace rocetune::dpdk
