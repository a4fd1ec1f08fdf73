#include "agent/host/host_reader.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "agent/host/congestion_files.h"
#include "agent/host/interfaces.h"
#include "tests/places.h"

namespace rocetune::host {
namespace {

const NicTable& nics() {
  static const NicTable kTable = NicTable::load(ConfigFiles()).value();
  return kTable;
}

std::string fixture(const std::string& name) { return source_root() + "/tests/fixtures/hosts/" + name; }

Host read(const std::string& name) {
  auto host = read_host({.root = fixture(name), .network_namespace = {}}, nics());
  EXPECT_TRUE(host) << host.error().text();
  return host ? *host : Host{};
}

const Port& port_of(const Host& host, const std::string& name) {
  const Port* const port = host.find_port(name);
  ROCETUNE_ASSERT(port != nullptr);
  return *port;
}

TEST(HostReader, Mlx5IsReadInFull) {
  const Host host = read("mlx5");
  EXPECT_EQ(host.name, "node17");
  ASSERT_EQ(host.ports.size(), 3u);
  const Port& port = port_of(host, "ens1f0np0");
  EXPECT_EQ(port.nic, "mlx5");
  EXPECT_EQ(port.role, PortRole::physical);
  EXPECT_EQ(port.pci_address, "0000:3d:00.0");
  EXPECT_EQ(port.pci_id, "15b3:101d");
  EXPECT_EQ(port.numa_node, 0);
  EXPECT_EQ(port.psid, "MT_0000000359");
  EXPECT_EQ(port.link->speed, gigabits_per_second(100));
  EXPECT_EQ(port.link->lanes, 4u);
  EXPECT_EQ(port.rdma->device, "mlx5_0");
  EXPECT_EQ(port.rdma->driver, "mlx5_ib");
  EXPECT_EQ(port.rdma->active_mtu, Bytes(4096));
  EXPECT_EQ(port.dcb.pfc->enabled, PrioritySet::of(Priority(3)));
  EXPECT_EQ(port.cc_params->at("np_cnp_dscp"), 48);
  EXPECT_EQ(port.pcie->max_read_request, Bytes(4096));
  EXPECT_EQ(port.congestion_control, CongestionControl::dcqcn);
}

TEST(HostReader, TrustFollowsTheDscpEntries) {
  EXPECT_EQ(port_of(read("mlx5"), "ens1f0np0").dcb.trust, Trust::dscp);
  EXPECT_EQ(port_of(read("irdma"), "ens3").dcb.trust, Trust::pcp);
  EXPECT_EQ(port_of(read("bnxt"), "ens2np0").dcb.trust.error().kind, Unavailable::Kind::absent);
}

TEST(HostReader, BridgesAboveANicThatRedirectAreNamed) {
  const Host host = read("mlx5");
  EXPECT_EQ(port_of(host, "ens1f0np0").pcie->acs_redirecting_bridges, std::vector<std::string>{});
  EXPECT_EQ(port_of(read("bnxt"), "ens2np0").pcie->acs_redirecting_bridges,
            std::vector<std::string>{"0000:10:01.0"});
}

TEST(HostReader, APlainNicHasReasonsInPlaceOfFacts) {
  const Host host = read("plain");
  ASSERT_EQ(host.ports.size(), 1u);
  const Port& port = host.ports.front();
  EXPECT_EQ(port.nic, "unknown");
  EXPECT_FALSE(port.rdma);
  EXPECT_FALSE(port.dcb.pfc);
  EXPECT_EQ(port.dcb.pfc.error().kind, Unavailable::Kind::absent);
  EXPECT_TRUE(port.attachments->carries_default_route);
  EXPECT_EQ(port.attachments->ssh_peers, std::vector<std::string>{"192.168.10.50"});
  EXPECT_EQ(port.attachments->storage_mounts, std::vector<std::string>{"/home"});
}

TEST(HostReader, LockdownDeniesWhatIsThere) {
  const Port port = port_of(read("mlx5-lockdown"), "ens1f0np0");
  ASSERT_FALSE(port.cc_params);
  EXPECT_EQ(port.cc_params.error().kind, Unavailable::Kind::denied);
  EXPECT_NE(port.cc_params.error().why.find("lockdown (integrity)"), std::string::npos);
  EXPECT_EQ(port.congestion_control.error().kind, Unavailable::Kind::denied);
}

TEST(HostReader, OfedsSysfsIsRead) {
  const Port port = port_of(read("mlx5-ofed"), "ens1f0np0");
  EXPECT_EQ(port.ecn_enable->reaction_point, PrioritySet::of(Priority(3)));
  EXPECT_EQ(port.ecn_enable->notification_point, PrioritySet(0xff));
  EXPECT_EQ(port.rdma->global_traffic_class, TosByte::from_wire(106));
}

TEST(HostReader, OfedsSysfsIsAbsentUpstream) {
  const Port port = port_of(read("mlx5"), "ens1f0np0");
  EXPECT_EQ(port.ecn_enable.error().kind, Unavailable::Kind::absent);
  EXPECT_EQ(port.rdma->global_traffic_class.error().kind, Unavailable::Kind::absent);
}

TEST(HostReader, AVirtualFunctionNamesItsPhysicalOne) {
  const Port port = port_of(read("mlx5-vf"), "ens1f0v0");
  EXPECT_EQ(port.role, PortRole::virtual_function);
  EXPECT_EQ(port.physical_function, "ens1f0np0");
  EXPECT_FALSE(port.dcb.pfc);
  EXPECT_FALSE(port.pcie->width_lanes);
  EXPECT_EQ(port.pcie->max_read_request.error().kind, Unavailable::Kind::denied);
}

TEST(HostReader, ABlueFieldWithoutDcbIsTheHostSideOfADpu) {
  EXPECT_EQ(port_of(read("mlx5-dpu-host"), "ens1f0np0").role, PortRole::dpu_host);
}

TEST(HostReader, RepresentorsAreToldFromTheWire) {
  const Host host = read("mlx5-switchdev");
  EXPECT_EQ(port_of(host, "ens1f0np0").role, PortRole::uplink_representor);
  EXPECT_EQ(port_of(host, "ens1f0npf0vf0").role, PortRole::representor);
}

TEST(HostReader, ABondCarriesTheRdmaDeviceOfItsMembers) {
  const Host host = read("mlx5-bond");
  const Port& bond = port_of(host, "bond0");
  EXPECT_EQ(bond.role, PortRole::bond);
  EXPECT_EQ(bond.nic, "mlx5");
  EXPECT_EQ(bond.rdma->device, "mlx5_bond_0");
  const Port& member = port_of(host, "ens1f0np0");
  EXPECT_EQ(member.bond, "bond0");
  EXPECT_EQ(member.mac, "b8:ce:f6:12:34:50");
  EXPECT_EQ(port_of(host, "ens1f1np1").mac, "b8:ce:f6:12:34:51");  // its own, not the bond's
  EXPECT_NE(member.rdma.error().why.find("mlx5_bond_0 is on bond0"), std::string::npos);
  EXPECT_EQ(member.congestion_control, CongestionControl::dcqcn);
}

TEST(HostReader, WhatHangsOnABondHangsOnItsMembers) {
  const Host host = read("mlx5-bond");
  for (const char* const name : {"bond0", "ens1f0np0", "ens1f1np1"}) {
    EXPECT_TRUE(port_of(host, name).attachments->carries_default_route) << name;
  }
}

TEST(HostReader, SoftwareRdmaMakesItsNetdevAPort) {
  const Host host = read("rxe");
  ASSERT_EQ(host.ports.size(), 1u);  // the other end of the veth pair is none
  EXPECT_EQ(host.ports.front().name, "veth0");
  EXPECT_EQ(host.ports.front().role, PortRole::software);
  EXPECT_EQ(host.ports.front().nic, "rxe");
  EXPECT_EQ(host.ports.front().congestion_control, CongestionControl::off);
}

TEST(HostReader, OtherVendorsByTheirRows) {
  const Port bnxt = port_of(read("bnxt"), "ens2np0");
  EXPECT_EQ(bnxt.nic, "bnxt");
  EXPECT_EQ(bnxt.cc_params->at("enable_cc"), 1);
  EXPECT_EQ(bnxt.congestion_control, CongestionControl::dcqcn);
  const Port irdma = port_of(read("irdma"), "ens3");
  EXPECT_EQ(irdma.nic, "irdma");
  EXPECT_EQ(irdma.congestion_control, CongestionControl::off);
  EXPECT_TRUE(irdma.dcb.dcbx->lld_managed);
}

TEST(HostReader, AConnectX7MayRunAnotherAlgorithm) {
  Port port;
  port.cc_params = std::map<std::string, std::int64_t>{{"np_cnp_dscp", 48}};
  port.pci_id = "15b3:1021";
  const NicRow& row = nics().named("mlx5");
  const HostFiles nothing("/nonexistent");
  EXPECT_EQ(read_congestion_control(nothing, row, port, true).error().kind, Unavailable::Kind::absent);
  port.pci_id = "15b3:101d";
  EXPECT_EQ(read_congestion_control(nothing, row, port, true), CongestionControl::dcqcn);
}

// A root whose only content is a fwctl device below a PCI function.
class FwctlRoot : public testing::Test {
 protected:
  FwctlRoot() {
    std::string name = testing::TempDir() + "rocetune-fwctl-XXXXXX";
    root_ = ::mkdtemp(name.data());
    port_.pci_id = "15b3:1021";
    port_.pci_address = "0000:03:00.0";
  }
  ~FwctlRoot() override { std::filesystem::remove_all(root_); }
  void add_device(const std::string& function) {
    const std::string device = "/devices/pci0000:00/" + function + "/mlx5_core.fwctl.0/fwctl/fwctl0";
    std::filesystem::create_directories(root_ + "/sys" + device);
    std::filesystem::create_directories(root_ + "/sys/class/fwctl");
    std::filesystem::create_symlink("../.." + device, root_ + "/sys/class/fwctl/fwctl0");
  }
  std::string why() {
    const auto found = read_congestion_control(HostFiles(root_), nics().named("mlx5"), port_, true);
    EXPECT_FALSE(found);
    return found ? "" : found.error().why;
  }
  bool says(const std::string& what) { return why().find(what) != std::string::npos; }

  std::string root_;
  Port port_;
};

TEST_F(FwctlRoot, AKernelWithoutFwctlIsSaidToHaveNone) {
  EXPECT_EQ(why(),
            "this NIC may run a programmable algorithm in place of DCQCN, and only its firmware knows which: "
            "this kernel has no fwctl to ask it by (from Linux 6.15 on); by hand: mlxconfig "
            "USER_PROGRAMMABLE_CC for the next boot, mlxreg PPCC for now");
}

TEST_F(FwctlRoot, TheDeviceOfTheNicIsNamed) {
  add_device("0000:03:00.0");
  EXPECT_TRUE(says("the vendor's tools can ask it by fwctl, /dev/fwctl/fwctl0")) << why();
}

TEST_F(FwctlRoot, ADeviceOfAnotherNicIsNotItsOwn) {
  add_device("0000:13:00.0");
  EXPECT_TRUE(says("fwctl has no device of this NIC (module mlx5_fwctl)")) << why();
}

// Parameters that are hidden or missing do not make the question another one.
TEST_F(FwctlRoot, WithoutParametersTheFirmwareIsStillTheOneToAsk) {
  port_.cc_params = denied("kernel lockdown (integrity)");
  EXPECT_TRUE(says("only its firmware knows")) << why();
}

TEST(HostReader, ANicWithoutARowIsToldByItsDriver) {
  Port port;
  port.driver = "virtio_net";
  port.nic = "unknown";
  const auto found = read_cc_params(HostFiles(), nics().named("unknown"), port, absent("no lockdown"));
  EXPECT_EQ(found.error().why, "driver virtio_net is not known");
}

TEST(HostReader, ANicWhoseIdIsNotKnownMayRunAnotherAlgorithmIfItsFamilyMay) {
  Port port;
  port.cc_params = std::map<std::string, std::int64_t>{{"np_cnp_dscp", 48}};
  EXPECT_FALSE(read_congestion_control(HostFiles("/nonexistent"), nics().named("mlx5"), port, true));
}

TEST(HostReader, OwnersAreNamedWithTheirEvidence) {
  const Host host = read("mlx5");
  ASSERT_EQ(host.owners->size(), 1u);
  EXPECT_EQ(host.owners->front().name, "NetworkManager");
  EXPECT_NE(host.owners->front().evidence.find("812"), std::string::npos);
}

TEST(HostReader, GpusAreFoundByTheirPciClass) {
  const Host host = read("mlx5");
  ASSERT_EQ(host.gpus->size(), 4u);
  EXPECT_EQ(host.gpus->back(), (Gpu{"0000:bb:00.0", "NVIDIA 2330", 1}));
}

TEST(HostReader, HypervisorsAreNamed) {
  EXPECT_EQ(read("mlx5-vf").hypervisor, "KVM");
  EXPECT_EQ(read("mlx5").hypervisor, "");
}

TEST(HostReader, AFolderThatIsNoHostHasNoPortsAndSaysWhy) {
  const auto host = read_host({.root = source_root() + "/tests/fixtures", .network_namespace = {}}, nics());
  ASSERT_TRUE(host);
  EXPECT_TRUE(host->ports.empty());
  EXPECT_NE(host->rdma_namespaces_exclusive.error().why.find("kernel.json"), std::string::npos);
}

TEST(HostReader, ARootThatIsNotThereIsBadInput) {
  EXPECT_EQ(read_host({.root = "/no/such/root", .network_namespace = {}}, nics()).error().kind(),
            ErrorKind::bad_input);
}

TEST(HostReader, EveryTreeReadsBackFromItsJson) {
  for (const char* const name : {"mlx5", "mlx5-ofed", "mlx5-lockdown", "mlx5-bond", "mlx5-vf",
                                 "mlx5-dpu-host", "mlx5-switchdev", "bnxt", "irdma", "rxe", "plain"}) {
    const Host host = read(name);
    const auto again = host_from_json(to_json_text(host), name);
    ASSERT_TRUE(again) << name << ": " << again.error().text();
    EXPECT_EQ(*again, host) << name;
  }
}

TEST(Interfaces, EveryUnavailableFactHasAStateAndAReason) {
  const auto interfaces = interfaces_of(read("mlx5-lockdown"));
  const auto cc = std::find_if(interfaces.begin(), interfaces.end(), [](const InterfaceState& i) {
    return i.port == "ens1f0np0" && i.name == "congestion-control parameters";
  });
  ASSERT_NE(cc, interfaces.end());
  EXPECT_EQ(cc->state, InterfaceState::State::denied);
  for (const InterfaceState& interface : interfaces) {
    EXPECT_EQ(interface.why.empty(), interface.state == InterfaceState::State::usable) << interface.name;
  }
}

TEST(Lockdown, IsTheWordInBrackets) {
  EXPECT_EQ(parse_lockdown("none [integrity] confidentiality"), Lockdown::integrity);
  EXPECT_EQ(parse_lockdown("[none] integrity confidentiality"), Lockdown::none);
  EXPECT_FALSE(parse_lockdown("none integrity confidentiality"));
}

}  // namespace
}  // namespace rocetune::host
