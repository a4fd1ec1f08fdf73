// Storage that a host reaches over the network: file systems, NVMe over fabrics, iSCSI.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "agent/host/host_files.h"

namespace rocetune::host {

struct NetworkStorage {
  std::string where;                 // "/data", "nvme0", "connection1:0"
  std::string type;                  // "nfs4", "NVMe over rdma", "iSCSI"
  std::vector<std::string> servers;  // addresses; names stay names; empty: nothing says which
  bool operator==(const NetworkStorage&) const = default;
};

// What a Lustre server has mounted of its own disks, to serve it: NetworkStorage::type of it.
inline constexpr std::string_view kLustreTarget = "Lustre target";

// The network file systems of /proc/mounts. Servers without port and LNet ("10.0.0.1@o2ib"); of a type that
// keeps its servers elsewhere (GPFS, BeeGFS, AFS, DAOS) none. Of type lustre is also what a Lustre server has
// mounted (a device or a ZFS data set, without ":/fsname"), and lustre_tgt is nothing else (lustre/utils/
// mount_lustre.c, main): a Lustre target, which has no server.
std::vector<NetworkStorage> parse_network_mounts(std::string_view text);

// The server of an NVMe controller's `address` attribute: "traddr=10.0.0.5,trsvcid=4420" (drivers/nvme/host/
// fabrics.c, nvmf_get_address). Empty if it names none.
std::string parse_nvme_server(std::string_view address);

struct StorageSurvey {
  std::vector<NetworkStorage> storage;
  std::vector<std::string> unread;  // what could not be looked at, and why
};
// /proc/mounts, /sys/class/nvme, /sys/class/iscsi_connection.
StorageSurvey read_network_storage(const HostFiles& files);

}  // namespace rocetune::host
