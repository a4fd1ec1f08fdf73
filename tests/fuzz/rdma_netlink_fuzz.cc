// RDMA netlink replies of any content: parsed or refused, never out of bounds.
#include <cstddef>
#include <cstdint>

#include "agent/host/rdma_netlink.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace rocetune::host;
  const ByteSpan payload = std::as_bytes(std::span(data, size));
  (void)parse_rdma_device(payload);
  (void)parse_rdma_link(payload);
  (void)parse_rdma_namespaces_exclusive(payload);
  (void)parse_rdma_statistics(payload);
  (void)parse_rdma_statistics_status(payload);
  return 0;
}
