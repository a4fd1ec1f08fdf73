// Settings of communication libraries follow from the host, and nothing is guessed.
#include "agent/diagnose/derived_environment.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/agent/diagnose/host_builder.h"

namespace rocetune::diagnose {
namespace {

DerivedEnvironment derive(Library library, const std::function<void(Scenario&)>& change = {}) {
  Scenario scenario = healthy();
  if (change) change(scenario);
  return environment_for(library, scenario.host, test_policy()).value();
}
std::string value(const DerivedEnvironment& environment, const std::string& name) {
  for (const EnvironmentLine& line : environment.set) {
    if (line.name == name) return line.value;
  }
  return "";
}
bool left(const DerivedEnvironment& environment, const std::string& name) {
  return std::ranges::any_of(environment.leave_unset,
                             [&](const EnvironmentLine& l) { return l.name == name; });
}
bool unknown(const DerivedEnvironment& environment, const std::string& part) {
  return std::ranges::any_of(environment.not_known,
                             [&](const std::string& text) { return text.find(part) != std::string::npos; });
}

TEST(DerivedEnvironment, EveryLibraryGetsTheByteAndNotTheDscp) {
  EXPECT_EQ(value(derive(Library::nccl), "NCCL_IB_TC"), "106");
  EXPECT_EQ(value(derive(Library::rccl), "NCCL_IB_TC"), "106");
  EXPECT_EQ(value(derive(Library::ucx), "UCX_IB_TRAFFIC_CLASS"), "106");
  EXPECT_EQ(value(derive(Library::uccl), "UCCL_IB_TC"), "106");
  EXPECT_EQ(value(derive(Library::uccl), "UCCL_ROCE_TRAFFIC_CLASS"), "106");
  EXPECT_EQ(value(derive(Library::nvshmem), "NVSHMEM_IB_TRAFFIC_CLASS"), "106");
}

TEST(DerivedEnvironment, EveryLineHasItsReason) {
  for (const auto& [library, name] : EnumNames<Library>::names) {
    const DerivedEnvironment environment = derive(library);
    EXPECT_FALSE(environment.class_map.empty());
    for (const auto* lines : {&environment.set, &environment.leave_unset}) {
      EXPECT_FALSE(lines->empty()) << name;
      for (const EnvironmentLine& line : *lines) EXPECT_FALSE(line.reason.empty()) << line.name;
    }
    const std::string text = environment_text(environment, library, "node1");
    for (const EnvironmentLine& line : environment.set)
      EXPECT_NE(text.find("\nexport " + line.name + "=" + line.value + "\n"), std::string::npos) << line.name;
  }
}

TEST(DerivedEnvironment, NumbersOfGidsAreLeftToTheLibrary) {
  const DerivedEnvironment environment = derive(Library::nccl);
  EXPECT_TRUE(left(environment, "NCCL_IB_GID_INDEX"));
  EXPECT_TRUE(left(environment, "NCCL_IB_SL"));
  EXPECT_EQ(value(environment, "NCCL_IB_ADDR_FAMILY"), "AF_INET");
}

TEST(DerivedEnvironment, AMapThatIsNotInForceGivesNoTrafficClass) {
  for (const auto& change : std::vector<std::function<void(Scenario&)>>{
           [](Scenario& s) { s.set_pfc(PrioritySet()); }, [](Scenario& s) { s.map(26, 1); },
           [](Scenario& s) { s.dcb().pfc = absent("no DCB"); }}) {
    const DerivedEnvironment environment = derive(Library::nccl, change);
    EXPECT_EQ(value(environment, "NCCL_IB_TC"), "");
    EXPECT_EQ(environment.class_map, "");
    EXPECT_FALSE(environment.not_known.empty());
    EXPECT_NE(value(environment, "NCCL_IB_HCA"), "") << "the devices are known all the same";
  }
}

TEST(DerivedEnvironment, PortsThatTrustPcpAreToldByServiceLevel) {
  const auto by_pcp = [](Scenario& s) {
    for (host::Port& port : s.host.ports) port.dcb.trust = host::Trust::pcp;
  };
  const DerivedEnvironment environment = derive(Library::nccl, by_pcp);
  EXPECT_EQ(value(environment, "NCCL_IB_SL"), "3");
  EXPECT_EQ(value(environment, "NCCL_IB_TC"), "");
}

TEST(DerivedEnvironment, DevicesThatCannotBeUsedAreLeftOutAloud) {
  const DerivedEnvironment down = derive(Library::ucx, [](Scenario& s) { s.rdma().state = "DOWN"; });
  EXPECT_TRUE(unknown(down, "is left out: its port is DOWN"));
  EXPECT_EQ(value(down, "UCX_NET_DEVICES").find(','), std::string::npos) << "one of two is left";
  const DerivedEnvironment local = derive(Library::ucx, [](Scenario& s) {
    std::erase_if(s.rdma().gids, [](const host::Gid& gid) { return !gid.is_link_local(); });
  });
  EXPECT_TRUE(unknown(local, "no RoCE v2 GID"));
}

TEST(DerivedEnvironment, WithoutAnyDeviceItIsBadInput) {
  Scenario scenario = healthy();
  for (host::Port& port : scenario.host.ports) port.rdma = absent("none");
  const auto none = environment_for(Library::nccl, scenario.host, test_policy());
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().kind(), ErrorKind::bad_input);
}

TEST(DerivedEnvironment, TheDefaultRouteTellsTheInterfaceOfTheSetUp) {
  EXPECT_TRUE(unknown(derive(Library::nccl), "NCCL_SOCKET_IFNAME"));
  const DerivedEnvironment environment = derive(Library::nccl, [](Scenario& s) {
    host::Port& port = s.host.ports.emplace_back();
    port.name = "eno1";
    host::Attachments attachments;
    attachments.carries_default_route = true;
    port.attachments = attachments;
  });
  EXPECT_EQ(value(environment, "NCCL_SOCKET_IFNAME"), "=eno1");
}

TEST(DerivedEnvironment, ABondNeedsSeveralQueuePairs) {
  EXPECT_EQ(value(derive(Library::nccl), "NCCL_IB_QPS_PER_CONNECTION"), "");
  const DerivedEnvironment environment = derive(Library::nccl, [](Scenario& s) {
    s.host.bonds.push_back(
        {"bond0", "802.3ad", "layer3+4", {"eth0", "eth1"}, {"eth0", "eth1"}, "02:00:00:00:00:01"});
    for (host::Port& port : s.host.ports) port.bond = "bond0";
  });
  EXPECT_EQ(value(environment, "NCCL_IB_QPS_PER_CONNECTION"), "4");
  EXPECT_EQ(value(environment, "NCCL_IB_SPLIT_DATA_ON_QPS"), "1");
}

}  // namespace
}  // namespace rocetune::diagnose
