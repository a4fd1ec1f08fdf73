// What ethtool shows only by generic netlink (include/uapi/linux/ethtool_netlink.h): lanes of a link. The
// rest is in ethtool_ioctl.h, which needs nothing of the kernel but the driver.
#pragma once

#include <cstdint>
#include <string>

#include "agent/host/generic_netlink.h"

namespace rocetune::host {

// `payload` is what follows nlmsghdr. Errors: absent if the driver does not report lanes.
Expected<std::uint32_t> parse_lanes(ByteSpan payload);

class EthtoolNetlinkSocket {
 public:
  static Expected<EthtoolNetlinkSocket> open();
  // Lanes the link runs on. Errors: absent if the driver does not say or there is no link.
  Expected<std::uint32_t> lanes(const std::string& port);

 private:
  explicit EthtoolNetlinkSocket(GenericNetlinkSocket socket) : socket_(std::move(socket)) {}
  GenericNetlinkSocket socket_;
};

}  // namespace rocetune::host
