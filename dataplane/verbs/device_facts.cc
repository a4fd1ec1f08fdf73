#include "dataplane/verbs/device_facts.h"

#include <cstring>

namespace rocetune::verbs {
namespace {

AtomicScope atomic_scope(ibv_atomic_cap capability) {
  switch (capability) {
    case IBV_ATOMIC_HCA:
      return AtomicScope::device;
    case IBV_ATOMIC_GLOB:
      return AtomicScope::host;
    default:
      return AtomicScope::none;
  }
}

OdpOperations odp_operations(std::uint32_t caps) {
  return {.send = (caps & IBV_ODP_SUPPORT_SEND) != 0,
          .receive = (caps & IBV_ODP_SUPPORT_RECV) != 0,
          .write = (caps & IBV_ODP_SUPPORT_WRITE) != 0,
          .read = (caps & IBV_ODP_SUPPORT_READ) != 0,
          .atomic = (caps & IBV_ODP_SUPPORT_ATOMIC) != 0,
          .shared_receive = (caps & IBV_ODP_SUPPORT_SRQ_RECV) != 0};
}

std::optional<Odp> odp(const ibv_odp_caps& caps) {
  if ((caps.general_caps & IBV_ODP_SUPPORT) == 0) return std::nullopt;
  return Odp{.implicit = (caps.general_caps & IBV_ODP_SUPPORT_IMPLICIT) != 0,
             .rc = odp_operations(caps.per_transport_caps.rc_odp_caps),
             .uc = odp_operations(caps.per_transport_caps.uc_odp_caps),
             .ud = odp_operations(caps.per_transport_caps.ud_odp_caps)};
}

std::optional<PacketPacing> packet_pacing(const ibv_packet_pacing_caps& caps) {
  if (caps.qp_rate_limit_max == 0) return std::nullopt;
  const auto supports = [&](ibv_qp_type type) { return (caps.supported_qpts & (1U << type)) != 0; };
  constexpr std::int64_t kKilobit = 1000;  // the interface counts in kb/s
  return PacketPacing{.min = BitRate(caps.qp_rate_limit_min * kKilobit),
                      .max = BitRate(caps.qp_rate_limit_max * kKilobit),
                      .rc = supports(IBV_QPT_RC),
                      .ud = supports(IBV_QPT_UD),
                      .raw_packet = supports(IBV_QPT_RAW_PACKET)};
}

// InfiniBand specification, local_ca_ack_delay: 4.096 us * 2^n; 0 = the device does not say.
std::optional<Duration> ack_delay(std::uint8_t exponent) {
  if (exponent == 0 || exponent > 31) return std::nullopt;
  constexpr std::int64_t kUnitPs = 4'096'000;
  return Duration(kUnitPs << exponent);
}

}  // namespace

DeviceFacts device_facts(const ibv_device_attr_ex& attributes) {
  const ibv_device_attr& basic = attributes.orig_attr;
  DeviceFacts facts;
  facts.firmware.assign(basic.fw_ver, strnlen(basic.fw_ver, sizeof basic.fw_ver));
  facts.vendor_id = basic.vendor_id;
  facts.vendor_part_id = basic.vendor_part_id;
  facts.hardware_version = basic.hw_ver;
  facts.max_qp = basic.max_qp;
  facts.max_qp_wr = basic.max_qp_wr;
  facts.max_sge = basic.max_sge;
  facts.max_cq = basic.max_cq;
  facts.max_cqe = basic.max_cqe;
  facts.max_srq = basic.max_srq;
  facts.max_mr = basic.max_mr;
  facts.max_pd = basic.max_pd;
  facts.max_ah = basic.max_ah;
  facts.max_mr_size = basic.max_mr_size;
  facts.max_outstanding_reads = basic.max_qp_rd_atom;
  facts.max_initiated_reads = basic.max_qp_init_rd_atom;
  facts.ack_delay = ack_delay(basic.local_ca_ack_delay);
  facts.atomics = atomic_scope(basic.atomic_cap);
  const ibv_pci_atomic_caps& pci = attributes.pci_atomic_caps;
  facts.pci_atomics =
      (pci.fetch_add | pci.swap | pci.compare_swap) != 0 ? AtomicScope::host : AtomicScope::none;
  facts.memory_windows = (basic.device_cap_flags & IBV_DEVICE_MEM_WINDOW) != 0;
  facts.hardware_timestamps = attributes.completion_timestamp_mask != 0;
  if (attributes.hca_core_clock != 0) facts.clock_khz = attributes.hca_core_clock;
  if (attributes.max_dm_size != 0) {
    facts.device_memory = Bytes(static_cast<std::int64_t>(attributes.max_dm_size));
  }
  facts.odp = odp(attributes.odp_caps);
  facts.packet_pacing = packet_pacing(attributes.packet_pacing_caps);
  return facts;
}

Mlx5Facts mlx5_facts(const mlx5dv_context& context) {
  const auto has = [&](std::uint64_t flag) { return (context.flags & flag) != 0; };
  Mlx5Facts facts;
  if ((context.comp_mask & MLX5DV_CONTEXT_MASK_CQE_COMPRESION) != 0 && context.cqe_comp_caps.max_num != 0) {
    facts.cqe_compression_max = context.cqe_comp_caps.max_num;
  }
  if ((context.comp_mask & MLX5DV_CONTEXT_MASK_NUM_LAG_PORTS) != 0) facts.lag_ports = context.num_lag_ports;
  facts.cqe_128_byte_compression = has(MLX5DV_CONTEXT_FLAGS_CQE_128B_COMP);
  facts.cqe_128_byte_padding = has(MLX5DV_CONTEXT_FLAGS_CQE_128B_PAD);
  facts.enhanced_multi_packet_wqe = has(MLX5DV_CONTEXT_FLAGS_ENHANCED_MPW);
  facts.packet_based_credits = has(MLX5DV_CONTEXT_FLAGS_PACKET_BASED_CREDIT_MODE);
  facts.real_time_timestamps = has(MLX5DV_CONTEXT_FLAGS_REAL_TIME_TS);
  return facts;
}

}  // namespace rocetune::verbs
