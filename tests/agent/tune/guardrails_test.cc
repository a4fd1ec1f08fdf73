#include "agent/tune/guardrails.h"

#include "agent/tune/arrange.h"
#include "tests/agent/tune/bench.h"

namespace rocetune::tune {
namespace {

class Guardrails : public testing::Test {
 protected:
  Guardrails() { look_again(); }
  void look_again() {
    FakeHost source(kernel, nobody);
    traffic = *source.measure(seconds(2));
    plan = plan_for(kernel, BufferPolicy::driver);
    host = *source.observe();
    for (host::Port& port : host.ports) {
      if (port.dcb.dcbx) port.dcb.dcbx->host = true;  // as if taken already
    }
  }
  // The plan's changes of this kind, nothing else.
  void keep_only(host::KnobKind kind) {
    for (Step& step : plan.steps) {
      std::erase_if(step.changes, [&](const Change& change) { return change.knob.kind != kind; });
    }
    std::erase_if(plan.steps, [](const Step& step) { return step.changes.empty(); });
    ASSERT_FALSE(plan.steps.empty());
  }
  std::vector<Refusal> check() { return refusals({host, plan, traffic, limits()}); }
  // Exactly one kind of refusal, for these ports.
  void expect_only(const std::string& consent, const std::vector<std::string>& ports) {
    std::vector<std::string> found;
    for (const Refusal& refusal : check()) {
      EXPECT_EQ(refusal.consent, consent) << refusal.reason;
      found.push_back(refusal.port);
    }
    EXPECT_EQ(found, ports);
  }

  Reaper nobody;
  FakeKernel kernel{2};
  Plan plan;
  host::Host host;
  Observed<counters::Interval> traffic = not_read();
};

TEST_F(Guardrails, AQuietHostPasses) {
  for (const Refusal& refusal : check()) ADD_FAILURE() << to_text(refusal);
}

TEST_F(Guardrails, DefaultRoute) {
  host.ports[1].attachments->carries_default_route = true;
  expect_only("bounce-default-route", {"eth1"});
}

TEST_F(Guardrails, DefaultRouteOnTheBondOfAnInterruptedMember) {
  host.ports[1].bond = "bond0";
  host::Port bond;
  bond.name = "bond0";
  bond.role = host::PortRole::bond;
  bond.attachments = host::Attachments{.carries_default_route = true};
  host.ports.push_back(bond);
  expect_only("bounce-default-route", {"eth1"});
}

TEST_F(Guardrails, SshSession) {
  host.ports[0].attachments->ssh_peers = {"10.0.0.9"};
  expect_only("bounce-ssh", {"eth0"});
  EXPECT_NE(check().front().reason.find("10.0.0.9"), std::string::npos);
}

TEST_F(Guardrails, MountedStorage) {
  host.ports[0].attachments->storage_mounts = {"/data"};
  expect_only("bounce-storage", {"eth0"});
}

TEST_F(Guardrails, UnknownAttachmentsAreNotAPass) {
  host.ports[0].attachments = denied("not root");
  const auto found = check();
  ASSERT_EQ(found.size(), 3u);
  EXPECT_NE(found[0].reason.find("not known: not root"), std::string::npos);
}

TEST_F(Guardrails, WhatDoesNotInterruptMayCarryTheDefaultRoute) {
  host.ports[0].attachments->carries_default_route = true;
  std::erase_if(plan.steps, [](const Step& step) { return step.interrupts_link; });
  ASSERT_FALSE(plan.steps.empty());
  for (const Refusal& refusal : check()) ADD_FAILURE() << to_text(refusal);
}

TEST_F(Guardrails, RdmaTraffic) {
  traffic->ports[1].increments[{"rdma_tx_packets", std::nullopt}] = std::uint64_t{10'000};
  expect_only("rdma-traffic", {"eth1"});
  traffic->ports[1].increments[{"rdma_tx_packets", std::nullopt}] = std::uint64_t{10};
  EXPECT_TRUE(check().empty());
}

TEST_F(Guardrails, TrafficThatCannotBeSeenIsNotIdle) {
  traffic->ports[0].increments.clear();
  expect_only("rdma-traffic", {"eth0"});
  traffic = absent("no counters");
  expect_only("rdma-traffic", {"eth0", "eth1"});
}

// As mlx5's LAG: the members show no RDMA device and carry what bond0's device sends.
class BondedGuardrails : public Guardrails {
 protected:
  BondedGuardrails() {
    kernel = FakeKernel(2, "802.3ad");
    look_again();
  }
};

TEST_F(BondedGuardrails, TrafficOfTheBondsDeviceGuardsItsMembers) {
  EXPECT_FALSE(host.ports[0].rdma);
  EXPECT_TRUE(check().empty()) << to_text(check().front());
  traffic->ports[2].increments[{"rdma_tx_packets", std::nullopt}] = std::uint64_t{10'000};
  expect_only("rdma-traffic", {"eth0", "eth1", "bond0"});
  EXPECT_EQ(check().front().reason, "RDMA traffic runs on bond0: 5000 packets/s");
}

TEST_F(BondedGuardrails, TrafficThatOnlyAnotherMemberCountsIsTheBondsToo) {
  traffic->ports[1].increments[{"rdma_rx_packets", std::nullopt}] = std::uint64_t{10'000};
  expect_only("rdma-traffic", {"eth0", "eth1", "bond0"});
}

TEST_F(BondedGuardrails, AnotherMembersSilenceIsNoEvidence) {
  traffic->ports[0].increments.clear();
  traffic->ports[2].increments.clear();
  expect_only("rdma-traffic", {"eth0", "bond0"});
}

TEST_F(Guardrails, AnotherOwnerIsRefusedForWhatItWrites) {
  host.owners = std::vector<host::Owner>{{"lldpad", "pid 77"}};
  expect_only("other-owner", {"eth0", "eth1"});
  EXPECT_NE(check().front().reason.find("lldpad may write "), std::string::npos);
  keep_only(host::KnobKind::mtu);
  EXPECT_TRUE(check().empty());
}

TEST_F(Guardrails, NetplanTakesBackAnMtuAndNothingElse) {
  host.owners = std::vector<host::Owner>{{"netplan", "/etc/netplan/50-cloud-init.yaml"}};
  for (const Refusal& refusal : check()) {
    EXPECT_EQ(refusal.reason, "netplan may write mtu too (/etc/netplan/50-cloud-init.yaml)");
  }
  keep_only(host::KnobKind::mtu);
  expect_only("other-owner", {"eth0", "eth1"});
  plan = plan_for(kernel, BufferPolicy::driver);
  keep_only(host::KnobKind::pfc);
  EXPECT_TRUE(check().empty()) << to_text(check().front());
}

TEST_F(Guardrails, AProgramWithoutARowMayWriteEverything) {
  host.owners = std::vector<host::Owner>{{"some-new-daemon", "pid 78"}};
  keep_only(host::KnobKind::pfc_prevention);
  expect_only("other-owner", {"eth0", "eth1"});
}

TEST_F(Guardrails, OwnersThatCannotBeSeenAreNotNone) {
  host.owners = denied("not root");
  expect_only("other-owner", {"eth0", "eth1"});
}

TEST_F(Guardrails, StorageAndSessionsThatMayHangAnywhere) {
  host.ports[0].attachments->unknown_storage = {"/data: where server filer is reached is not known"};
  expect_only("bounce-storage", {"eth0"});
  host.ports[0].attachments = host::Attachments{};
  host.ports[0].attachments->unknown_sessions = {"open /proc/net/tcp: permission denied"};
  expect_only("bounce-ssh", {"eth0"});
}

TEST_F(Guardrails, ParametersOfANicThatMayRunAnotherAlgorithm) {
  host.ports[0].pci_id = "15b3:1021";
  host.ports[0].congestion_control = absent("the kernel does not show which");
  expect_only("unknown-cc", {"eth0"});
  host.ports[0].congestion_control = host::CongestionControl::dcqcn;
  EXPECT_TRUE(check().empty());
}

TEST_F(Guardrails, AFirmwareAgentThatMakesTheDriverRefuseCannotBeOverridden) {
  host.ports[0].nic = "irdma";
  host.ports[0].dcb.dcbx = host::DcbxMode{.host = false, .lld_managed = true, .ieee = true};
  expect_only("", {"eth0"});
  EXPECT_NE(check().front().reason.find("ethtool --set-priv-flags eth0 fw-lldp-agent off"),
            std::string::npos);
  keep_only(host::KnobKind::mtu);
  EXPECT_TRUE(check().empty());
}

// ice_dcb_nl.c: EINVAL while the port is in a bond.
TEST_F(BondedGuardrails, DcbOfABondedPortWhoseDriverRefusesItIsSaidBefore) {
  EXPECT_TRUE(check().empty()) << to_text(check().front());
  for (std::size_t i = 0; i < 2; ++i) host.ports[i].nic = "irdma";
  keep_only(host::KnobKind::ets);
  expect_only("dcb-in-bond", {"eth0", "eth1"});
  EXPECT_EQ(check().front().reason,
            "it is in bond0, and its driver refuses to change ets of a port in a bond (from Linux 6.6 on, "
            "where the NIC offers SR-IOV LAG): take it out first");
  host.bonds.clear();
  for (host::Port& port : host.ports) port.bond.reset();
  EXPECT_TRUE(check().empty()) << to_text(check().front());
}

TEST_F(BondedGuardrails, TheMtuOfABondIsNoDcb) {
  for (host::Port& port : host.ports) port.nic = "irdma";
  keep_only(host::KnobKind::mtu);
  EXPECT_TRUE(check().empty()) << to_text(check().front());
}

TEST_F(Guardrails, AnInterfaceThatIsClosedLosesAddressesAndRoutes) {
  host.ports[0].nic = "irdma";
  keep_only(host::KnobKind::ets);
  for (Step& step : plan.steps) {  // mlx5's, for the PFC that went
    step.interrupts_link = false;
    step.effect = host::WriteEffect::none;
  }
  plan = with_known_effects(plan, host, limits().nics);
  EXPECT_EQ(plan.steps.front().effect, host::WriteEffect::closes_interface);
  EXPECT_TRUE(check().empty()) << to_text(check().front());
  host.ports[0].addresses = {"10.0.0.1/24", "fe80::1/64", "fd00::1/64"};
  host.ports[0].attachments->gateway_routes = {"10.9.0.0/16"};
  expect_only("close-interface", {"eth0"});
  EXPECT_EQ(check().front().reason,
            "its driver takes the interface down and up, and nothing but a network manager puts back "
            "fd00::1/64, route to 10.9.0.0/16");
}

// A file that was edited: what this version knows about the NIC wins.
TEST_F(Guardrails, APlanThatHidesWhatItDoesIsNotBelieved) {
  host.ports[0].attachments->carries_default_route = true;
  for (Step& step : plan.steps) {
    step.interrupts_link = false;
    step.effect = host::WriteEffect::none;
    for (Change& change : step.changes) change.risk.clear();
  }
  EXPECT_TRUE(check().empty());
  plan = with_known_effects(plan, host, limits().nics);
  expect_only("bounce-default-route", {"eth0"});
}

TEST_F(Guardrails, APlanThatCallsAStickyWriteExactIsNotBelieved) {
  plan = plan_for(kernel);
  keep_only(host::KnobKind::buffers);
  for (Step& step : plan.steps) {
    for (Change& change : step.changes) change.revert = Revert::exact;
  }
  EXPECT_TRUE(check().empty());
  plan = with_known_effects(plan, host, limits().nics);
  expect_only("inexact-revert", {"eth0", "eth1"});
}

TEST_F(Guardrails, HeadroomOfTheDriversBuffersCountsAgainstTheTotal) {
  Profile wanted = profile();
  wanted.cable = Metres(999);
  plan = *make_plan(host, wanted, nics(), {"eth0"}, 0);
  expect_only("", {"eth0"});
  EXPECT_NE(check().front().reason.find("more than the port's 262016 B"), std::string::npos);
  wanted = profile("sonic-dscp3-4");
  wanted.cable = Metres(300);
  wanted.buffers = BufferPolicy::driver;
  plan = *make_plan(host, wanted, nics(), {"eth0"}, 0);
  expect_only("", {"eth0"});
}

TEST_F(Guardrails, WhatIsNotChangedIsNotMeasuredAgainstTheTotal) {
  plan.steps.clear();
  plan.expectations = {{"eth0", Priority(3), Bytes(999'999)}};
  EXPECT_TRUE(check().empty());
}

TEST_F(Guardrails, FirmwareDcbx) {
  host.ports[0].dcb.dcbx->host = false;
  expect_only("take-dcbx", {"eth0"});
}

TEST_F(Guardrails, InexactRevert) {
  plan.steps[0].changes[0].revert = Revert::needs_driver_reload;
  expect_only("inexact-revert", {"eth0"});
  EXPECT_TRUE(check().front().reason.starts_with("dcbx_mode cannot be undone exactly"));
}

TEST_F(Guardrails, VirtualFunctionAndRepresentor) {
  for (const host::PortRole role : {host::PortRole::virtual_function, host::PortRole::representor,
                                    host::PortRole::dpu_host, host::PortRole::software}) {
    host.ports[0].role = role;
    expect_only("not-physical", {"eth0"});
  }
}

TEST_F(Guardrails, UnknownNic) {
  host.ports[0].nic = "unknown";
  expect_only("unknown-nic", {"eth0"});
}

TEST_F(Guardrails, LockdownCannotBeOverridden) {
  host.lockdown = host::Lockdown::integrity;
  expect_only("", {"eth0", "eth1"});
  const std::vector<std::string> all = consent_names();
  EXPECT_EQ(uncovered(check(), {all.begin(), all.end()}).size(), 2u);
}

TEST_F(Guardrails, BuffersOverTheTotalCannotBeOverridden) {
  Change change{{"eth0", host::KnobKind::buffers, ""},
                host::KnobValue(host::BufferSetting{}),
                host::KnobValue(buffers_for(PrioritySet(0x18), Bytes(200'000), Bytes(262016)))};
  plan.steps.push_back({"eth0", false, {change}});
  expect_only("", {"eth0"});
  EXPECT_NE(check().front().reason.find("262016 B"), std::string::npos);
}

TEST_F(Guardrails, AConsentCoversItsOwnKindOnly) {
  host.ports[0].attachments = host::Attachments{true, {"10.0.0.9"}, {}};
  EXPECT_EQ(uncovered(check(), {"bounce-ssh"}).size(), 1u);
  EXPECT_EQ(uncovered(check(), {"bounce-ssh", "bounce-default-route"}).size(), 0u);
}

TEST_F(Guardrails, EveryNameIsListedOnceWithAMeaning) {
  std::set<std::string> seen;
  for (const Guardrail& guardrail : guardrails()) {
    EXPECT_FALSE(guardrail.meaning.empty());
    if (!guardrail.consent.empty()) {
      EXPECT_TRUE(seen.insert(std::string(guardrail.consent)).second);
    }
  }
}

}  // namespace
}  // namespace rocetune::tune
