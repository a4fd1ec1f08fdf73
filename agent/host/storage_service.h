// Storage traffic that goes through addresses of this host whatever is mounted: Lustre's network (LNet) of
// clients, object servers and routers; NVMe over RDMA and NFS over RDMA that this host serves.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "agent/host/host_files.h"

namespace rocetune::host {

struct StorageService {
  std::string name;     // "Lustre (10.0.0.1@o2ib)", "NVMe target over rdma (10.0.0.1)"
  std::string address;  // the host's own that it goes through; empty: any of them, or no IP address
  bool operator==(const StorageService&) const = default;
};

// LNet's network interfaces, each once, without the loopback. lnet/lnet/lnet_debugfs.c (formerly
// router_proc.c), proc_lnet_nis: a heading, then a line per interface and CPU partition that begins with the
// NID, "10.0.0.1@o2ib", "fd00::1@tcp". Networks without IP (gni, kfi, ptlf) give services without address.
std::vector<StorageService> parse_lnet_interfaces(std::string_view text);

struct ServiceSurvey {
  std::vector<StorageService> services;
  bool lnet_is_known = false;       // its interfaces could be read; without LNet there is nothing to know
  std::vector<std::string> unread;  // what could not be looked at, and why
};
// /sys/kernel/debug/lnet/nis or, in older Lustre, /proc/sys/lnet/nis; both only while /sys/module/lnet is
// there. /sys/kernel/config/nvmet/ports (drivers/nvme/target/configfs.c). /proc/fs/nfsd/portlist
// (fs/nfsd/nfsctl.c, write_ports: "rdma 20049").
ServiceSurvey read_storage_services(const HostFiles& files);

}  // namespace rocetune::host
