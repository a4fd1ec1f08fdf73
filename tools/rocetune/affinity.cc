#include "tools/rocetune/affinity.h"

#include <vector>

#include "agent/host/rdma_carrier.h"
#include "agent/host/topology/part.h"

namespace rocetune::cli {

void add_affinity(const std::string& root, host::Host& host) {
  if (!host.gpus) {
    host.affinity = tl::unexpected(host.gpus.error());
    return;
  }
  std::vector<std::string> gpus;
  for (const host::Gpu& gpu : *host.gpus) gpus.push_back(gpu.pci_address);
  std::vector<host::NicPlace> nics;
  for (const host::Port& port : host.ports) {
    // A bond's RDMA device is the bond's, the PCI functions are its members'.
    if (port.pci_address && host::carries_rdma(host, port)) nics.push_back({port.name, *port.pci_address});
  }
  if (gpus.empty() || nics.empty()) {
    host.affinity = absent(gpus.empty() ? "no GPU in this host" : "no RDMA NIC in this host");
    return;
  }
  const auto affinity = open_part<host::TopologyPart>().and_then(
      [&](host::TopologyPart* part) { return part->affinity(root, nics, gpus); });
  if (affinity)
    host.affinity = *affinity;
  else
    host.affinity = unavailable(affinity.error());
}

}  // namespace rocetune::cli
