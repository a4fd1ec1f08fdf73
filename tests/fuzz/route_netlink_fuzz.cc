// Link, address and route messages of any content: parsed or refused, never out of bounds.
#include <cstddef>
#include <cstdint>

#include "agent/host/route_netlink.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace rocetune::host;
  const ByteSpan payload = std::as_bytes(std::span(data, size));
  (void)parse_link(payload);
  (void)parse_address(payload);
  (void)parse_route(payload);
  return 0;
}
