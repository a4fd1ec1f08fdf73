// The kernel's log (dmesg, journalctl -k, syslog lines of the kernel): what NIC drivers, PCIe, the IOMMU and
// the RDMA core say. Of each kind only the first lines are kept, and how many there were.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "agent/evidence/format.h"

namespace rocetune::evidence {

enum class KernelEvent {
  pcie_bandwidth,   // "63.008 Gb/s available PCIe bandwidth, limited by ..."
  aer_corrected,    // PCIe bus error that the link repaired
  aer_uncorrected,  // one that it did not
  iommu_fault,      // DMAR fault, AMD-Vi IO_PAGE_FAULT, SMMU event
  gid_refused,      // "GID add failed", SET_ROCE_ADDRESS fails, "can't delete gid"
  address_handle,   // "Failed to allocate HW AH"
  link_down,
  link_up,
  module_trouble,    // the optical module: unplugged, error, too hot
  firmware_trouble,  // health counter stopped, fatal error, command timeout
  peer_memory,       // nvidia_peermem or its kin refuses to load or register
  symbol_mismatch,   // "disagrees about version of symbol", "Unknown symbol"
  probe_failed,      // a NIC's or RDMA driver did not bind
  traffic_classes,   // "Too many traffic classes requested"
  connect_failed,    // "rdma_connect failed (-14)", "rdma connection establishment failed"
  hypervisor,        // "Hypervisor detected: KVM"
  iommu_mode,        // "iommu: Default domain type: Translated"
  error_completion,  // "dump error cqe"
};
inline constexpr std::size_t kKernelEvents = 18;

struct KernelLine {
  int line = 0;
  std::optional<double> time_s;  // since boot; absent where the line shows none or wall clock
  std::string device;            // PCI address or netdev or RDMA device that it is about; may be empty
  std::string text;              // at most 240 bytes
};

struct KernelEvents {
  std::uint64_t count = 0;
  std::vector<KernelLine> lines;  // the first kKernelLinesKept
};
inline constexpr std::size_t kKernelLinesKept = 16;

// What "available PCIe bandwidth" says of one device.
struct PcieBandwidth {
  std::string device;
  double available_gbps = 0, capable_gbps = 0;
  std::string limited_at;  // the bridge
  std::string limited_by;  // "8.0 GT/s PCIe x8 link"
  int line = 0;
};

// Ups and downs of one port: a down that follows an up.
struct LinkFlaps {
  int flaps = 0;
  bool is_up = false;
  int first_line = 0;
  std::string first_text;
};

// An error completion as the kernel dumps it (struct mlx5_err_cqe).
struct DumpedCompletion {
  unsigned syndrome = 0, vendor_syndrome = 0, qpn = 0;
  int line = 0;
};

struct KernelLog {
  std::array<KernelEvents, kKernelEvents> events;
  std::vector<PcieBandwidth> bandwidths;
  std::map<std::string, LinkFlaps> flaps;  // by device
  std::optional<DumpedCompletion> completion;
  std::string hypervisor;  // "KVM"; empty: the log does not say
  std::string iommu;       // "translating", "passthrough"; empty: not said

  const KernelEvents& of(KernelEvent kind) const { return events[static_cast<std::size_t>(kind)]; }
};

Format kernel_log_format();

}  // namespace rocetune::evidence
