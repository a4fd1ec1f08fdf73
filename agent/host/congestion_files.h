// Congestion control as files show it: cc_params in debugfs, OFED's ecn/ in sysfs, load-time module
// parameters.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "agent/host/host_files.h"
#include "agent/host/model.h"
#include "agent/host/nic_row.h"

namespace rocetune::host {

// Every parameter file of the port's row with its value. absent: this kernel, driver or NIC has none. denied:
// the reader may not see debugfs, or kernel lockdown hides it.
Observed<std::map<std::string, std::int64_t>> read_cc_params(const HostFiles& files, const NicRow& row,
                                                             const Port& port,
                                                             const Observed<Lockdown>& lockdown);

// The folder whose files are the port's congestion-control parameters, where it can be written. Errors:
// unsupported by this NIC, absent without a PCI address.
Expected<std::string> cc_folder(const HostFiles& files, const NicRow& row, const Port& port);

// Which algorithm steers this port's queue pairs, from what is visible. On NICs that can run a programmable
// algorithm neither sysfs nor debugfs nor netlink shows which one runs, whatever cc_params hold: absent, with
// how the firmware is asked. /sys/class/fwctl (drivers/fwctl/main.c, Linux 6.15 and later) says whether this
// kernel has a way to ask and the NIC a device on it; the question itself is vendor's and not asked here.
// `has_rdma`: an RDMA device is on the port, or on the bond that it is a member of.
Observed<CongestionControl> read_congestion_control(const HostFiles& files, const NicRow& row,
                                                    const Port& port, bool has_rdma);

// OFED's per-priority switches /sys/class/net/<if>/ecn/roce_{np,rp}/enable/<p>.
Observed<EcnEnable> read_ecn_enable(const HostFiles& files, const std::string& netdev);
// OFED's /sys/class/net/<if>/qos/trust: "pcp" or "dscp".
Observed<Trust> read_ofed_trust(const HostFiles& files, const std::string& netdev);

// /sys/kernel/security/lockdown: "none [integrity] confidentiality".
Observed<Lockdown> read_lockdown(const HostFiles& files);
Expected<Lockdown> parse_lockdown(std::string_view text);

}  // namespace rocetune::host
