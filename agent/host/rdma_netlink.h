// RDMA netlink (NETLINK_RDMA, RDMA_NL_NLDEV; include/uapi/rdma/rdma_netlink.h,
// drivers/infiniband/core/nldev.c): what `rdma dev`, `rdma link`, `rdma system` and `rdma statistic` show.
// Codec functions are pure on bytes.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "agent/host/netlink.h"
#include "dataplane/base/reflect.h"

namespace rocetune::host {

struct RdmaDeviceEntry {
  std::uint32_t index = 0;
  std::string name;
  std::uint32_t ports = 0;
  std::optional<std::string> firmware;
  std::optional<std::uint64_t> node_guid, system_image_guid;
  bool operator==(const RdmaDeviceEntry&) const = default;
  static constexpr void fields(auto&& visit, auto&... self) {
    visit("index", self.index...);
    visit("name", self.name...);
    visit("ports", self.ports...);
    visit("firmware", self.firmware...);
    visit("node_guid", self.node_guid...);
    visit("system_image_guid", self.system_image_guid...);
  }
};

struct RdmaLinkEntry {
  std::uint32_t device_index = 0;
  std::string device;
  std::uint32_t port = 0;
  std::optional<std::uint8_t> state;           // enum ib_port_state
  std::optional<std::uint8_t> physical_state;  // enum ib_port_phys_state
  std::optional<std::uint32_t> netdev_index;   // hidden if the netdev is in another namespace
  std::optional<std::string> netdev;
  bool operator==(const RdmaLinkEntry&) const = default;
  static constexpr void fields(auto&& visit, auto&... self) {
    visit("device_index", self.device_index...);
    visit("device", self.device...);
    visit("port", self.port...);
    visit("state", self.state...);
    visit("physical_state", self.physical_state...);
    visit("netdev_index", self.netdev_index...);
    visit("netdev", self.netdev...);
  }
};

// One hardware counter; optional ones (dynamic) exist but count only when switched on.
struct RdmaCounterStatus {
  std::string name;
  bool is_optional = false;
  bool is_on = true;
};

// ---- codec ----

NetlinkRequest rdma_devices_request();
NetlinkRequest rdma_links_request(std::uint32_t device_index);
NetlinkRequest rdma_system_request();
NetlinkRequest rdma_statistics_request(std::uint32_t device_index, std::uint32_t port);
NetlinkRequest rdma_statistics_status_request(std::uint32_t device_index, std::uint32_t port);

// `payload` is what follows nlmsghdr; errors: io for replies that lack what they must have.
Expected<RdmaDeviceEntry> parse_rdma_device(ByteSpan payload);
Expected<RdmaLinkEntry> parse_rdma_link(ByteSpan payload);
// Whether devices belong to one network namespace each ("exclusive"). Kernels before 5.3 do not say: absent.
Expected<bool> parse_rdma_namespaces_exclusive(ByteSpan payload);
Expected<std::map<std::string, std::uint64_t>> parse_rdma_statistics(ByteSpan payload);
Expected<std::vector<RdmaCounterStatus>> parse_rdma_statistics_status(ByteSpan payload);

// "ACTIVE", "DOWN", as the kernel's sysfs prints it without the number.
std::string_view rdma_state_text(std::uint8_t state);
std::string_view rdma_physical_state_text(std::uint8_t state);

// ---- conversation ----

class RdmaSocket {
 public:
  static Expected<RdmaSocket> open();
  // In exclusive mode only devices of the socket's namespace.
  Expected<std::vector<RdmaDeviceEntry>> devices();
  Expected<std::vector<RdmaLinkEntry>> links(std::uint32_t device_index);
  Expected<bool> namespaces_exclusive();
  // Hardware counters of one port, summed over all queue pairs; optional ones only while they are on.
  Expected<std::map<std::string, std::uint64_t>> statistics(std::uint32_t device_index, std::uint32_t port);
  // Errors: unsupported or absent on kernels before 5.16.
  Expected<std::vector<RdmaCounterStatus>> statistics_status(std::uint32_t device_index, std::uint32_t port);

 private:
  explicit RdmaSocket(NetlinkSocket socket) : socket_(std::move(socket)) {}
  NetlinkSocket socket_;
};

}  // namespace rocetune::host
