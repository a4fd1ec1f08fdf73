// DCB replies of any content: parsed or refused, never out of bounds.
#include <cstddef>
#include <cstdint>

#include "agent/host/dcb_netlink.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace rocetune::host;
  const ByteSpan payload = std::as_bytes(std::span(data, size));
  (void)parse_ieee_reply(payload);
  (void)parse_ieee_result(payload);
  (void)parse_dcbx_reply(payload);
  (void)parse_dcbx_result(payload);
  std::vector<NetlinkReply> replies;
  bool complete = false;
  (void)parse_datagram(payload, 1, replies, complete);
  return 0;
}
