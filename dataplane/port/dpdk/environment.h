// DPDK's environment (EAL): started once in the life of a process.
#pragma once

#include <string>
#include <vector>

#include "dataplane/base/error.h"

namespace rocetune::dpdk {

// Starts it with what the user gave (eal_arguments.h) and pins the calling thread to the first of its cores.
// Errors: conflict (started before), bad_input with what EAL complained about.
Expected<> start_environment(const std::vector<std::string>& given);

// Ends it, and removes the folder of run-time files that start_environment() named. No port may be in use.
void end_environment();

}  // namespace rocetune::dpdk
