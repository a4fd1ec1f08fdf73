// A generic netlink family by its name (include/uapi/linux/genetlink.h).
#pragma once

#include <string>
#include <vector>

#include "agent/host/netlink.h"

namespace rocetune::host {

// The family's number out of a CTRL_CMD_NEWFAMILY reply's payload.
Expected<std::uint16_t> parse_family(ByteSpan payload);
// The attributes behind genlmsghdr. Error: io for a message cut short.
Expected<ByteSpan> generic_attributes(ByteSpan payload);

class GenericNetlinkSocket {
 public:
  // Errors: absent if the kernel has no such family.
  static Expected<GenericNetlinkSocket> open(const std::string& family, std::uint8_t version);
  // A request of this family; `flags` as for NetlinkRequest.
  NetlinkRequest request(std::uint8_t command, std::uint16_t flags) const;
  Expected<std::vector<NetlinkReply>> exchange(const NetlinkRequest& request) {
    return socket_.exchange(request);
  }

 private:
  GenericNetlinkSocket(NetlinkSocket socket, std::uint16_t family, std::uint8_t version)
      : socket_(std::move(socket)), family_(family), version_(version) {}

  NetlinkSocket socket_;
  std::uint16_t family_;
  std::uint8_t version_;
};

}  // namespace rocetune::host
