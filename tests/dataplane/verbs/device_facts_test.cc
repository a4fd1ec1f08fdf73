#include "dataplane/verbs/device_facts.h"

#include <gtest/gtest.h>

#include <cstring>

namespace rocetune::verbs {
namespace {

TEST(DeviceFacts, ZeroMeansTheDeviceCannotAndIsAbsent) {
  const DeviceFacts facts = device_facts(ibv_device_attr_ex{});
  EXPECT_FALSE(facts.odp);
  EXPECT_FALSE(facts.packet_pacing);
  EXPECT_FALSE(facts.ack_delay);
  EXPECT_FALSE(facts.device_memory);
  EXPECT_FALSE(facts.clock_khz);
  EXPECT_EQ(facts.atomics, AtomicScope::none);
  EXPECT_EQ(facts.mlx5, not_read());
}

TEST(DeviceFacts, AckDelayIsItsExponentTimes4096Nanoseconds) {
  ibv_device_attr_ex attributes{};
  attributes.orig_attr.local_ca_ack_delay = 16;
  EXPECT_EQ(device_facts(attributes).ack_delay, nanoseconds(4096) * 65536);
}

TEST(DeviceFacts, PacingRatesAreKilobits) {
  ibv_device_attr_ex attributes{};
  attributes.packet_pacing_caps = {
      .qp_rate_limit_min = 1, .qp_rate_limit_max = 100'000'000, .supported_qpts = 1U << IBV_QPT_RAW_PACKET};
  const auto pacing = device_facts(attributes).packet_pacing;
  ASSERT_TRUE(pacing);
  EXPECT_EQ(pacing->min, bits_per_second(1000));
  EXPECT_EQ(pacing->max, gigabits_per_second(100));
  EXPECT_TRUE(pacing->raw_packet);
  EXPECT_FALSE(pacing->rc);
}

TEST(DeviceFacts, OdpPerTransport) {
  ibv_device_attr_ex attributes{};
  attributes.odp_caps.general_caps = IBV_ODP_SUPPORT | IBV_ODP_SUPPORT_IMPLICIT;
  attributes.odp_caps.per_transport_caps.rc_odp_caps = IBV_ODP_SUPPORT_WRITE | IBV_ODP_SUPPORT_READ;
  const auto odp = device_facts(attributes).odp;
  ASSERT_TRUE(odp);
  EXPECT_TRUE(odp->implicit);
  EXPECT_EQ(odp->rc, (OdpOperations{.write = true, .read = true}));
  EXPECT_EQ(odp->ud, OdpOperations{});
}

TEST(DeviceFacts, FirmwareThatFillsItsFieldIsCutNotOverrun) {
  ibv_device_attr_ex attributes{};
  std::memset(attributes.orig_attr.fw_ver, '2', sizeof attributes.orig_attr.fw_ver);
  EXPECT_EQ(device_facts(attributes).firmware, std::string(sizeof attributes.orig_attr.fw_ver, '2'));
}

TEST(Mlx5Facts, AnswersTheDriverDidNotGiveAreAbsent) {
  mlx5dv_context context{};
  context.cqe_comp_caps.max_num = 64;
  context.num_lag_ports = 2;
  EXPECT_FALSE(mlx5_facts(context).cqe_compression_max);
  EXPECT_FALSE(mlx5_facts(context).lag_ports);
  context.comp_mask = MLX5DV_CONTEXT_MASK_CQE_COMPRESION | MLX5DV_CONTEXT_MASK_NUM_LAG_PORTS;
  EXPECT_EQ(mlx5_facts(context).cqe_compression_max, 64U);
  EXPECT_EQ(mlx5_facts(context).lag_ports, 2U);
}

TEST(Mlx5Facts, Flags) {
  mlx5dv_context context{};
  context.flags = MLX5DV_CONTEXT_FLAGS_CQE_128B_PAD | MLX5DV_CONTEXT_FLAGS_REAL_TIME_TS;
  const Mlx5Facts facts = mlx5_facts(context);
  EXPECT_TRUE(facts.cqe_128_byte_padding);
  EXPECT_TRUE(facts.real_time_timestamps);
  EXPECT_FALSE(facts.cqe_128_byte_compression);
  EXPECT_FALSE(facts.enhanced_multi_packet_wqe);
}

}  // namespace
}  // namespace rocetune::verbs
