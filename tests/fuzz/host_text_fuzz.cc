// Texts and config space that the host readers take from /proc and /sys, of any content.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "agent/host/attachments.h"
#include "agent/host/bonding.h"
#include "agent/host/congestion_files.h"
#include "agent/host/network_storage.h"
#include "agent/host/pcie.h"
#include "agent/host/rdma_files.h"
#include "agent/host/storage_service.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace rocetune::host;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  (void)parse_pci_config(text);
  (void)pci_addresses_in(text);
  (void)parse_link_speed(text);
  (void)parse_rdma_rate(text);
  (void)parse_bond("bond0", text);
  (void)parse_tcp_table(text);
  (void)parse_network_mounts(text);
  (void)parse_nvme_server(text);
  (void)parse_lnet_interfaces(text);
  (void)parse_lockdown(text);
  (void)route_to({{std::string(text), 1, 0}, {"0.0.0.0/0", 2, 0}}, "10.0.0.1");
  return 0;
}
