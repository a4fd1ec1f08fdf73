#include "agent/virtual_host/host_facts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "agent/host/interfaces.h"
#include "agent/host/nic_row.h"
#include "tests/agent/virtual_host/virtual_scenes.h"

namespace rocetune::virtual_host {
namespace {

using ::testing::HasSubstr;

host::Host facts_of(std::string_view text, const std::string& more, fabric::NodeId host) {
  const FabricRun run(scenario_of(text, more));
  return host_facts(run, host);
}
host::Port port_of(const std::string& more = "", fabric::NodeId host = 2) {
  return facts_of(kHealthy, more, host).ports.at(0);
}

TEST(HostFacts, AreThoseOfTheScenario) {
  const host::Host host = facts_of(kHealthy, "", 2);
  EXPECT_EQ(host.name, "h2.healthy");
  ASSERT_EQ(host.ports.size(), 1u);
  const host::Port& port = host.ports[0];
  EXPECT_EQ(port.name, "eth0");
  EXPECT_EQ(port.nic, "fabric");
  EXPECT_EQ(port.mac, "02:00:0a:00:00:02");
  EXPECT_EQ(port.addresses, std::vector<std::string>{"10.0.0.2/8"});
  EXPECT_EQ(port.mtu, Bytes(9000));
  ASSERT_TRUE(port.link);
  EXPECT_TRUE(port.link->carrier);
  EXPECT_EQ(port.link->speed, gigabits_per_second(100));
  EXPECT_EQ(port.link->carrier_changes, 1u);
  ASSERT_TRUE(port.rdma);
  EXPECT_EQ(port.rdma->active_mtu, Bytes(4096));
  EXPECT_EQ(port.rdma->link_layer, host::LinkLayer::ethernet);
  ASSERT_EQ(port.rdma->gids.size(), 1u);
  EXPECT_EQ(port.rdma->gids[0].address, "0000:0000:0000:0000:0000:ffff:0a00:0002");
  EXPECT_TRUE(port.rdma->gids[0].is_ipv4_mapped());
  EXPECT_EQ(port.rdma->cm_default_tos, TosByte(Dscp(26), Ecn::ect0));
  EXPECT_EQ(port.dcb.pfc->enabled, PrioritySet::of(Priority(3)));
  EXPECT_EQ(port.dcb.trust, host::Trust::dscp);
  EXPECT_EQ(host::priority_of_dscp(port.dcb, Dscp(26)), Priority(3));
  EXPECT_EQ(host::priority_of_dscp(port.dcb, Dscp(48)), Priority(6));
  EXPECT_EQ(port.dcb.app->size(), 2u);
  EXPECT_EQ(port.dcb.peer_pfc->enabled, PrioritySet::of(Priority(3)));
  EXPECT_EQ(port.pfc_prevention_ms, 100);
  EXPECT_EQ(port.congestion_control, host::CongestionControl::dcqcn);
  EXPECT_EQ(port.cc_params->at("np_cnp_dscp"), 48);
  EXPECT_EQ(port.cc_params->at("np_cnp_prio_mode"), 1);
  EXPECT_EQ(port.cc_params->at("rp_ai_rate"), 5);
  EXPECT_FALSE(port.cc_params->contains("np_cnp_prio"));
  EXPECT_FALSE(port.cc_params->contains("cp_kmin"));
}

TEST(HostFacts, AreTheHostsOwn) {
  const host::Port port = port_of(own(R"(
mtu = 1024
dscp = 10
lossless = [4]
priority_of_dscp = { 10 = 4, cs1 = 1 }
storm_prevention = "2s"
controller = "swift"
np_cnp_dscp = 26
rp_ai_rate = "7Mbps")"));
  EXPECT_EQ(port.mtu, Bytes(1500));
  EXPECT_EQ(port.rdma->active_mtu, Bytes(1024));
  EXPECT_EQ(port.rdma->cm_default_tos, TosByte(Dscp(10), Ecn::ect0));
  EXPECT_EQ(port.dcb.pfc->enabled, PrioritySet::of(Priority(4)));
  EXPECT_EQ(host::priority_of_dscp(port.dcb, Dscp(10)), Priority(4));
  EXPECT_EQ(host::priority_of_dscp(port.dcb, Dscp(8)), Priority(1));
  EXPECT_EQ(port.pfc_prevention_ms, 2000);
  EXPECT_EQ(port.congestion_control, host::CongestionControl::programmable);
  EXPECT_EQ(port.cc_params->at("np_cnp_dscp"), 26);
  EXPECT_EQ(port.cc_params->at("rp_ai_rate"), 7);
  EXPECT_EQ(port.cc_params->at("rp_hai_rate"), 50);
  EXPECT_EQ(port_of("", 1).rdma->active_mtu, Bytes(4096)) << "the others keep theirs";
}

TEST(HostFacts, HaveTheEtsOfTheScenario) {
  const host::Ets usual = *facts_of(kPaused, "", 2).ports.at(0).dcb.ets;
  EXPECT_EQ(usual.tc_of_priority, a_class_each());
  EXPECT_THAT(usual.tsa, ::testing::Each(host::Tsa::strict));
  const host::Ets shared = *port_of(own("ets = [10, 0, 0, 90, 0, 0, 0, 0]\n"
                                        "traffic_classes = [0, 0, 0, 3, 0, 0, 6, 0]"))
                                .dcb.ets;
  EXPECT_EQ(shared.tc_of_priority[6], TrafficClass(6));
  EXPECT_EQ(shared.tc_of_priority[7], TrafficClass(0));
  EXPECT_EQ(shared.tsa[3], host::Tsa::ets);
  EXPECT_EQ(shared.tsa[6], host::Tsa::strict);
  EXPECT_EQ(shared.tx_share_percent[3], 90);
}

TEST(HostFacts, SayWhyTheFabricDoesNotShowSomething) {
  const host::Host host = facts_of(kHealthy, "", 0);
  EXPECT_THAT(host.hypervisor.error().why, HasSubstr("virtual fabric"));
  EXPECT_THAT(host.ports[0].pcie.error().why, HasSubstr("no PCIe"));
  EXPECT_THAT(host.ports[0].dcb.buffers.error().why, HasSubstr("one pool"));
  for (const host::InterfaceState& state : host::interfaces_of(host)) {
    EXPECT_TRUE(state.state == host::InterfaceState::State::usable ||
                state.state == host::InterfaceState::State::absent)
        << state.name << ": " << state.why;
  }
}

TEST(HostFacts, AWatchdogThatNoMillisecondTellsIsNotShown) {
  EXPECT_THAT(port_of(own("storm_prevention = \"500us\"")).pfc_prevention_ms.error().why, HasSubstr("500us"));
  EXPECT_THAT(port_of(own("storm_prevention = \"70s\"")).pfc_prevention_ms.error().why, HasSubstr("70s"));
}

TEST(HostFacts, TheSwitchsOwnMapIsThePeers) {
  const host::Port port = port_of(R"([[switches.own]]
switches = [0]
ports = [2]
priority_of_dscp = { 26 = 0 }
lossless = []
)");
  EXPECT_TRUE(port.dcb.peer_pfc->enabled.is_empty());
  EXPECT_EQ(port.dcb.peer_app->at(0), (host::AppEntry{host::AppSelector::dscp, 26, Priority(0)}));
  EXPECT_EQ(host::priority_of_dscp(port.dcb, Dscp(26)), Priority(3));
  EXPECT_EQ(port_of(R"([[switches.own]]
switches = [0]
ports = [1]
priority_of_dscp = { 26 = 0 }
)")
                .dcb.peer_app->at(0)
                .priority,
            Priority(3));
}

TEST(HostFacts, OnInfiniBandThereIsNoClassMap) {
  fabric::Scenario scenario =
      fabric::scenario_from_toml(kHealthy, "test.toml", {{"link", "infiniband"}}).value();
  const FabricRun run(std::move(scenario));
  const host::Port port = host_facts(run, 0).ports.at(0);
  EXPECT_EQ(port.rdma->link_layer, host::LinkLayer::infiniband);
  EXPECT_TRUE(port.rdma->gids.empty());
  EXPECT_THAT(port.dcb.pfc.error().why, HasSubstr("InfiniBand"));
  EXPECT_THAT(port.dcb.app.error().why, HasSubstr("InfiniBand"));
}

TEST(HostFacts, PausesStandInPfcAsDcbCountsThem) {
  FabricRun run(scenario_of(kPaused));
  run.finish();
  const host::Pfc pfc = *host_facts(run, 1).ports.at(0).dcb.pfc;
  EXPECT_EQ(pfc.indications[3], run.network().host(1).counters().pauses_received.frames[3]);
  EXPECT_GT(pfc.indications[3], 0u);
  EXPECT_EQ(pfc.requests[3], 0u);
}

TEST(HostFacts, SurviveTheirJsonAndHaveANicRow) {
  const host::Host host = facts_of(kHealthy, "", 2);
  EXPECT_EQ(host::host_from_json(host::to_json_text(host), "host.json"), host);
  const auto nics = host::NicTable::load(ConfigFiles());
  ASSERT_TRUE(nics);
  const host::NicRow* row = nics->find(kNic);
  ASSERT_NE(row, nullptr);
  EXPECT_EQ(row->cc.parameters_of, "mlx5");
  for (const auto& [name, value] : *host.ports[0].cc_params) {
    const host::CcParameter* parameter = row->cc.find(name);
    ASSERT_NE(parameter, nullptr) << name;
    EXPECT_GE(value, parameter->min) << name;
    EXPECT_LE(value, parameter->max) << name;
  }
}

}  // namespace
}  // namespace rocetune::virtual_host
