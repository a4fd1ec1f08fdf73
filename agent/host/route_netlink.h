// Links, addresses and routes by rtnetlink (include/uapi/linux/if_link.h, if_addr.h, rtnetlink.h). Parsing is
// pure on bytes; RouteSocket is the conversation.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "agent/host/model.h"
#include "agent/host/netlink.h"

namespace rocetune::host {

struct LinkEntry {
  int index = 0;
  std::string name;
  std::string kind;             // IFLA_INFO_KIND: "bond", "vlan", "veth"; "" for a NIC
  std::string slave_kind;       // IFLA_INFO_SLAVE_KIND: "bond" for its members
  bool is_ethernet = false;     // ARPHRD_ETHER
  bool admin_up = false;        // IFF_UP
  std::optional<bool> carrier;  // IFLA_CARRIER
  std::optional<std::uint64_t> carrier_changes;
  Bytes mtu;
  std::optional<Bytes> max_mtu;  // 0 from the kernel is absent
  std::optional<std::string> mac, permanent_mac;
  std::optional<int> master;                  // index of the bond or bridge it belongs to
  std::optional<int> lower;                   // IFLA_LINK of a VLAN or macvlan: index of what it stands on
  std::optional<std::string> phys_port_name;  // "p0", "pf0vf1"
  std::optional<std::string> phys_switch_id;  // hex
  std::optional<std::string> parent_bus, parent_device;  // "pci", "0000:03:00.0"; kernels from 5.14
  bool operator==(const LinkEntry&) const = default;
  static constexpr void fields(auto&& visit, auto&... self) {
    visit("index", self.index...);
    visit("name", self.name...);
    visit("kind", self.kind...);
    visit("slave_kind", self.slave_kind...);
    visit("is_ethernet", self.is_ethernet...);
    visit("admin_up", self.admin_up...);
    visit("carrier", self.carrier...);
    visit("carrier_changes", self.carrier_changes...);
    visit("mtu_bytes", self.mtu...);
    visit("max_mtu_bytes", self.max_mtu...);
    visit("mac", self.mac...);
    visit("permanent_mac", self.permanent_mac...);
    visit("master", self.master...);
    visit("lower", self.lower...);
    visit("phys_port_name", self.phys_port_name...);
    visit("phys_switch_id", self.phys_switch_id...);
    visit("parent_bus", self.parent_bus...);
    visit("parent_device", self.parent_device...);
  }
};

struct AddressEntry {
  int index = 0;        // of the link
  std::string address;  // "10.0.0.1/24", "fe80::1/64"
  bool operator==(const AddressEntry&) const = default;
  static constexpr void fields(auto&& visit, auto&... self) {
    visit("index", self.index...);
    visit("address", self.address...);
  }
};

// One unicast route of the main table; a multipath route becomes one entry per next hop.
struct RouteEntry {
  std::string destination;  // "0.0.0.0/0" and "::/0" are default routes
  int index = 0;            // of the link it leaves by
  std::uint32_t metric = 0;
  bool has_gateway = false;  // RTA_GATEWAY or RTA_VIA
  bool operator==(const RouteEntry&) const = default;
  static constexpr void fields(auto&& visit, auto&... self) {
    visit("destination", self.destination...);
    visit("index", self.index...);
    visit("metric", self.metric...);
    visit("has_gateway", self.has_gateway...);
  }
};

NetlinkRequest links_request();
NetlinkRequest addresses_request();
NetlinkRequest routes_request();

// `payload` is what follows nlmsghdr. Errors: io for a message cut short.
Expected<LinkEntry> parse_link(ByteSpan payload);
Expected<AddressEntry> parse_address(ByteSpan payload);
// Nothing for routes that are not unicast or not of the main table.
Expected<std::vector<RouteEntry>> parse_route(ByteSpan payload);

class RouteSocket {
 public:
  static Expected<RouteSocket> open();
  Expected<std::vector<LinkEntry>> links();
  Expected<std::vector<AddressEntry>> addresses();
  Expected<std::vector<RouteEntry>> routes();
  // IFLA_MTU. Errors: bad_input if the driver's range does not hold it, with the kernel's words.
  Expected<> set_mtu(const std::string& port, Bytes mtu);
  // IFF_UP on or off.
  Expected<> set_admin_up(const std::string& port, bool up);

 private:
  explicit RouteSocket(NetlinkSocket socket) : socket_(std::move(socket)) {}
  NetlinkSocket socket_;
};

}  // namespace rocetune::host
