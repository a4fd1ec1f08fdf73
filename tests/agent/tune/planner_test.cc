#include "agent/tune/planner.h"

#include "congestion/headroom.h"
#include "tests/agent/tune/bench.h"

namespace rocetune::tune {
namespace {

using host::KnobKind;

class Planner : public testing::Test {
 protected:
  host::Host host() {
    Reaper nobody;
    return *FakeHost(kernel, nobody).observe();
  }
  Plan make(const Profile& wanted, const std::vector<std::string>& ports = {}) {
    auto plan = make_plan(host(), wanted, nics(), ports, 0);
    EXPECT_TRUE(plan) << (plan ? "" : plan.error().text());
    return plan ? *plan : Plan{};
  }
  const Change* find(const Plan& plan, const std::string& port, KnobKind kind,
                     const std::string& parameter = "") {
    for (const Step& step : plan.steps) {
      for (const Change& change : step.changes) {
        if (change.knob == host::Knob{port, kind, parameter}) return &change;
      }
    }
    return nullptr;
  }
  FakeKernel kernel{2};
};

TEST_F(Planner, TheOrderInsideAPort) {
  Profile wanted = profile();
  wanted.buffers = BufferPolicy::by_size;
  const Plan plan = make(wanted, {"eth0"});
  std::vector<std::string> order;
  for (const Step& step : plan.steps) {
    std::string kinds;
    for (const Change& change : step.changes) kinds += std::string(enum_name(change.knob.kind)) + " ";
    order.push_back(kinds + (step.interrupts_link ? "!" : ""));
  }
  EXPECT_EQ(order, (std::vector<std::string>{"dcbx_mode ", "global_pause ", "buffers ", "pfc ets app_table !",
                                             "mtu !", "pfc_prevention ",
                                             "cc_param cc_param cc_param cc_param ", "cm_default_tos "}));
}

TEST_F(Planner, TheSameHostGivesTheSamePlan) {
  EXPECT_EQ(to_json_text(make(profile())), to_json_text(make(profile())));
}

TEST_F(Planner, APlanReadsBackFromItsJson) {
  const Plan plan = make(profile());
  const auto read = plan_from_json(to_json_text(plan), "plan.json");
  ASSERT_TRUE(read) << read.error().text();
  EXPECT_EQ(*read, plan);
}

TEST_F(Planner, ADamagedPlanIsRefusedWithItsPlace) {
  const std::string text = to_json_text(make(profile()));
  const auto with = [&](std::string_view from, std::string_view to) {
    std::string damaged = text;
    damaged.replace(damaged.find(from), from.size(), to);
    const auto read = plan_from_json(damaged, "plan.json");
    return read ? std::string() : read.error().text();
  };
  EXPECT_NE(with("\"schema_version\": 1", "\"schema_version\": 2").find("schema_version"), std::string::npos);
  EXPECT_NE(with("\"kind\": \"pfc\"", "\"kind\": \"pcf\"").find("plan.json.steps[2]"), std::string::npos)
      << with("\"kind\": \"pfc\"", "\"kind\": \"pcf\"");
  EXPECT_NE(with("\"steps\": [", "\"steps\": [ {\"port\": \"eth0\"},").find("has no changes"),
            std::string::npos);
}

TEST_F(Planner, JsonThatIsNoPlanIsRefusedNotTakenForOneThatChangesNothing) {
  const auto refusal = [](const std::string& text) {
    const auto read = plan_from_json(text, "plan.json");
    return read ? std::string() : read.error().text();
  };
  EXPECT_EQ(refusal("{}"),
            "plan.json: found JSON without schema_version, host, facts_sha256, facts, steps, allowed: what "
            "rocetune plan -o writes");
  EXPECT_NE(refusal(host::to_json_text(kernel.host)).find("without host, facts_sha256"), std::string::npos);
  EXPECT_NE(refusal("[]"), "");
  EXPECT_NE(refusal("7"), "");
  const std::string plan = to_json_text(make(profile()));
  for (const char* name : {"schema_version", "host", "facts_sha256", "facts", "steps"}) {
    std::string damaged = plan;
    damaged.insert(damaged.find(fmt::format("\"{}\":", name)) + 1, "x");
    EXPECT_NE(refusal(damaged).find(fmt::format("without {},", name)), std::string::npos) << name;
  }
}

TEST_F(Planner, AHostAsWantedNeedsNothing) {
  FakeDisk disk;
  Process process(kernel, disk);
  ASSERT_EQ(process.apply(make(profile()), request())->verdict, Verdict::committed);
  EXPECT_TRUE(make(profile()).is_empty());
}

TEST_F(Planner, OnlyTheClassesOwnDscpLeadsToItsPriority) {
  kernel.host.ports[0].dcb.app =
      std::vector<host::AppEntry>{{host::AppSelector::ethertype, 0x8915, Priority(3)},
                                  {host::AppSelector::dscp, 0, Priority(0)},
                                  {host::AppSelector::dscp, 10, Priority(3)},
                                  {host::AppSelector::dscp, 46, Priority(5)}};
  const Plan plan = make(profile(), {"eth0"});
  EXPECT_EQ(host::to_text(find(plan, "eth0", KnobKind::app_table)->after),
            "ethertype 0x8915->3; dscp 0->0 26->3 46->5 48->6");
}

TEST_F(Planner, PcpProfileRemovesDscpEntries) {
  const Plan plan = make(profile("pcp-tagged-l2"), {"eth0"});
  EXPECT_EQ(host::to_text(find(plan, "eth0", KnobKind::app_table)->after), "no entries");
}

TEST_F(Planner, LossyProfileTurnsPfcOff) {
  kernel.host.ports[0].dcb.pfc->enabled = PrioritySet::of(Priority(3));
  const Plan plan = make(profile("lossy"), {"eth0"});
  EXPECT_EQ(host::to_text(find(plan, "eth0", KnobKind::pfc)->after), "priorities {}, delay 7");
  EXPECT_EQ(find(plan, "eth0", KnobKind::buffers), nullptr);
  EXPECT_EQ(find(plan, "eth0", KnobKind::pfc_prevention), nullptr);
}

TEST_F(Planner, TheCableSetsTheDelayInMetresAndTheHeadroom) {
  Profile wanted = profile();
  wanted.cable = Metres(100);
  wanted.buffers = BufferPolicy::by_size;
  const Plan plan = make(wanted, {"eth0"});
  EXPECT_EQ(std::get<host::PfcSetting>(find(plan, "eth0", KnobKind::pfc)->after).delay, 100);
  const Mlx5Headroom headroom{gigabits_per_second(100), Bytes(9000), Metres(100), Bytes(9978)};
  EXPECT_EQ(plan.expectations.front().minimum_buffer, headroom.minimum_lossless_buffer());
  const auto& buffers = std::get<host::BufferSetting>(find(plan, "eth0", KnobKind::buffers)->after);
  EXPECT_GE(buffers.size[1], headroom.minimum_lossless_buffer());
  EXPECT_EQ(buffers.size[1] % Bytes(128), Bytes());
  EXPECT_LE(buffers.size[0] + buffers.size[1], Bytes(262016));
}

TEST_F(Planner, BuffersAreLeftToTheDriverUnlessArrangedTooSmall) {
  EXPECT_EQ(find(make(profile()), "eth0", KnobKind::buffers), nullptr);
  host::PortBuffers& buffers = *kernel.host.ports[0].dcb.buffers;
  buffers.buffer_of_priority[3] = 1;
  buffers.size[0] = Bytes(200'000);
  buffers.size[1] = Bytes(20'000);
  const Plan plan = make(profile());
  const Change* change = find(plan, "eth0", KnobKind::buffers);
  ASSERT_NE(change, nullptr);
  EXPECT_EQ(change->revert, Revert::needs_driver_reload);
  EXPECT_EQ(change->rule, "PFC-3");
  EXPECT_EQ(find(plan, "eth1", KnobKind::buffers), nullptr);
}

TEST_F(Planner, CcParametersOutOfRangeReturnToTheirDefault) {
  const Plan plan = make(profile());
  const Change* change = find(plan, "eth0", KnobKind::cc_param, "rp_dce_tcp_g");
  ASSERT_NE(change, nullptr);
  EXPECT_EQ(change->after, host::KnobValue(std::int64_t{1019}));
  EXPECT_EQ(find(plan, "eth0", KnobKind::cc_param, "rp_gd"), nullptr);
}

TEST_F(Planner, WritingTheCnpPriorityPlansTheModeThatItClears) {
  const Plan plan = make(profile());
  const Change* change = find(plan, "eth0", KnobKind::cc_param, "np_cnp_prio_mode");
  ASSERT_NE(change, nullptr);
  EXPECT_EQ(change->after, host::KnobValue(std::int64_t{0}));
}

TEST_F(Planner, AProgrammableAlgorithmIsNotTuned) {
  kernel.host.ports[0].congestion_control = host::CongestionControl::programmable;
  const Plan plan = make(profile());
  EXPECT_EQ(find(plan, "eth0", KnobKind::cc_param, "np_cnp_dscp"), nullptr);
  EXPECT_NE(find(plan, "eth1", KnobKind::cc_param, "np_cnp_dscp"), nullptr);
}

TEST_F(Planner, WhatIsDeniedIsARemark) {
  kernel.host.ports[0].cc_params = denied("kernel lockdown (integrity)");
  const Plan plan = make(profile());
  EXPECT_EQ(find(plan, "eth0", KnobKind::cc_param, "np_cnp_dscp"), nullptr);
  EXPECT_NE(std::find(plan.remarks.begin(), plan.remarks.end(),
                      "eth0 cc_params are left alone: kernel lockdown (integrity)"),
            plan.remarks.end());
}

TEST_F(Planner, TheMtuOfABondMemberIsTheBonds) {
  kernel = FakeKernel(2, "802.3ad");
  const Plan plan = make(profile());
  EXPECT_EQ(find(plan, "eth0", KnobKind::mtu), nullptr);
  ASSERT_NE(find(plan, "bond0", KnobKind::mtu), nullptr);
  EXPECT_EQ(plan.steps.back().port, "bond0");
  EXPECT_EQ(plan.touched_ports(host()), (std::vector<std::string>{"eth0", "eth1", "bond0"}));
}

TEST_F(Planner, ALargerMtuIsKept) {
  kernel.host.ports[0].mtu = Bytes(9216);
  EXPECT_EQ(find(make(profile()), "eth0", KnobKind::mtu), nullptr);
}

TEST_F(Planner, PortsThatAreNotTheHostsOwnAreLeftOutAndSaid) {
  kernel.host.ports[1].role = host::PortRole::virtual_function;
  const Plan plan = make(profile());
  EXPECT_EQ(plan.touched_ports(host()), std::vector<std::string>{"eth0"});
  EXPECT_EQ(plan.remarks.front(),
            "eth1 is left out: virtual function: QoS is set on its physical function (HOST-1)");
}

TEST_F(Planner, APortWithoutRdmaIsLeftOutAndSaid) {
  kernel.host.ports[1].rdma = absent("no RDMA device on this netdev");
  EXPECT_EQ(make(profile()).remarks.front(), "eth1 is left out: no RDMA device on this netdev");
}

TEST_F(Planner, APortWhoseRdmaDeviceCannotBeReadIsLeftOutAndSaid) {
  kernel.host.ports[1].rdma = denied("not root");
  EXPECT_EQ(make(profile()).remarks.front(),
            "eth1 is left out: whether it has an RDMA device is not known: not root");
}

TEST_F(Planner, MembersOfABondAreInTheDefaultPlanBesideOtherPorts) {
  kernel = FakeKernel(2, "802.3ad");
  const FakeKernel other(3);
  kernel.host.ports.push_back(other.host.ports[2]);
  kernel.tos["eth2"] = 0;
  const Plan plan = make(profile());
  for (const char* port : {"eth0", "eth1", "eth2"})
    EXPECT_NE(find(plan, port, KnobKind::pfc), nullptr) << port;
}

TEST_F(Planner, TheDefaultTosOfABondsDeviceIsPlannedOnTheBondOnce) {
  kernel = FakeKernel(2, "802.3ad");
  const Plan plan = make(profile());
  ASSERT_NE(find(plan, "bond0", KnobKind::cm_default_tos), nullptr);
  EXPECT_EQ(find(plan, "eth0", KnobKind::cm_default_tos), nullptr);
  EXPECT_EQ(find(make(profile(), {"eth1"}), "bond0", KnobKind::cm_default_tos)->after,
            host::KnobValue(std::int64_t{106}));
}

TEST_F(Planner, TheActiveMemberOfAnActiveBackupBondComesLast) {
  kernel = FakeKernel(3, "active-backup");
  EXPECT_EQ(make(profile()).touched_ports(host()),
            (std::vector<std::string>{"eth1", "eth2", "eth0", "bond0"}));
}

TEST_F(Planner, AnAlgorithmThatCannotBeSeenIsARemark) {
  kernel.host.ports[0].pci_id = "15b3:1021";
  kernel.host.ports[0].congestion_control = absent("the kernel does not show which");
  const Plan plan = make(profile());
  EXPECT_NE(find(plan, "eth0", KnobKind::cc_param, "np_cnp_dscp"), nullptr);
  EXPECT_EQ(std::count(plan.remarks.begin(), plan.remarks.end(),
                       "eth0 cc_params may steer nothing (ECN-5): the kernel does not show which"),
            1);
}

// ice: nothing takes DCBX from its firmware's agent but a step by hand; every table write stops traffic.
TEST_F(Planner, AFirmwareAgentThatMakesTheDriverRefuseIsNamedWithItsCommand) {
  kernel = FakeKernel(1);
  host::Port& port = kernel.host.ports[0];
  port.nic = "irdma";
  port.dcb.dcbx = host::DcbxMode{.host = false, .lld_managed = true, .ieee = true};
  const Plan plan = make(profile());
  EXPECT_EQ(find(plan, "eth0", KnobKind::dcbx_mode), nullptr);
  EXPECT_NE(
      plan.remarks.front().find("first ethtool --set-priv-flags eth0 fw-lldp-agent off, then plan again"),
      std::string::npos)
      << plan.remarks.front();
}

TEST_F(Planner, ATableWriteThatStopsTrafficInterrupts) {
  kernel = FakeKernel(1);
  kernel.host.ports[0].nic = "irdma";
  const Plan plan = make(profile());
  const Change* app = find(plan, "eth0", KnobKind::app_table);
  ASSERT_NE(app, nullptr);
  EXPECT_TRUE(app->risk.starts_with("the driver takes the interface down and up, the link stays up"))
      << app->risk;
  for (const Step& step : plan.steps) {
    if (step.changes.front().knob.kind == KnobKind::pfc) {
      EXPECT_TRUE(step.interrupts_link);
      EXPECT_EQ(step.effect, host::WriteEffect::closes_interface);
    }
    if (step.changes.front().knob.kind == KnobKind::mtu) {
      EXPECT_EQ(step.effect, host::WriteEffect::stops_traffic);
    }
  }
}

// ice_dcbnl_setapp: ETS is overwritten by the first DSCP entry, and its map is fixed from then on; with the
// last entry deleted PFC is overwritten too. So both come behind the app table.
TEST_F(Planner, TablesThatAChangeOfTrustResetsComeBehindIt) {
  kernel = FakeKernel(1);
  host::Port& port = kernel.host.ports[0];
  port.nic = "irdma";
  port.dcb.app = std::vector<host::AppEntry>{};
  const auto order = [](const Plan& plan) {
    std::string out;
    for (const Step& step : plan.steps) {
      for (const Change& change : step.changes) out += std::string(enum_name(change.knob.kind)) + " ";
      out += "/ ";
    }
    return out;
  };
  const Plan plan = make(profile());
  EXPECT_NE(order(plan).find("app_table / pfc ets / "), std::string::npos) << order(plan);
  const auto& after = std::get<host::EtsSetting>(find(plan, "eth0", KnobKind::ets)->after);
  for (int p = 0; p < 8; ++p) EXPECT_EQ(after.tc_of_priority[static_cast<std::size_t>(p)], TrafficClass(p));
  EXPECT_EQ(after.tsa[3], host::Tsa::ets);
  EXPECT_EQ(after.tx_share_percent[0] + after.tx_share_percent[3], 100);
  EXPECT_EQ(after.tsa[6], host::Tsa::strict);
  FakeDisk disk;
  Process process(kernel, disk);
  ASSERT_EQ(process.apply(plan, request())->verdict, Verdict::committed);
  kernel.host.ports[0].dcb.app->clear();  // ETS and PFC are as wanted and would be reset
  EXPECT_NE(order(make(profile())).find("app_table / pfc ets / "), std::string::npos);
  kernel.host.ports[0].dcb.app =
      std::get<std::vector<host::AppEntry>>(find(plan, "eth0", KnobKind::app_table)->after);
  const Plan undo = *undo_plan(host(), process.ledger().entries().back(), nics(), false, 0);
  EXPECT_NE(order(undo).find("app_table / pfc ets / "), std::string::npos) << order(undo);
}

TEST_F(Planner, AHostFileWithANicThatThisVersionDoesNotKnowIsBadInput) {
  kernel.host.ports[1].nic = "mlx6";
  const auto plan = make_plan(host(), profile(), nics(), {"eth1"}, 0);
  ASSERT_FALSE(plan);
  EXPECT_EQ(plan.error().kind(), ErrorKind::bad_input);
  EXPECT_EQ(plan.error().text(),
            "eth1.nic: found \"mlx6\", allowed: a row of configs/nics: bnxt, fabric, ionic, irdma, mlx5, "
            "rxe, unknown; "
            "did you mean mlx5?");
  EXPECT_EQ(make(profile()).remarks.front(),
            "eth1 is left out: its kind of NIC, mlx6, is not known to configs/nics");
}

TEST_F(Planner, AHostFileWithABondOfAnUnknownNicIsBadInput) {
  kernel = FakeKernel(2, "802.3ad");
  kernel.host.ports[2].nic = "";
  const auto plan = make_plan(host(), profile(), nics(), {"eth0"}, 0);
  ASSERT_FALSE(plan);
  EXPECT_TRUE(plan.error().text().starts_with("bond0.nic: found \"\"")) << plan.error().text();
}

TEST_F(Planner, AnUnknownPortIsBadInputWithTheNearestName) {
  const auto plan = make_plan(host(), profile(), nics(), {"eth00"}, 0);
  ASSERT_FALSE(plan);
  EXPECT_EQ(plan.error().kind(), ErrorKind::bad_input);
  EXPECT_NE(plan.error().text().find("did you mean eth0?"), std::string::npos) << plan.error().text();
}

TEST_F(Planner, FactsFollowEveryKnob) {
  const Plan plan = make(profile());
  EXPECT_TRUE(staleness(plan, host()).empty());
  kernel.host.ports[1].cc_params->at("rp_gd") = 9;
  EXPECT_EQ(staleness(plan, host()), std::vector<std::string>{"eth1.cc_params.rp_gd: planned on 11, now 9"});
}

TEST_F(Planner, ARenamedPortGetsItsConfirmedStateByPciAddress) {
  FakeDisk disk;
  Process process(kernel, disk);
  ASSERT_EQ(process.apply(make(profile()), request())->verdict, Verdict::committed);
  const ConfirmedState state = confirmed_state(process.ledger());
  kernel.reboot();
  kernel.host.ports[0].name = "lan7";
  kernel.tos["lan7"] = 0;
  const Plan plan = boot_plan(host(), state, nics(), 0);
  EXPECT_NE(find(plan, "lan7", KnobKind::pfc), nullptr);
  EXPECT_EQ(find(plan, "eth0", KnobKind::pfc), nullptr);
}

}  // namespace
}  // namespace rocetune::tune
