// Devlink and ethtool messages of any content: parsed or refused, never out of bounds.
#include <cstddef>
#include <cstdint>

#include "agent/host/devlink_netlink.h"
#include "agent/host/ethtool_netlink.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace rocetune::host;
  const ByteSpan payload = std::as_bytes(std::span(data, size));
  (void)parse_devlink_info(payload);
  (void)parse_devlink_param(payload);
  (void)parse_devlink_eswitch_mode(payload);
  (void)parse_lanes(payload);
  (void)parse_family(payload);
  return 0;
}
