#include "dataplane/port/dpdk/roce_ownership.h"

#include <fmt/core.h>

#include "dataplane/base/file.h"

namespace rocetune::dpdk {

bool has_own_roce_transport(const std::string& driver) {
  return driver == "mlx5_pci" || driver == "mlx5_auxiliary" || driver == "net_mlx5";
}

std::optional<std::string> roce_device_of(const RootedPath& host, const std::string& bdf) {
  const std::string folder = "/sys/bus/pci/devices/" + bdf + "/infiniband";
  const auto devices = list_directory(host(folder));
  if (!devices) return std::nullopt;
  for (const std::string& device : *devices) {
    const auto gids = list_directory(host(folder + "/" + device + "/ports/1/gids"));
    if (gids && !gids->empty()) return device;
  }
  return std::nullopt;
}

std::string roce_owns_port_text(const std::string& bdf, const std::string& rdma_device) {
  return fmt::format(
      "RoCE is enabled on {0} ({1} has GIDs): its own transport takes UDP port 4791, and no frame of RoCE "
      "reaches DPDK. To give the port to DPDK (ends every RDMA connection of {1}):\n"
      "  devlink dev param set pci/{0} name enable_roce value false cmode driverinit\n"
      "  devlink dev reload pci/{0}",
      bdf, rdma_device);
}

}  // namespace rocetune::dpdk
