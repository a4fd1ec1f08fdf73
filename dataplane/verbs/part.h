// The verbs part as its users see it: what an RDMA device can do, as plain values; and the RoCE packets of
// its own ports. No verbs header here.
// Source: ibv_query_device_ex(3), mlx5dv_query_device(3).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "congestion/units.h"
#include "dataplane/base/observed.h"
#include "dataplane/base/part.h"
#include "dataplane/base/reflect.h"
#include "dataplane/wire/bytes.h"

namespace rocetune::verbs {

// Atomic operations are atomic against: nothing, other queue pairs of this device, everything in the host.
enum class AtomicScope { none, device, host };

// Which operations of one transport may fault pages in on demand.
struct OdpOperations {
  bool send = false, receive = false, write = false, read = false, atomic = false, shared_receive = false;
  bool operator==(const OdpOperations&) const = default;
  static constexpr void fields(auto&& visit, auto&... self) {
    visit("send", self.send...);
    visit("receive", self.receive...);
    visit("write", self.write...);
    visit("read", self.read...);
    visit("atomic", self.atomic...);
    visit("shared_receive", self.shared_receive...);
  }
};

// On-demand paging: memory regions that need not be pinned.
struct Odp {
  bool implicit = false;  // one region for the whole address space
  OdpOperations rc, uc, ud;
  bool operator==(const Odp&) const = default;
  static constexpr void fields(auto&& visit, auto&... self) {
    visit("implicit", self.implicit...);
    visit("rc", self.rc...);
    visit("uc", self.uc...);
    visit("ud", self.ud...);
  }
};

// Rate limits a queue pair can be given.
struct PacketPacing {
  BitRate min, max;
  bool rc = false, ud = false, raw_packet = false;  // for which queue pair types
  bool operator==(const PacketPacing&) const = default;
  static constexpr void fields(auto&& visit, auto&... self) {
    visit("min_bps", self.min...);
    visit("max_bps", self.max...);
    visit("rc", self.rc...);
    visit("ud", self.ud...);
    visit("raw_packet", self.raw_packet...);
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
  static constexpr void fields(auto&& visit, auto&... self) {
    visit("cqe_compression_max", self.cqe_compression_max...);
    visit("cqe_128_byte_compression", self.cqe_128_byte_compression...);
    visit("cqe_128_byte_padding", self.cqe_128_byte_padding...);
    visit("enhanced_multi_packet_wqe", self.enhanced_multi_packet_wqe...);
    visit("packet_based_credits", self.packet_based_credits...);
    visit("real_time_timestamps", self.real_time_timestamps...);
    visit("lag_ports", self.lag_ports...);
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
  static constexpr void fields(auto&& visit, auto&... self) {
    visit("firmware", self.firmware...);
    visit("vendor_id", self.vendor_id...);
    visit("vendor_part_id", self.vendor_part_id...);
    visit("hardware_version", self.hardware_version...);
    visit("max_qp", self.max_qp...);
    visit("max_qp_wr", self.max_qp_wr...);
    visit("max_sge", self.max_sge...);
    visit("max_cq", self.max_cq...);
    visit("max_cqe", self.max_cqe...);
    visit("max_srq", self.max_srq...);
    visit("max_mr", self.max_mr...);
    visit("max_pd", self.max_pd...);
    visit("max_ah", self.max_ah...);
    visit("max_mr_size_bytes", self.max_mr_size...);
    visit("max_outstanding_reads", self.max_outstanding_reads...);
    visit("max_initiated_reads", self.max_initiated_reads...);
    visit("ack_delay_ps", self.ack_delay...);
    visit("atomics", self.atomics...);
    visit("pci_atomics", self.pci_atomics...);
    visit("memory_windows", self.memory_windows...);
    visit("hardware_timestamps", self.hardware_timestamps...);
    visit("clock_khz", self.clock_khz...);
    visit("device_memory_bytes", self.device_memory...);
    visit("odp", self.odp...);
    visit("packet_pacing", self.packet_pacing...);
    visit("mlx5", self.mlx5...);
  }
};

struct Device {
  std::string name;  // "mlx5_0"
  // denied = no access to /dev/infiniband/uverbsN; failed = no user-space driver, or the device refused.
  Observed<DeviceFacts> facts = not_read();
  bool operator==(const Device&) const = default;
  static constexpr void fields(auto&& visit, auto&... self) {
    visit("name", self.name...);
    visit("facts", self.facts...);
  }
};

// A frame lent by a sniffer: from the destination address on. Valid until it is released.
struct SniffedFrame {
  wire::ConstBytes bytes;
  std::uint32_t slot = 0;  // the sniffer's own handle
};

struct SnifferCounters {
  std::uint64_t frames = 0;
  std::uint64_t errors = 0;  // completions that brought no frame
};

// Receives copies of the RoCE packets that this host's own port sends and receives, which no packet socket
// sees. Used by one thread.
class Sniffer {
 public:
  virtual ~Sniffer() = default;
  // Up to in.size() frames, oldest first; how many. Does not wait.
  virtual std::size_t receive(std::span<SniffedFrame> in) = 0;
  virtual void release(std::span<const SniffedFrame> done) = 0;
  // Nothing if the port's answer has no known meaning.
  virtual std::optional<BitRate> link_speed() const = 0;
  virtual const SnifferCounters& counters() const = 0;
};

struct SniffRequest {
  std::string device;     // "mlx5_0"
  std::uint8_t port = 1;  // from 1
};

class VerbsPart {
 public:
  static constexpr PartContract kContract{"verbs", 2};
  // Every RDMA device that user space can see, by name. Opens each device and closes it again; creates
  // nothing on it. Errors: absent = this kernel has no RDMA user interface.
  virtual Expected<std::vector<Device>> devices() = 0;
  // Starts to mirror the port's RoCE packets to this process; ends with the sniffer. Changes no traffic.
  // Errors: absent (no such device or port, or no RDMA user interface), denied (CAP_NET_RAW, device node),
  // unsupported (no Ethernet link, no raw packet queue pairs, no mirroring), io.
  // Source: ibv_create_flow(3), IBV_FLOW_ATTR_SNIFFER; Linux hw/mlx5/fs.c (create_sniffer_rule).
  virtual Expected<std::unique_ptr<Sniffer>> sniff(const SniffRequest& request) = 0;

 protected:
  ~VerbsPart() = default;
};

}  // namespace rocetune::verbs

namespace rocetune {
ROCETUNE_ENUM(verbs::AtomicScope, P{E::none, "none"}, P{E::device, "device"}, P{E::host, "host"});
}  // namespace rocetune
