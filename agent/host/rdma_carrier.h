// Which ports the packets of an RDMA device pass. The device of a bond hangs on one netdev, as a rule the
// bond itself (mlx5's LAG: mlx5_bond_0 on bond0), and its packets leave and arrive by every member.
#pragma once

#include "agent/host/model.h"

namespace rocetune::host {

// RDMA packets pass this port, or it cannot be told whether they do: it shows a device, the device is
// unreadable, or its bond or another member of that bond shows one.
bool carries_rdma(const Host& host, const Port& port);

// The port that shows the RDMA device whose packets pass `port`: itself, its bond, or the member of its bond
// on which the device hangs. nullptr: none shows one.
const Port* rdma_holder(const Host& host, const Port& port);

// The ports over which that device's packets may pass: `port`, its bond and all members of that bond.
std::vector<const Port*> rdma_siblings(const Host& host, const Port& port);

}  // namespace rocetune::host
