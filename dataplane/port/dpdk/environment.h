// DPDK's environment (EAL): started once in the life of a process.
#pragma once

#include <string>
#include <vector>

#include "dataplane/base/error.h"

namespace rocetune::dpdk {

// Starts it with what the user gave (eal_arguments.h) and pins the calling thread to the first of its cores.
// Errors: conflict (started before), bad_input with what EAL complained about.
Expected<> start_environment(const std::vector<std::string>& given);

// What EAL and its drivers complained about while it started, a line each behind a line feed and two blanks;
// empty if it started without complaint. A device that could not be made is no reason for EAL not to start.
const std::string& environment_complaints();

// Removes the folder of run-time files that start_environment() named. The environment itself ends with the
// process: rte_eal_cleanup() frees what drivers' alarms on EAL's interrupt thread may still use.
void remove_runtime_folder();

}  // namespace rocetune::dpdk
