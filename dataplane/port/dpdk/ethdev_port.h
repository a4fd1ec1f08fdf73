// An Ethernet device of DPDK as a port with queues.
#pragma once

#include <memory>

#include "dataplane/port/dpdk/part.h"

namespace rocetune::dpdk {

// Configures and starts the port; the environment runs already. Errors: see DpdkPart::open.
Expected<std::unique_ptr<Port, void (*)(Port*)>> start_port(const PortRequest& request);

}  // namespace rocetune::dpdk
