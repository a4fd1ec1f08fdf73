// Messages built as requests and read as answers.
#pragma once

#include <linux/netlink.h>

#include "agent/host/netlink.h"

namespace rocetune::host {

// What follows nlmsghdr of a request, or of a reply built like one.
inline ByteSpan payload_of(const NetlinkRequest& message) {
  return message.bytes().subspan(sizeof(nlmsghdr));
}

}  // namespace rocetune::host
