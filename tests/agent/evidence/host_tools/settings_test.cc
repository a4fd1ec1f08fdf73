// Settings that host tools print, in the words of the host's model.
#include "agent/evidence/host_tools/bonding.h"
#include "agent/evidence/host_tools/ethtool_link.h"
#include "agent/evidence/host_tools/lsmod.h"
#include "agent/evidence/host_tools/qp_attributes.h"
#include "agent/evidence/host_tools/tc_qdisc.h"
#include "tests/agent/evidence/host_tools/told_file.h"

namespace rocetune::evidence {
namespace {

TEST(PauseText, DirectionsAreRead) {
  EXPECT_EQ(*ToldFile("ethtool-pause/off.txt").port().pause, (host::GlobalPause{false, false, false}));
  EXPECT_EQ(*ToldFile("ethtool-pause/statistics.txt").port().pause, (host::GlobalPause{true, true, false}));
  EXPECT_EQ(*ToldFile("ethtool-pause/json.txt").port().pause, (host::GlobalPause{false, true, true}));
  EXPECT_EQ(ToldFile("ethtool-pause/json.txt").port().name, "eth7");
}

TEST(DriverText, FirmwareBoardAndAddressAreRead) {
  const ToldFile file("ethtool-driver/mlx5.txt");
  EXPECT_EQ(file.port().driver, "mlx5_core");
  EXPECT_EQ(file.port().firmware, "20.31.1014");
  EXPECT_EQ(file.port().psid, "MT_0000000359");
  EXPECT_EQ(file.port().pci_address, "0000:31:00.0");
  EXPECT_EQ(ToldFile("ethtool-driver/two.txt").port(1).name, "ens2");
}

TEST(LinkText, ModesOfBothEndsAreRead) {
  const ToldFile file("ethtool-link/fell-back.txt");
  const auto* link = file.only().as<EthtoolLink>();
  ASSERT_NE(link, nullptr);
  EXPECT_EQ(link->speed, gigabits_per_second(25));
  EXPECT_EQ(link->fastest_supported, gigabits_per_second(100));
  EXPECT_EQ(link->fastest_advertised, gigabits_per_second(100));
  EXPECT_EQ(link->fastest_of_partner, gigabits_per_second(100));
  EXPECT_EQ(file.port().link->lanes, 1U);
}

TEST(LinkText, ADownPortHasNoSpeed) {
  const ToldFile file("ethtool-link/down.txt");
  EXPECT_FALSE(file.port().link->carrier);
  EXPECT_FALSE(file.port().link->speed);
}

TEST(MlnxQosText, TheOldestFormHasPfcAndClasses) {
  const ToldFile file("mlnx-qos/oldest.txt");
  const host::Dcb& dcb = file.port().dcb;
  EXPECT_EQ(*dcb.trust, host::Trust::pcp);
  EXPECT_EQ(dcb.pfc->enabled, PrioritySet::of(Priority(4)));
  EXPECT_FALSE(dcb.app);  // trust pcp prints no map
  EXPECT_FALSE(dcb.buffers);
  EXPECT_EQ(dcb.ets->tc_of_priority[0], TrafficClass(1));  // mlx5's own swap
  EXPECT_EQ(dcb.ets->tc_of_priority[1], TrafficClass(0));
  EXPECT_EQ(dcb.ets->tsa[4], host::Tsa::ets);
  EXPECT_EQ(dcb.ets->tsa[5], host::Tsa::strict);
}

TEST(MlnxQosText, TheNewestFormHasBuffersOwnerAndMap) {
  const ToldFile file("mlnx-qos/newest.txt");
  const host::Dcb& dcb = file.port().dcb;
  EXPECT_TRUE(dcb.dcbx->host);
  EXPECT_EQ(*dcb.trust, host::Trust::dscp);
  EXPECT_EQ(host::priority_of_dscp(dcb, Dscp(26)), Priority(3));
  EXPECT_EQ(dcb.buffers->total, Bytes(2069280));
  EXPECT_EQ(dcb.buffers->size[1], Bytes(243072));
  EXPECT_EQ(dcb.buffers->buffer_of_priority[3], 1);
  EXPECT_EQ(dcb.pfc->delay, 7);
  EXPECT_FALSE(dcb.ets);  // no traffic class was shown
  EXPECT_EQ(file.port().driver, "mlx5_core");
}

TEST(DcbText, AnEmptyTableIsKnownToBeEmpty) {
  const ToldFile file("dcb/empty-app.txt");
  ASSERT_TRUE(file.port().dcb.app);
  EXPECT_TRUE(file.port().dcb.app->empty());
  EXPECT_EQ(file.port().name, "eth0");
  ASSERT_TRUE(ToldFile("dcb/node1.app.json").port().dcb.app);
  EXPECT_FALSE(ToldFile("dcb/pfc.json").port().dcb.app);
}

TEST(DcbText, UnitsOfSizesAndRatesChange) {
  const ToldFile buffer("dcb/buffer.txt");
  EXPECT_EQ(buffer.port().dcb.buffers->size[0], Bytes(127 * 1024));
  EXPECT_EQ(buffer.port().dcb.buffers->total, Bytes(262016));
  EXPECT_EQ((*ToldFile("dcb/maxrate.txt").port().dcb.max_rate)[0], gigabits_per_second(10));
  EXPECT_EQ((*ToldFile("dcb/pretty-maxrate.json").port().dcb.max_rate)[0], gigabits_per_second(10));
}

TEST(DcbText, OwnersAreTold) {
  EXPECT_FALSE(ToldFile("dcb/dcbx-firmware.txt").port().dcb.dcbx->host);
  EXPECT_TRUE(ToldFile("dcb/dcbx-firmware.txt").port().dcb.dcbx->lld_managed);
  EXPECT_TRUE(ToldFile("dcb/dcbx.json").port().dcb.dcbx->host);
  EXPECT_TRUE(ToldFile("dcb/ets.json").port().dcb.ets->willing);
}

TEST(DcbText, TablesOtherThanDscpAreRead) {
  const ToldFile text("dcb/app-ethertype.txt"), json("dcb/app.json");
  EXPECT_EQ(text.port().dcb.app->at(0), (host::AppEntry{host::AppSelector::ethertype, 0x8915, Priority(3)}));
  EXPECT_EQ(text.port().dcb.app->at(1), (host::AppEntry{host::AppSelector::udp, 4791, Priority(3)}));
  EXPECT_EQ(json.port().dcb.app->at(0), (host::AppEntry{host::AppSelector::ethertype, 0x8915, Priority(3)}));
}

TEST(IpLinkText, PortsHaveStateMasterAndAddresses) {
  const ToldFile link("ip-link/link.txt"), addr("ip-link/addr.txt");
  ASSERT_EQ(link.only().host_part->ports.size(), 3U);  // without lo
  EXPECT_EQ(link.port().bond, "bond0");
  EXPECT_EQ(link.port(0, 1).name, "eth0.100");
  EXPECT_FALSE(link.port(0, 2).link->carrier);
  EXPECT_EQ(addr.port().addresses, (std::vector<std::string>{"192.0.2.7/24", "fe80::ff:fe00:2/64"}));
  EXPECT_EQ(ToldFile("ip-link/json.txt").port().mac, "02:00:00:00:00:01");
}

TEST(RdmaLinkText, OldNewAndInfiniBandAreTold) {
  const ToldFile now("rdma-link/now.txt");
  EXPECT_EQ(now.port(0, 1).name, "ens1f1");
  EXPECT_EQ(now.port(0, 1).rdma->state, "DOWN");
  EXPECT_EQ(ToldFile("rdma-link/old.txt").port().rdma->device, "mlx5_0");
  EXPECT_EQ(ToldFile("rdma-link/infiniband.txt").port().rdma->link_layer, host::LinkLayer::infiniband);
  EXPECT_EQ(ToldFile("rdma-link/json.txt").port().rdma->link_layer, host::LinkLayer::ethernet);
}

TEST(BondingText, MembersHaveTheirLacpState) {
  const ToldFile file("bonding/member-down.txt");
  const auto* bond = file.only().as<BondText>();
  ASSERT_NE(bond, nullptr);
  ASSERT_EQ(bond->members.size(), 2U);
  EXPECT_TRUE(bond->members[0].is_up);
  EXPECT_FALSE(bond->members[1].is_up);
  EXPECT_EQ(bond->members[0].partner_churn, "none");
  EXPECT_EQ(bond->bond.active_members, std::vector<std::string>{"ens1f0"});
}

TEST(SysfsText, PathsSayWhichPort) {
  const ToldFile file("sysfs-value/paths.txt");
  EXPECT_EQ(file.port().name, "eth0");
  EXPECT_EQ(file.port().mtu, Bytes(4200));
  EXPECT_TRUE(file.port().ecn_enable->notification_point.contains(Priority(3)));
  EXPECT_TRUE(file.port().ecn_enable->reaction_point.is_empty());
  EXPECT_EQ(file.port(0, 1).rdma->cm_default_tos->wire(), 106);
  EXPECT_EQ(ToldFile("sysfs-value/grep.txt").port().rdma->device, "mlx5_2");
}

TEST(QpText, TimersAreDecoded) {
  EXPECT_DOUBLE_EQ(rnr_timer_ms(0).value(), 655.36);
  EXPECT_DOUBLE_EQ(rnr_timer_ms(12).value(), 0.64);
  EXPECT_DOUBLE_EQ(rnr_timer_ms(14).value(), 1.28);
  EXPECT_DOUBLE_EQ(rnr_timer_ms(31).value(), 491.52);
  EXPECT_FALSE(rnr_timer_ms(32));
  EXPECT_FALSE(rnr_timer_ms(-1));
  const ToldFile file("qp-attributes/struct.txt");
  EXPECT_EQ(file.only().as<QpAttributes>()->value("timeout"), 14);
  EXPECT_FALSE(file.only().as<QpAttributes>()->value("qp_state"));
}

TEST(LsmodText, AWholeListSaysWhatIsNotLoaded) {
  const ToldFile whole("lsmod/whole.txt"), part("lsmod/grep.txt");
  EXPECT_TRUE(whole.only().as<Lsmod>()->is_whole);
  EXPECT_FALSE(part.only().as<Lsmod>()->is_whole);
  EXPECT_NE(part.only().as<Lsmod>()->find("nvidia_peermem"), nullptr);
  EXPECT_EQ(whole.only().as<Lsmod>()->find("ib_core")->users,
            (std::vector<std::string>{"rdma_cm", "rdma_rxe"}));
}

TEST(QdiscText, RootsAndTheirCounts) {
  const ToldFile file("tc-qdisc/red.txt");
  const auto* content = file.only().as<TcQdisc>();
  ASSERT_EQ(content->qdiscs.size(), 2U);
  EXPECT_TRUE(content->qdiscs[0].is_root);
  EXPECT_FALSE(content->qdiscs[1].is_root);
  EXPECT_EQ(content->qdiscs[0].sent_packets, 700U);
  EXPECT_EQ(content->qdiscs[0].device, "swp3");
}

}  // namespace
}  // namespace rocetune::evidence
