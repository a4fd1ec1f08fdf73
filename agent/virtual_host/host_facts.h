// What a host of the virtual fabric is, in the words for any host: the facts that the scenario and the run
// show, and for everything else why there is none.
#pragma once

#include "agent/host/model.h"
#include "agent/virtual_host/fabric_run.h"

namespace rocetune::virtual_host {

// The host as it is now: one port (kPort) of the NIC row "fabric", with what hosts.* and hosts.own say of it.
// What the switch at the other end has set stands where DCBX would have heard it. `host` is one of the
// scenario's. docs/fabric-model.md has the counterpart of each fact.
host::Host host_facts(const FabricRun& run, fabric::NodeId host);

// MTU of a netdev <-> path MTU. The fabric knows the path MTU alone; shown is the least netdev MTU that gives
// it (path MTU + 96 B, Linux include/rdma/ib_addr.h), and what people set where they do: 1500 for 1024, 9000
// for 4096.
Bytes netdev_mtu_for(engine::PathMtu mtu);

}  // namespace rocetune::virtual_host
