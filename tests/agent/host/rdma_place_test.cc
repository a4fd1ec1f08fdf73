#include "agent/host/rdma_place.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "agent/host/rdma_carrier.h"

namespace rocetune::host {
namespace {

// Two members of bond0. Each device's first GID names the netdev given for it.
class BondOfTwo : public testing::Test {
 protected:
  BondOfTwo() {
    std::string name = testing::TempDir() + "rocetune-rdma-place-XXXXXX";
    root_ = ::mkdtemp(name.data());
    kernel_.links = std::vector<LinkEntry>{
        {.index = 2, .name = "eth0"}, {.index = 3, .name = "eth1"}, {.index = 4, .name = "bond0"}};
    kernel_.rdma = std::vector<RdmaAnswers>{};
  }
  ~BondOfTwo() override { std::filesystem::remove_all(root_); }
  void add(const std::string& device, const std::string& netdev, const std::string& gid_netdev) {
    const std::filesystem::path port = root_ + "/sys/class/infiniband/" + device + "/ports/1";
    std::filesystem::create_directories(port / "gid_attrs/ndevs");
    std::ofstream(port / "gid_attrs/ndevs/0") << gid_netdev << "\n";
    RdmaAnswers answers;
    answers.links.push_back({.device = device, .port = 1, .netdev = netdev});
    kernel_.rdma->push_back(answers);
  }
  std::vector<std::string> places() {
    const std::vector<Bond> bonds{{.name = "bond0", .mode = "active-backup", .members = {"eth0", "eth1"}}};
    std::vector<std::string> out;
    for (const RdmaPlace& place : find_rdma_places(HostFiles(root_), kernel_, bonds))
      out.push_back(place.device + " on " + place.netdev);
    return out;
  }

 private:
  std::string root_;
  KernelAnswers kernel_;
};

TEST_F(BondOfTwo, TheOnlyDeviceOfABondStandsOnTheBond) {
  add("mlx5_bond_0", "eth1", "bond0");
  EXPECT_EQ(places(), std::vector<std::string>{"mlx5_bond_0 on bond0"});
}

TEST_F(BondOfTwo, ADeviceOfEachMemberStaysWhereItIsWhicheverMemberIsActive) {
  add("mlx5_0", "eth0", "bond0");
  add("mlx5_1", "eth1", "eth1");
  EXPECT_EQ(places(), (std::vector<std::string>{"mlx5_0 on eth0", "mlx5_1 on eth1"}));
}

Port member(const std::string& name, Observed<RdmaPort> rdma) {
  Port port{.name = name};
  port.bond = "bond0";
  port.rdma = std::move(rdma);
  return port;
}

TEST(RdmaCarrier, TheMembersOfABondCarryItsDevice) {
  Host host;
  Port bond{.name = "bond0", .role = PortRole::bond};
  bond.rdma = RdmaPort{.device = "mlx5_bond_0"};
  Port other{.name = "eno1"};
  other.rdma = absent("no RDMA device on this netdev");
  host.ports = {member("eth0", absent("it is on bond0")), member("eth1", absent("it is on bond0")), bond,
                other};
  EXPECT_TRUE(carries_rdma(host, host.ports[0]));
  EXPECT_EQ(rdma_holder(host, host.ports[0]), &host.ports[2]);
  EXPECT_EQ(rdma_siblings(host, host.ports[0]).size(), 3u);
  EXPECT_FALSE(carries_rdma(host, host.ports[3]));
  EXPECT_EQ(rdma_holder(host, host.ports[3]), nullptr);
}

TEST(RdmaCarrier, ADeviceThatCannotBeReadMayBeThere) {
  Host host;
  host.ports = {member("eth0", denied("not root"))};
  EXPECT_TRUE(carries_rdma(host, host.ports[0]));
  EXPECT_EQ(rdma_holder(host, host.ports[0]), nullptr);
}

TEST(RdmaCarrier, ABondOfTheSameNameInAnotherNamespaceIsAnother) {
  Host host;
  Port bond{.name = "bond0", .role = PortRole::bond};
  bond.rdma = RdmaPort{.device = "mlx5_bond_0"};
  bond.network_namespace = "blue";
  host.ports = {member("eth0", absent("none")), bond};
  EXPECT_FALSE(carries_rdma(host, host.ports[0]));
}

}  // namespace
}  // namespace rocetune::host
