// RDMA devices as sysfs and configfs show them (drivers/infiniband/core/sysfs.c, cma_configfs.c).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "agent/host/host_files.h"
#include "agent/host/model.h"

namespace rocetune::host {

// configfs of the RDMA connection manager: a directory per device sets its defaults.
inline constexpr std::string_view kRdmaCm = "/sys/kernel/config/rdma_cm";

// Names of RDMA devices in this view's namespace; empty if the kernel has no RDMA. Errors: denied, io.
Expected<std::vector<std::string>> rdma_device_names(const HostFiles& files);
// Ports of a device: 1 and up.
std::vector<int> rdma_port_numbers(const HostFiles& files, const std::string& device);
// All that files say about one port but its GIDs; active_mtu is not among it (see roce_mtu_for).
RdmaPort read_rdma_port(const HostFiles& files, const std::string& device, int port);
// Its GID table without empty entries. 256 files on mlx5.
std::vector<Gid> read_gids(const HostFiles& files, const std::string& device, int port, LinkLayer layer);
// Whether it is a software device (rdma_rxe), which names the netdev it stands on in an attribute of its own.
bool is_software_rdma(const HostFiles& files, const std::string& device);

// The RDMA MTU the kernel uses over a netdev of this MTU: the largest of 256..4096 that leaves 96 B for
// headers. Nothing under 352 B. Source: include/rdma/ib_addr.h, iboe_get_mtu.
std::optional<Bytes> roce_mtu_for(Bytes netdev_mtu);

// "100 Gb/sec (4X EDR)" -> 100 Gb/s.
std::optional<BitRate> parse_rdma_rate(std::string_view text);

}  // namespace rocetune::host
