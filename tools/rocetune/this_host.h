// This machine as a host, for commands that show, save or judge it.
#pragma once

#include "agent/host/host_reader.h"

namespace rocetune::cli {

// With the distances of NICs and GPUs (host.affinity, by the topology part) and whether the journal that the
// boot unit of its root names holds a state to bring back (host.state_confirmed). Errors: as read_host has
// them; what a part or a journal refuses stands in the host.
Expected<host::Host> read_this_host(const host::ReadOptions& options, const host::NicTable& nics);

}  // namespace rocetune::cli
