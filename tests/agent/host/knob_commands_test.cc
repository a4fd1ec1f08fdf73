#include <gtest/gtest.h>

#include "agent/host/knob.h"

namespace rocetune::host {
namespace {

using Lines = std::vector<std::string>;

Port mlx5_port() {
  Port port;
  port.name = "eth0";
  port.nic = "mlx5";
  port.pci_address = "0000:03:00.0";
  port.cc_folder = "/sys/kernel/debug/mlx5/" + *port.pci_address + "/cc_params";
  RdmaPort rdma;
  rdma.device = "mlx5_0";
  port.rdma = rdma;
  return port;
}

Lines commands(const Port& port, KnobKind kind, const KnobValue& before, const KnobValue& after,
               bool with_mlnx_qos = false) {
  return equivalent_commands(port, {port.name, kind, kind == KnobKind::cc_param ? "np_cnp_dscp" : ""}, before,
                             after, with_mlnx_qos);
}

TEST(KnobCommands, PfcSetsTheWholeMaskAndTheDelayOnlyWhenItChanges) {
  const PfcSetting off{};
  const PfcSetting on{PrioritySet::of(Priority(3)), 30};
  EXPECT_EQ(commands(mlx5_port(), KnobKind::pfc, off, on, true),
            (Lines{"dcb pfc set dev eth0 prio-pfc all:off 3:on delay 30",
                   "mlnx_qos -i eth0 --pfc 0,0,0,1,0,0,0,0 --cable_len 30"}));
  EXPECT_EQ(commands(mlx5_port(), KnobKind::pfc, on, PfcSetting{PrioritySet(), 30}),
            (Lines{"dcb pfc set dev eth0 prio-pfc all:off"}));
}

TEST(KnobCommands, AppTableDeletesWhatIsMappedAnewFirstAndTheRestLast) {
  const std::vector<AppEntry> before{{AppSelector::dscp, 10, Priority(1)},
                                     {AppSelector::dscp, 26, Priority(0)},
                                     {AppSelector::dscp, 48, Priority(6)}};
  const std::vector<AppEntry> after{{AppSelector::dscp, 26, Priority(3)},
                                    {AppSelector::dscp, 48, Priority(6)}};
  EXPECT_EQ(commands(mlx5_port(), KnobKind::app_table, before, after),
            (Lines{"dcb app del dev eth0 dscp-prio 26:0", "dcb app add dev eth0 dscp-prio 26:3",
                   "dcb app del dev eth0 dscp-prio 10:1"}));
}

TEST(KnobCommands, AppTableSpellsEverySelector) {
  const std::vector<AppEntry> after{
      {AppSelector::ethertype, 0, Priority(1)},   {AppSelector::ethertype, 0x8915, Priority(3)},
      {AppSelector::tcp, 3260, Priority(4)},      {AppSelector::udp, 4791, Priority(3)},
      {AppSelector::any_port, 5000, Priority(2)}, {AppSelector::dscp, 26, Priority(3)}};
  EXPECT_EQ(
      commands(mlx5_port(), KnobKind::app_table, std::vector<AppEntry>{}, after),
      (Lines{"dcb app add dev eth0 default-prio 1", "dcb app add dev eth0 ethtype-prio 0x8915:3",
             "dcb app add dev eth0 stream-port-prio 3260:4", "dcb app add dev eth0 dgram-port-prio 4791:3",
             "dcb app add dev eth0 port-prio 5000:2", "dcb app add dev eth0 dscp-prio 26:3"}));
}

TEST(KnobCommands, EtsAndBuffersSpellWholeTables) {
  EtsSetting ets;
  for (std::size_t i = 0; i < 8; ++i) ets.tc_of_priority[i] = TrafficClass(static_cast<int>(i));
  ets.tsa = {Tsa::ets, Tsa::ets, Tsa::ets, Tsa::ets, Tsa::strict, Tsa::strict, Tsa::strict, Tsa::vendor};
  ets.tx_share_percent = {10, 20, 20, 50, 0, 0, 0, 0};
  EXPECT_EQ(
      commands(mlx5_port(), KnobKind::ets, EtsSetting{}, ets, true),
      (Lines{"dcb ets set dev eth0 willing off prio-tc 0:0 1:1 2:2 3:3 4:4 5:5 6:6 7:7 tc-tsa 0:ets 1:ets "
             "2:ets 3:ets 4:strict 5:strict 6:strict 7:vendor tc-bw 0:10 1:20 2:20 3:50 4:0 5:0 6:0 7:0 "
             "pg-bw 0:0 1:0 2:0 3:0 4:0 5:0 6:0 7:0",
             "mlnx_qos -i eth0 --prio_tc 0,1,2,3,4,5,6,7 --tsa ets,ets,ets,ets,strict,strict,strict,vendor "
             "--tcbw 10,20,20,50,0,0,0,0"}));
  BufferSetting buffers;
  buffers.buffer_of_priority[3] = 1;
  buffers.size[0] = Bytes(16000);
  buffers.size[1] = Bytes(65424);
  EXPECT_EQ(commands(mlx5_port(), KnobKind::buffers, BufferSetting{}, buffers),
            (Lines{"dcb buffer set dev eth0 prio-buffer 0:0 1:0 2:0 3:1 4:0 5:0 6:0 7:0 "
                   "buffer-size 0:16000 1:65424 2:0 3:0 4:0 5:0 6:0 7:0"}));
}

TEST(KnobCommands, DcbxGoesBackToMlx5FirmwareByMlnxQosAlone) {
  const DcbxMode firmware{.cee = true, .ieee = true};
  DcbxMode host = firmware;
  host.host = true;
  EXPECT_EQ(commands(mlx5_port(), KnobKind::dcbx_mode, firmware, host),
            (Lines{"dcb dcbx set dev eth0 host cee ieee"}));
  EXPECT_EQ(commands(mlx5_port(), KnobKind::dcbx_mode, host, firmware),
            (Lines{"mlnx_qos -i eth0 --dcbx fw"}));
  Port bnxt = mlx5_port();
  bnxt.nic = "bnxt";
  EXPECT_EQ(commands(bnxt, KnobKind::dcbx_mode, host, DcbxMode{.lld_managed = true, .ieee = true}),
            (Lines{"dcb dcbx set dev eth0 lld-managed ieee"}));
}

TEST(KnobCommands, PlainNumbers) {
  const KnobValue zero(std::int64_t{68});
  EXPECT_EQ(commands(mlx5_port(), KnobKind::mtu, zero, KnobValue(std::int64_t{9000})),
            (Lines{"ip link set dev eth0 mtu 9000"}));
  EXPECT_EQ(commands(mlx5_port(), KnobKind::pfc_prevention, zero, KnobValue(std::int64_t{100})),
            (Lines{"ethtool --set-tunable eth0 pfc-prevention-tout 100"}));
  EXPECT_EQ(commands(mlx5_port(), KnobKind::cc_param, zero, KnobValue(std::int64_t{48})),
            (Lines{"echo 48 > /sys/kernel/debug/mlx5/0000:03:00.0/cc_params/np_cnp_dscp"}));
  EXPECT_EQ(commands(mlx5_port(), KnobKind::cm_default_tos, zero, KnobValue(std::int64_t{106})),
            (Lines{"mkdir -p /sys/kernel/config/rdma_cm/mlx5_0",
                   "echo 106 > /sys/kernel/config/rdma_cm/mlx5_0/ports/1/default_roce_tos"}));
  EXPECT_EQ(commands(mlx5_port(), KnobKind::global_pause, GlobalPause{true, true, true}, GlobalPause{}),
            (Lines{"ethtool -A eth0 autoneg off rx off tx off"}));
}

TEST(KnobCommands, CongestionParametersAreWrittenWhereTheirDriverHasThem) {
  Port port = mlx5_port();
  const KnobValue value(std::int64_t{4});
  port.cc_folder = "/sys/kernel/debug/bnxt_re/0000:03:00.0/cc_config";
  EXPECT_EQ(commands(port, KnobKind::cc_param, value, value),
            (Lines{"echo 4 > /sys/kernel/debug/bnxt_re/0000:03:00.0/cc_config/np_cnp_dscp"}));
  port.cc_folder.reset();
  EXPECT_TRUE(commands(port, KnobKind::cc_param, value, value).empty());
}

TEST(KnobCommands, APortInANamespaceIsReachedThere) {
  Port port = mlx5_port();
  port.network_namespace = "blue";
  const KnobValue mtu(std::int64_t{9000});
  EXPECT_EQ(commands(port, KnobKind::mtu, mtu, mtu),
            (Lines{"ip netns exec blue ip link set dev eth0 mtu 9000"}));
  for (const char* unnamed : {"/proc/77/ns/net", "pid 77"}) {
    port.network_namespace = unnamed;
    EXPECT_EQ(commands(port, KnobKind::mtu, mtu, mtu),
              (Lines{"nsenter --net=/proc/77/ns/net ip link set dev eth0 mtu 9000"}));
  }
  port.network_namespace = "/proc/77/ns/net";
  EXPECT_EQ(commands(port, KnobKind::mtu, mtu, mtu),
            (Lines{"nsenter --net=/proc/77/ns/net ip link set dev eth0 mtu 9000"}));
  EXPECT_EQ(commands(port, KnobKind::cc_param, mtu, mtu).front().substr(0, 4), "echo");
}

TEST(KnobCommands, NoRdmaDeviceNoLine) {
  Port port = mlx5_port();
  port.rdma = absent("no RDMA device");
  const KnobValue tos(std::int64_t{106});
  EXPECT_EQ(commands(port, KnobKind::cm_default_tos, tos, tos), Lines{});
}

TEST(KnobCommands, OnlyDcbHidesARefusal) {
  EXPECT_TRUE(hides_refusal("dcb pfc set dev eth0 prio-pfc all:off 3:on"));
  EXPECT_TRUE(hides_refusal("ip netns exec blue dcb pfc set dev eth0 prio-pfc all:off 3:on"));
  EXPECT_FALSE(hides_refusal("ethtool -A eth0 rx off tx off"));
  EXPECT_FALSE(hides_refusal("ip link set dev dcb0 mtu 9000"));
}

}  // namespace
}  // namespace rocetune::host
