#include "tools/rocetune/this_host.h"

#include <string>
#include <vector>

#include "agent/host/rdma_carrier.h"
#include "agent/host/topology/part.h"
#include "agent/tune/boot_unit.h"
#include "dataplane/base/rooted_path.h"
#include "tools/rocetune/confirmed_state.h"

namespace rocetune::cli {
namespace {

// Without the part, GPUs or NICs it says why there is none.
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

// A journal that is not there holds none, one that cannot be read says why.
void add_confirmed_state(const std::string& root, host::Host& host) {
  const auto holds =
      RootedPath(root).checked(tune::boot_unit_state_directory(root)).and_then([](const std::string& folder) {
        return holds_confirmed_state(tune::StateDirectory(folder));
      });
  if (holds)
    host.state_confirmed = *holds;
  else
    host.state_confirmed = unavailable(holds.error());
}

}  // namespace

Expected<host::Host> read_this_host(const host::ReadOptions& options, const host::NicTable& nics) {
  auto host = host::read_host(options, nics);
  if (!host) return host;
  add_affinity(options.root, *host);
  add_confirmed_state(options.root, *host);
  return host;
}

}  // namespace rocetune::cli
