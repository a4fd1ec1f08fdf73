#include "agent/host/topology/affinity.h"

#include <gtest/gtest.h>

#include "tests/places.h"

namespace rocetune::host {
namespace {

const std::string kRoot = source_root() + "/tests/fixtures/hosts/mlx5";

TEST(Affinity, NamesWhereANicAndAGpuMeet) {
  const auto affinity = read_affinity(kRoot, {{"ens1f0np0", "0000:3d:00.0"}},
                                      {"0000:3e:00.0", "0000:3f:00.0", "0000:5b:00.0", "0000:bb:00.0"});
  ASSERT_TRUE(affinity) << affinity.error().text();
  const std::vector<Affinity> expected{{"ens1f0np0", "0000:3e:00.0", PciDistance::same_switch},
                                       {"ens1f0np0", "0000:3f:00.0", PciDistance::same_root},
                                       {"ens1f0np0", "0000:5b:00.0", PciDistance::same_numa},
                                       {"ens1f0np0", "0000:bb:00.0", PciDistance::cross_numa}};
  EXPECT_EQ(*affinity, expected);
}

TEST(Affinity, AFunctionTheTopologyDoesNotShowIsLeftOut) {
  const auto affinity = read_affinity(kRoot, {{"gone", "0000:77:00.0"}}, {"0000:3e:00.0"});
  ASSERT_TRUE(affinity);
  EXPECT_TRUE(affinity->empty());
}

}  // namespace
}  // namespace rocetune::host
