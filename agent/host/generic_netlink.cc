#include "agent/host/generic_netlink.h"

#include <linux/genetlink.h>
#include <linux/netlink.h>

namespace rocetune::host {

Expected<ByteSpan> generic_attributes(ByteSpan payload) {
  if (payload.size() < GENL_HDRLEN) {
    return fail(ErrorKind::io, "generic netlink message of {} bytes", payload.size());
  }
  return payload.subspan(GENL_HDRLEN);
}

Expected<std::uint16_t> parse_family(ByteSpan payload) {
  const auto attributes = generic_attributes(payload);
  if (!attributes) return tl::unexpected(attributes.error());
  const auto number = attribute_as<std::uint16_t>(*attributes, CTRL_ATTR_FAMILY_ID);
  if (!number) return fail(ErrorKind::io, "generic netlink family without a number");
  return *number;
}

Expected<GenericNetlinkSocket> GenericNetlinkSocket::open(const std::string& family, std::uint8_t version) {
  auto socket = NetlinkSocket::open(NETLINK_GENERIC);
  if (!socket) return tl::unexpected(socket.error());
  NetlinkRequest ask(GENL_ID_CTRL, 0);
  ask.header(genlmsghdr{.cmd = CTRL_CMD_GETFAMILY, .version = 1, .reserved = 0});
  ask.put_string(CTRL_ATTR_FAMILY_NAME, family);
  const auto replies = socket->exchange(ask);
  if (!replies)
    return tl::unexpected(replies.error().within(fmt::format("generic netlink family {}", family)));
  if (replies->empty()) return fail(ErrorKind::io, "generic netlink family {}: no answer", family);
  const auto number = parse_family(replies->front().payload);
  if (!number && number.error().kind() == ErrorKind::absent) {
    return fail(ErrorKind::absent, "this kernel has no generic netlink family {}", family);
  }
  if (!number) return tl::unexpected(number.error());
  return GenericNetlinkSocket(std::move(*socket), *number, version);
}

NetlinkRequest GenericNetlinkSocket::request(std::uint8_t command, std::uint16_t flags) const {
  NetlinkRequest out(family_, flags);
  out.header(genlmsghdr{.cmd = command, .version = version_, .reserved = 0});
  return out;
}

}  // namespace rocetune::host
