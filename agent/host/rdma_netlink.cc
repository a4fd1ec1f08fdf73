#include "agent/host/rdma_netlink.h"

#include <linux/netlink.h>
#include <rdma/rdma_netlink.h>

namespace rocetune::host {
namespace {

NetlinkRequest nldev_request(std::uint16_t command, std::uint16_t flags) {
  return {static_cast<std::uint16_t>(RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, command)), flags};
}

std::optional<std::string> text_of(ByteSpan payload, std::uint16_t type) {
  const auto found = find_attribute(payload, type);
  if (!found) return std::nullopt;
  return found->as_string();
}

// Calls visit with each counter entry of a statistics reply. Error: io if there is no counter table.
Expected<> for_each_counter(ByteSpan payload, const std::function<void(ByteSpan entry)>& visit) {
  const auto table = find_attribute(payload, RDMA_NLDEV_ATTR_STAT_HWCOUNTERS);
  if (!table) return fail(ErrorKind::io, "RDMA statistics reply without counters");
  const bool whole = for_each_attribute(table->payload, [&](const NetlinkAttribute& entry) {
    if (entry.type == RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY) visit(entry.payload);
  });
  if (!whole) return fail(ErrorKind::io, "malformed RDMA statistics reply");
  return {};
}

}  // namespace

NetlinkRequest rdma_devices_request() { return nldev_request(RDMA_NLDEV_CMD_GET, NLM_F_DUMP); }

NetlinkRequest rdma_links_request(std::uint32_t device_index) {
  NetlinkRequest request = nldev_request(RDMA_NLDEV_CMD_PORT_GET, NLM_F_DUMP);
  request.put(RDMA_NLDEV_ATTR_DEV_INDEX, device_index);
  return request;
}

NetlinkRequest rdma_system_request() { return nldev_request(RDMA_NLDEV_CMD_SYS_GET, 0); }

NetlinkRequest rdma_statistics_request(std::uint32_t device_index, std::uint32_t port) {
  NetlinkRequest request = nldev_request(RDMA_NLDEV_CMD_STAT_GET, 0);
  request.put(RDMA_NLDEV_ATTR_DEV_INDEX, device_index).put(RDMA_NLDEV_ATTR_PORT_INDEX, port);
  return request;
}

NetlinkRequest rdma_statistics_status_request(std::uint32_t device_index, std::uint32_t port) {
  NetlinkRequest request = nldev_request(RDMA_NLDEV_CMD_STAT_GET_STATUS, 0);
  request.put(RDMA_NLDEV_ATTR_DEV_INDEX, device_index).put(RDMA_NLDEV_ATTR_PORT_INDEX, port);
  return request;
}

Expected<RdmaDeviceEntry> parse_rdma_device(ByteSpan payload) {
  const auto index = attribute_as<std::uint32_t>(payload, RDMA_NLDEV_ATTR_DEV_INDEX);
  const auto name = text_of(payload, RDMA_NLDEV_ATTR_DEV_NAME);
  if (!index || !name) return fail(ErrorKind::io, "RDMA device reply without index or name");
  RdmaDeviceEntry out{.index = *index, .name = *name};
  out.ports = attribute_as<std::uint32_t>(payload, RDMA_NLDEV_ATTR_PORT_INDEX).value_or(0);
  out.firmware = text_of(payload, RDMA_NLDEV_ATTR_FW_VERSION);
  if (out.firmware && out.firmware->empty()) out.firmware.reset();
  out.node_guid = attribute_as<std::uint64_t>(payload, RDMA_NLDEV_ATTR_NODE_GUID);
  out.system_image_guid = attribute_as<std::uint64_t>(payload, RDMA_NLDEV_ATTR_SYS_IMAGE_GUID);
  return out;
}

Expected<RdmaLinkEntry> parse_rdma_link(ByteSpan payload) {
  const auto index = attribute_as<std::uint32_t>(payload, RDMA_NLDEV_ATTR_DEV_INDEX);
  const auto name = text_of(payload, RDMA_NLDEV_ATTR_DEV_NAME);
  const auto port = attribute_as<std::uint32_t>(payload, RDMA_NLDEV_ATTR_PORT_INDEX);
  if (!index || !name || !port) return fail(ErrorKind::io, "RDMA link reply without device or port");
  return RdmaLinkEntry{.device_index = *index,
                       .device = *name,
                       .port = *port,
                       .state = attribute_as<std::uint8_t>(payload, RDMA_NLDEV_ATTR_PORT_STATE),
                       .physical_state = attribute_as<std::uint8_t>(payload, RDMA_NLDEV_ATTR_PORT_PHYS_STATE),
                       .netdev_index = attribute_as<std::uint32_t>(payload, RDMA_NLDEV_ATTR_NDEV_INDEX),
                       .netdev = text_of(payload, RDMA_NLDEV_ATTR_NDEV_NAME)};
}

Expected<bool> parse_rdma_namespaces_exclusive(ByteSpan payload) {
  const auto shared = attribute_as<std::uint8_t>(payload, RDMA_NLDEV_SYS_ATTR_NETNS_MODE);
  if (!shared) return fail(ErrorKind::absent, "this kernel does not report the RDMA namespace mode");
  return *shared == 0;
}

Expected<std::map<std::string, std::uint64_t>> parse_rdma_statistics(ByteSpan payload) {
  std::map<std::string, std::uint64_t> out;
  auto status = for_each_counter(payload, [&](ByteSpan entry) {
    const auto name = text_of(entry, RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY_NAME);
    const auto value = attribute_as<std::uint64_t>(entry, RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY_VALUE);
    if (name && value) out.emplace(*name, *value);
  });
  if (!status) return tl::unexpected(status.error());
  return out;
}

Expected<std::vector<RdmaCounterStatus>> parse_rdma_statistics_status(ByteSpan payload) {
  std::vector<RdmaCounterStatus> out;
  auto status = for_each_counter(payload, [&](ByteSpan entry) {
    const auto name = text_of(entry, RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY_NAME);
    const auto dynamic = attribute_as<std::uint8_t>(entry, RDMA_NLDEV_ATTR_STAT_HWCOUNTER_DYNAMIC);
    if (name) out.push_back({*name, dynamic.has_value(), dynamic.value_or(1) != 0});
  });
  if (!status) return tl::unexpected(status.error());
  return out;
}

std::string_view rdma_state_text(std::uint8_t state) {
  switch (state) {
    case 0:
      return "NOP";
    case 1:
      return "DOWN";
    case 2:
      return "INIT";
    case 3:
      return "ARMED";
    case 4:
      return "ACTIVE";
    case 5:
      return "ACTIVE_DEFER";
    default:
      return "UNKNOWN";
  }
}

std::string_view rdma_physical_state_text(std::uint8_t state) {
  switch (state) {
    case 1:
      return "Sleep";
    case 2:
      return "Polling";
    case 3:
      return "Disabled";
    case 4:
      return "PortConfigurationTraining";
    case 5:
      return "LinkUp";
    case 6:
      return "LinkErrorRecovery";
    case 7:
      return "Phy Test";
    default:
      return "<unknown>";
  }
}

Expected<RdmaSocket> RdmaSocket::open() {
  auto socket = NetlinkSocket::open(NETLINK_RDMA);
  if (!socket && socket.error().kind() == ErrorKind::unsupported) {
    return fail(ErrorKind::unsupported, "this kernel has no RDMA (ib_core is not loaded)");
  }
  if (!socket) return tl::unexpected(socket.error());
  return RdmaSocket(std::move(*socket));
}

Expected<std::vector<RdmaDeviceEntry>> RdmaSocket::devices() {
  return parse_replies(socket_.exchange(rdma_devices_request()), parse_rdma_device);
}

Expected<std::vector<RdmaLinkEntry>> RdmaSocket::links(std::uint32_t device_index) {
  return parse_replies(socket_.exchange(rdma_links_request(device_index)), parse_rdma_link);
}

Expected<bool> RdmaSocket::namespaces_exclusive() {
  return parse_reply(socket_.exchange(rdma_system_request()), parse_rdma_namespaces_exclusive);
}

Expected<std::map<std::string, std::uint64_t>> RdmaSocket::statistics(std::uint32_t device_index,
                                                                      std::uint32_t port) {
  return parse_reply(socket_.exchange(rdma_statistics_request(device_index, port)), parse_rdma_statistics);
}

Expected<std::vector<RdmaCounterStatus>> RdmaSocket::statistics_status(std::uint32_t device_index,
                                                                       std::uint32_t port) {
  return parse_reply(socket_.exchange(rdma_statistics_status_request(device_index, port)),
                     parse_rdma_statistics_status);
}

}  // namespace rocetune::host
