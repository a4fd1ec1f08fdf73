#include "agent/tune/twin/host_meaning.h"

#include "agent/virtual_host/fabric_run.h"
#include "tests/agent/tune/twin/hidden_hosts.h"

namespace rocetune::twin {
namespace {

using host::KnobKind;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;

fabric::Scenario star() { return *fabric::scenario_from_toml(Star().text(), "star.toml"); }
const fabric::HostParameters& of(const fabric::Scenario& scenario, fabric::NodeId id) {
  return virtual_host::parameters_of(scenario, id);
}

TEST(HostMeaning, ANetdevMtuIsThePathMtuThatFits) {
  fabric::Scenario scenario = star();
  for (const auto& [netdev, path] : {std::pair{9000, 4096}, {4200, 4096}, {4191, 2048}, {1500, 1024}}) {
    EXPECT_EQ(give(scenario, 2, {"eth7", KnobKind::mtu, ""}, std::int64_t{netdev}), std::nullopt);
    EXPECT_EQ(engine::bytes_of(of(scenario, 2).mtu), static_cast<std::uint32_t>(path)) << netdev;
  }
  EXPECT_EQ(engine::bytes_of(of(scenario, 1).mtu), 1024U) << "others keep theirs";
  EXPECT_THAT(give(scenario, 2, {"eth7", KnobKind::mtu, ""}, std::int64_t{300}).value_or(""),
              HasSubstr("no RDMA packet"));
}

TEST(HostMeaning, ClassesAndParameters) {
  fabric::Scenario scenario = star();
  const fabric::Scenario before = scenario;
  EXPECT_EQ(give(scenario, 0, {"e", KnobKind::pfc, ""}, host::PfcSetting{PrioritySet(), 7}), std::nullopt);
  EXPECT_EQ(give(scenario, 0, {"e", KnobKind::cm_default_tos, ""}, std::int64_t{12}), std::nullopt);
  EXPECT_EQ(give(scenario, 0, {"e", KnobKind::cc_param, "rp_ai_rate"}, std::int64_t{77}), std::nullopt);
  EXPECT_EQ(give(scenario, 0, {"e", KnobKind::app_table, ""},
                 std::vector<host::AppEntry>{{host::AppSelector::dscp, 3, Priority(4)},
                                             {host::AppSelector::ethertype, 0x8906, Priority(3)}}),
            std::nullopt);
  EXPECT_TRUE(of(scenario, 0).receiver.buffer.lossless.is_empty());
  EXPECT_EQ(of(scenario, 0).data_dscp, Dscp(3));
  EXPECT_EQ(of(scenario, 0).priority_of[3], Priority(4));
  EXPECT_THAT(differences(before, scenario, 0),
              ElementsAre("hosts.priority_of_dscp", "hosts.lossless", "hosts.dscp", "hosts.rp_ai_rate"));
  EXPECT_TRUE(differences(before, scenario, 1).empty());
}

TEST(HostMeaning, WhatHasNoCounterpartIsSaid) {
  fabric::Scenario scenario = star();
  EXPECT_THAT(give(scenario, 0, {"e", KnobKind::dcbx_mode, ""}, host::DcbxMode{}).value_or(""),
              HasSubstr("no DCBX"));
  EXPECT_THAT(give(scenario, 0, {"e", KnobKind::cc_param, "np_cnp_prio"}, std::int64_t{6}).value_or(""),
              HasSubstr("map of DSCPs"));
  EXPECT_TRUE(differences(star(), scenario, 0).empty());
}

TEST(HostMeaning, ThePortIsTakenOverAsItIs) {
  fabric::Scenario scenario = star();
  host::Host host = tune::fixture_host("mlx5");
  host::Port* port = nullptr;
  for (host::Port& one : host.ports) {
    if (one.name == "ens1f0np0") port = &one;
  }
  ASSERT_NE(port, nullptr);
  (*port->cc_params)["rp_hai_rate"] = 321;
  port->congestion_control = host::CongestionControl::off;
  const auto notes = give_all(scenario, 3, host, *port);
  EXPECT_EQ(of(scenario, 3).controller.dcqcn.hyper_increase, megabits_per_second(321));
  EXPECT_EQ(of(scenario, 3).controller.kind, ControllerChoice::Kind::off);
  EXPECT_EQ(of(scenario, 3).mtu, engine::PathMtu::b4096);
  EXPECT_THAT(notes, Contains(testing::Field(&Note::what, "buffers")));
}

}  // namespace
}  // namespace rocetune::twin
