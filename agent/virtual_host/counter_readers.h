// The counters of a host of the virtual fabric, for the sampler that reads any host's.
#pragma once

#include "agent/counters/sampler.h"
#include "agent/virtual_host/fabric_run.h"

namespace rocetune::virtual_host {

// Readers of its one port, named and counted as configs/counters/fabric.toml says; each reading is of the
// run's present moment. Rows of pauses exist for the priorities with PFC. `run` must outlive them.
std::vector<counters::PortReaders> counter_readers(FabricRun& run, fabric::NodeId host);
// The same of a network of `scenario` that somebody else runs: each reading is of the moment that `clock`
// shows, which is where the network stands. `network` and `clock` must outlive them.
std::vector<counters::PortReaders> counter_readers(const fabric::Scenario& scenario,
                                                   const fabric::Network& network, const Clock& clock,
                                                   fabric::NodeId host);

}  // namespace rocetune::virtual_host
