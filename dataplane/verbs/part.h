// The verbs part as its users see it: what an RDMA device can do, as plain values. No verbs header here.
// Source: ibv_query_device_ex(3), mlx5dv_query_device(3).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "congestion/units.h"
#include "dataplane/base/observed.h"
#include "dataplane/base/part.h"
#include "dataplane/base/reflect.h"

namespace rocetune::verbs {

// Atomic operations are atomic against: nothing, other queue pairs of this device, everything in the host.
enum class AtomicScope { none, device, host };

// Which operations of one transport may fault pages in on demand.
struct OdpOperations {
  bool send = false, receive = false, write = false, read = false, atomic = false, shared_receive = false;
  bool operator==(const OdpOperations&) const = default;
  static constexpr auto fields() {
    return std::tuple{
        field("send", &OdpOperations::send),     field("receive", &OdpOperations::receive),
        field("write", &OdpOperations::write),   field("read", &OdpOperations::read),
        field("atomic", &OdpOperations::atomic), field("shared_receive", &OdpOperations::shared_receive)};
  }
};

// On-demand paging: memory regions that need not be pinned.
struct Odp {
  bool implicit = false;  // one region for the whole address space
  OdpOperations rc, uc, ud;
  bool operator==(const Odp&) const = default;
  static constexpr auto fields() {
    return std::tuple{field("implicit", &Odp::implicit), field("rc", &Odp::rc), field("uc", &Odp::uc),
                      field("ud", &Odp::ud)};
  }
};

// Rate limits a queue pair can be given.
struct PacketPacing {
  BitRate min, max;
  bool rc = false, ud = false, raw_packet = false;  // for which queue pair types
  bool operator==(const PacketPacing&) const = default;
  static constexpr auto fields() {
    return std::tuple{field("min_bps", &PacketPacing::min), field("max_bps", &PacketPacing::max),
                      field("rc", &PacketPacing::rc), field("ud", &PacketPacing::ud),
                      field("raw_packet", &PacketPacing::raw_packet)};
  }
};

// What only mlx5's direct verbs tell.
struct Mlx5Facts {
  std::optional<std::uint32_t> cqe_compression_max;  // completions in one compressed entry; absent = cannot
  bool cqe_128_byte_compression = false;
  bool cqe_128_byte_padding = false;
  bool enhanced_multi_packet_wqe = false;
  bool packet_based_credits = false;
  bool real_time_timestamps = false;
  std::optional<std::uint32_t>
      lag_ports;  // ports of the bond behind this device; absent = the driver does not say
  bool operator==(const Mlx5Facts&) const = default;
  static constexpr auto fields() {
    return std::tuple{field("cqe_compression_max", &Mlx5Facts::cqe_compression_max),
                      field("cqe_128_byte_compression", &Mlx5Facts::cqe_128_byte_compression),
                      field("cqe_128_byte_padding", &Mlx5Facts::cqe_128_byte_padding),
                      field("enhanced_multi_packet_wqe", &Mlx5Facts::enhanced_multi_packet_wqe),
                      field("packet_based_credits", &Mlx5Facts::packet_based_credits),
                      field("real_time_timestamps", &Mlx5Facts::real_time_timestamps),
                      field("lag_ports", &Mlx5Facts::lag_ports)};
  }
};

struct DeviceFacts {
  std::string firmware;
  std::uint32_t vendor_id = 0, vendor_part_id = 0, hardware_version = 0;
  std::int64_t max_qp = 0, max_qp_wr = 0, max_sge = 0;
  std::int64_t max_cq = 0, max_cqe = 0, max_srq = 0;
  std::int64_t max_mr = 0, max_pd = 0, max_ah = 0;
  std::uint64_t max_mr_size = 0;           // bytes; UINT64_MAX = the device sets no limit
  std::int64_t max_outstanding_reads = 0;  // READ and atomic requests a QP accepts as responder
  std::int64_t max_initiated_reads = 0;    // READ and atomic requests a QP may have in flight
  std::optional<Duration> ack_delay;       // the device's own part of the ACK timeout: 4.096 us * 2^n
  AtomicScope atomics = AtomicScope::none;
  AtomicScope pci_atomics = AtomicScope::none;  // none or host: the device can do atomics over PCIe
  bool memory_windows = false;
  bool hardware_timestamps = false;
  std::optional<std::uint64_t> clock_khz;     // of the completion timestamps
  std::optional<Bytes> device_memory;         // allocatable on the NIC
  std::optional<Odp> odp;                     // absent = no on-demand paging
  std::optional<PacketPacing> packet_pacing;  // absent = no rate limits
  // absent = not an mlx5 device; failed = mlx5 and the question was refused.
  Observed<Mlx5Facts> mlx5 = not_read();
  bool operator==(const DeviceFacts&) const = default;
  static constexpr auto fields() {
    return std::tuple{field("firmware", &DeviceFacts::firmware),
                      field("vendor_id", &DeviceFacts::vendor_id),
                      field("vendor_part_id", &DeviceFacts::vendor_part_id),
                      field("hardware_version", &DeviceFacts::hardware_version),
                      field("max_qp", &DeviceFacts::max_qp),
                      field("max_qp_wr", &DeviceFacts::max_qp_wr),
                      field("max_sge", &DeviceFacts::max_sge),
                      field("max_cq", &DeviceFacts::max_cq),
                      field("max_cqe", &DeviceFacts::max_cqe),
                      field("max_srq", &DeviceFacts::max_srq),
                      field("max_mr", &DeviceFacts::max_mr),
                      field("max_pd", &DeviceFacts::max_pd),
                      field("max_ah", &DeviceFacts::max_ah),
                      field("max_mr_size_bytes", &DeviceFacts::max_mr_size),
                      field("max_outstanding_reads", &DeviceFacts::max_outstanding_reads),
                      field("max_initiated_reads", &DeviceFacts::max_initiated_reads),
                      field("ack_delay_ps", &DeviceFacts::ack_delay),
                      field("atomics", &DeviceFacts::atomics),
                      field("pci_atomics", &DeviceFacts::pci_atomics),
                      field("memory_windows", &DeviceFacts::memory_windows),
                      field("hardware_timestamps", &DeviceFacts::hardware_timestamps),
                      field("clock_khz", &DeviceFacts::clock_khz),
                      field("device_memory_bytes", &DeviceFacts::device_memory),
                      field("odp", &DeviceFacts::odp),
                      field("packet_pacing", &DeviceFacts::packet_pacing),
                      field("mlx5", &DeviceFacts::mlx5)};
  }
};

struct Device {
  std::string name;  // "mlx5_0"
  // denied = no access to /dev/infiniband/uverbsN; failed = no user-space driver, or the device refused.
  Observed<DeviceFacts> facts = not_read();
  bool operator==(const Device&) const = default;
  static constexpr auto fields() {
    return std::tuple{field("name", &Device::name), field("facts", &Device::facts)};
  }
};

class VerbsPart {
 public:
  static constexpr PartContract kContract{"verbs", 1};
  // Every RDMA device that user space can see, by name. Opens each device and closes it again; creates
  // nothing on it. Errors: absent = this kernel has no RDMA user interface.
  virtual Expected<std::vector<Device>> devices() = 0;

 protected:
  ~VerbsPart() = default;
};

}  // namespace rocetune::verbs

namespace rocetune {
ROCETUNE_ENUM(verbs::AtomicScope, P{E::none, "none"}, P{E::device, "device"}, P{E::host, "host"});
}  // namespace rocetune
