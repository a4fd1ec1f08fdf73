#include "agent/host/ethtool_netlink.h"

#include <linux/ethtool_netlink.h>

namespace rocetune::host {

Expected<std::uint32_t> parse_lanes(ByteSpan payload) {
  const auto attributes = generic_attributes(payload);
  if (!attributes) return tl::unexpected(attributes.error());
  const auto lanes = attribute_as<std::uint32_t>(*attributes, ETHTOOL_A_LINKMODES_LANES);
  if (!lanes || *lanes == 0) return fail(ErrorKind::absent, "the driver does not report lanes");
  return *lanes;
}

Expected<EthtoolNetlinkSocket> EthtoolNetlinkSocket::open() {
  return GenericNetlinkSocket::open(ETHTOOL_GENL_NAME, ETHTOOL_GENL_VERSION)
      .map([](GenericNetlinkSocket socket) { return EthtoolNetlinkSocket(std::move(socket)); });
}

Expected<std::uint32_t> EthtoolNetlinkSocket::lanes(const std::string& port) {
  NetlinkRequest request = socket_.request(ETHTOOL_MSG_LINKMODES_GET, 0);
  request.begin_nest(ETHTOOL_A_LINKMODES_HEADER).put_string(ETHTOOL_A_HEADER_DEV_NAME, port).end_nest();
  return parse_reply(socket_.exchange(request), parse_lanes).map_error([&](const Error& error) {
    return error.within(fmt::format("lanes of {}", port));
  });
}

}  // namespace rocetune::host
