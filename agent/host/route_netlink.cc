#include "agent/host/route_netlink.h"

#include <arpa/inet.h>
#include <linux/if.h>
#include <linux/if_arp.h>
#include <linux/if_link.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>

namespace rocetune::host {
namespace {

std::string hex(ByteSpan bytes, std::string_view separator) {
  std::string out;
  for (const std::byte b : bytes) {
    out += fmt::format("{}{:02x}", out.empty() ? "" : separator, std::to_integer<int>(b));
  }
  return out;
}

// Empty if the family is not an internet one or the address is cut short.
std::string address_text(int family, ByteSpan address) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  const std::size_t size = family == AF_INET ? 4 : 16;
  if ((family != AF_INET && family != AF_INET6) || address.size() < size) return "";
  if (inet_ntop(family, address.data(), text.data(), text.size()) == nullptr) return "";
  return text.data();
}

std::optional<std::string> mac_of(const NetlinkAttribute& attribute) {
  if (attribute.payload.size() != 6) return std::nullopt;
  return hex(attribute.payload, ":");
}

void read_link_attribute(const NetlinkAttribute& attribute, LinkEntry& link) {
  switch (attribute.type) {
    case IFLA_IFNAME:
      link.name = attribute.as_string();
      break;
    case IFLA_MTU:
      link.mtu = Bytes(attribute.as<std::uint32_t>().value_or(0));
      break;
    case IFLA_MAX_MTU:
      if (const auto mtu = attribute.as<std::uint32_t>().value_or(0); mtu != 0) link.max_mtu = Bytes(mtu);
      break;
    case IFLA_ADDRESS:
      link.mac = mac_of(attribute);
      break;
    case IFLA_PERM_ADDRESS:
      link.permanent_mac = mac_of(attribute);
      break;
    case IFLA_MASTER:
      link.master = attribute.as<int>();
      break;
    case IFLA_LINK:
      link.lower = attribute.as<int>();
      break;
    case IFLA_CARRIER:
      if (const auto carrier = attribute.as<std::uint8_t>()) link.carrier = *carrier != 0;
      break;
    case IFLA_CARRIER_CHANGES:
      if (const auto changes = attribute.as<std::uint32_t>()) link.carrier_changes = *changes;
      break;
    case IFLA_PHYS_PORT_NAME:
      link.phys_port_name = attribute.as_string();
      break;
    case IFLA_PHYS_SWITCH_ID:
      link.phys_switch_id = hex(attribute.payload, "");
      break;
    case IFLA_PARENT_DEV_NAME:
      link.parent_device = attribute.as_string();
      break;
    case IFLA_PARENT_DEV_BUS_NAME:
      link.parent_bus = attribute.as_string();
      break;
    case IFLA_LINKINFO:
      if (const auto kind = find_attribute(attribute.payload, IFLA_INFO_KIND)) link.kind = kind->as_string();
      if (const auto kind = find_attribute(attribute.payload, IFLA_INFO_SLAVE_KIND)) {
        link.slave_kind = kind->as_string();
      }
      break;
    default:
      break;
  }
}

std::vector<int> next_hops(ByteSpan multipath) {
  std::vector<int> out;
  while (const auto hop = read_struct<rtnexthop>(multipath)) {
    if (hop->rtnh_len < sizeof(rtnexthop) || hop->rtnh_len > multipath.size()) break;
    out.push_back(hop->rtnh_ifindex);
    multipath = multipath.subspan(std::min<std::size_t>(RTNH_ALIGN(hop->rtnh_len), multipath.size()));
  }
  return out;
}

}  // namespace

NetlinkRequest links_request() {
  NetlinkRequest request(RTM_GETLINK, NLM_F_DUMP);
  request.header(ifinfomsg{});
  return request;
}

NetlinkRequest addresses_request() {
  NetlinkRequest request(RTM_GETADDR, NLM_F_DUMP);
  request.header(ifaddrmsg{});
  return request;
}

NetlinkRequest routes_request() {
  NetlinkRequest request(RTM_GETROUTE, NLM_F_DUMP);
  request.header(rtmsg{});
  return request;
}

Expected<LinkEntry> parse_link(ByteSpan payload) {
  const auto head = read_struct<ifinfomsg>(payload);
  if (!head) return fail(ErrorKind::io, "link message of {} bytes", payload.size());
  LinkEntry link{.index = head->ifi_index,
                 .is_ethernet = head->ifi_type == ARPHRD_ETHER,
                 .admin_up = (head->ifi_flags & IFF_UP) != 0};
  const bool whole = for_each_attribute(payload.subspan(sizeof(ifinfomsg)),
                                        [&](const NetlinkAttribute& a) { read_link_attribute(a, link); });
  if (!whole || link.name.empty()) return fail(ErrorKind::io, "malformed link message");
  return link;
}

Expected<AddressEntry> parse_address(ByteSpan payload) {
  const auto head = read_struct<ifaddrmsg>(payload);
  if (!head) return fail(ErrorKind::io, "address message of {} bytes", payload.size());
  const ByteSpan attributes = payload.subspan(sizeof(ifaddrmsg));
  // On point-to-point links IFA_ADDRESS is the peer's.
  auto address = find_attribute(attributes, IFA_LOCAL);
  if (!address) address = find_attribute(attributes, IFA_ADDRESS);
  const std::string text = address ? address_text(head->ifa_family, address->payload) : "";
  if (text.empty()) return fail(ErrorKind::io, "malformed address message");
  return AddressEntry{static_cast<int>(head->ifa_index), fmt::format("{}/{}", text, head->ifa_prefixlen)};
}

Expected<std::vector<RouteEntry>> parse_route(ByteSpan payload) {
  const auto head = read_struct<rtmsg>(payload);
  if (!head) return fail(ErrorKind::io, "route message of {} bytes", payload.size());
  const ByteSpan attributes = payload.subspan(sizeof(rtmsg));
  const std::uint32_t table = attribute_as<std::uint32_t>(attributes, RTA_TABLE).value_or(head->rtm_table);
  if (head->rtm_type != RTN_UNICAST || table != RT_TABLE_MAIN || (head->rtm_flags & RTM_F_CLONED) != 0) {
    return std::vector<RouteEntry>{};
  }
  std::string destination = head->rtm_family == AF_INET ? "0.0.0.0" : "::";
  if (const auto found = find_attribute(attributes, RTA_DST)) {
    destination = address_text(head->rtm_family, found->payload);
  }
  if (destination.empty() || (head->rtm_family != AF_INET && head->rtm_family != AF_INET6)) {
    return std::vector<RouteEntry>{};
  }
  std::vector<int> links;
  if (const auto link = attribute_as<int>(attributes, RTA_OIF)) links.push_back(*link);
  if (const auto multipath = find_attribute(attributes, RTA_MULTIPATH)) links = next_hops(multipath->payload);
  // The next hops of a multipath route each have theirs.
  const bool has_gateway = find_attribute(attributes, RTA_GATEWAY) || find_attribute(attributes, RTA_VIA) ||
                           find_attribute(attributes, RTA_MULTIPATH);
  std::vector<RouteEntry> out;
  out.reserve(links.size());
  for (const int link : links) {
    out.push_back({fmt::format("{}/{}", destination, head->rtm_dst_len), link,
                   attribute_as<std::uint32_t>(attributes, RTA_PRIORITY).value_or(0), has_gateway});
  }
  return out;
}

Expected<RouteSocket> RouteSocket::open() {
  return NetlinkSocket::open(NETLINK_ROUTE).map([](NetlinkSocket socket) {
    return RouteSocket(std::move(socket));
  });
}

Expected<std::vector<LinkEntry>> RouteSocket::links() {
  return parse_replies(socket_.exchange(links_request()), parse_link);
}

Expected<std::vector<AddressEntry>> RouteSocket::addresses() {
  return parse_replies(socket_.exchange(addresses_request()), parse_address);
}

Expected<std::vector<RouteEntry>> RouteSocket::routes() {
  auto parsed = parse_replies(socket_.exchange(routes_request()), parse_route);
  if (!parsed) return tl::unexpected(parsed.error());
  std::vector<RouteEntry> out;
  for (auto& routes : *parsed) out.insert(out.end(), routes.begin(), routes.end());
  return out;
}

Expected<> RouteSocket::set_mtu(const std::string& port, Bytes mtu) {
  NetlinkRequest request(RTM_NEWLINK, 0);
  request.header(ifinfomsg{});
  request.put_string(IFLA_IFNAME, port).put(IFLA_MTU, static_cast<std::uint32_t>(mtu.count()));
  const auto replies = socket_.exchange(request);
  if (replies) return {};
  const auto within = fmt::format("set MTU of {} to {}", port, to_text(mtu));
  if (replies.error().os_error() == EINVAL) {
    return tl::unexpected(Error(ErrorKind::bad_input, replies.error().message(), EINVAL).within(within));
  }
  return tl::unexpected(replies.error().within(within));
}

Expected<> RouteSocket::set_admin_up(const std::string& port, bool up) {
  NetlinkRequest request(RTM_NEWLINK, 0);
  request.header(ifinfomsg{.ifi_family = AF_UNSPEC,
                           .__ifi_pad = 0,
                           .ifi_type = 0,
                           .ifi_index = 0,
                           .ifi_flags = up ? static_cast<unsigned>(IFF_UP) : 0u,
                           .ifi_change = IFF_UP});
  request.put_string(IFLA_IFNAME, port);
  const auto replies = socket_.exchange(request);
  if (!replies)
    return tl::unexpected(replies.error().within(fmt::format("set {} {}", port, up ? "up" : "down")));
  return {};
}

}  // namespace rocetune::host
