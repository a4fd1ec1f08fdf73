#include "agent/host/bonding.h"

#include <gtest/gtest.h>

#include "tests/places.h"

namespace rocetune::host {
namespace {

TEST(Bonding, OnlyMembersOfTheActiveAggregatorCount) {
  const HostFiles files(source_root() + "/tests/fixtures/hosts/mlx5-bond");
  const auto bonds = read_bonds(files);
  ASSERT_EQ(bonds.size(), 1u);
  EXPECT_EQ(bonds[0].mode, "802.3ad");
  EXPECT_EQ(bonds[0].transmit_hash_policy, "layer3+4");
  EXPECT_EQ(bonds[0].members, (std::vector<std::string>{"ens1f0np0", "ens1f1np1"}));
  EXPECT_EQ(bonds[0].active_members, std::vector<std::string>{"ens1f0np0"});
  EXPECT_EQ(bonds[0].partner_mac, "44:38:39:00:00:0a");
}

TEST(Bonding, ActiveBackupHasOneActiveMember) {
  const auto bond = parse_bond("bond0",
                               "Bonding Mode: fault-tolerance (active-backup)\n"
                               "Currently Active Slave: eth1\n"
                               "MII Status: up\n\n"
                               "Slave Interface: eth0\nMII Status: up\n\n"
                               "Slave Interface: eth1\nMII Status: up\n");
  ASSERT_TRUE(bond);
  EXPECT_EQ(bond->mode, "active-backup");
  EXPECT_EQ(bond->active_members, std::vector<std::string>{"eth1"});
  EXPECT_FALSE(bond->partner_mac);
}

TEST(Bonding, ATextWithoutAModeIsNoBond) { EXPECT_FALSE(parse_bond("bond0", "nothing of the kind\n")); }

}  // namespace
}  // namespace rocetune::host
