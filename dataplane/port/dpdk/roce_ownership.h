// Whether a ConnectX keeps RoCE to itself. While RoCE is enabled, the NIC's transport takes UDP port 4791 and
// no Ethernet queue, DPDK's included, ever sees it.
// Source: kernel, Documentation/networking/devlink/mlx5.rst, parameter enable_roce.
#pragma once

#include <optional>
#include <string>

#include "dataplane/base/rooted_path.h"

namespace rocetune::dpdk {

// Whether this driver's NICs have a RoCE transport that competes with Ethernet queues. `driver`: as
// rte_eth_dev_info calls it.
bool has_own_roce_transport(const std::string& driver);

// The RDMA device of the PCI function `bdf` whose port has a GID table, which it has only while enable_roce
// is true (mlx5_ib takes its length from the RoCE capability); none if there is none.
std::optional<std::string> roce_device_of(const RootedPath& host, const std::string& bdf);

// Why such a port cannot be used, and the commands that help.
std::string roce_owns_port_text(const std::string& bdf, const std::string& rdma_device);

}  // namespace rocetune::dpdk
