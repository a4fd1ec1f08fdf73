// `rocetune env`: the environment of a communication library, derived from a host's class map.
#pragma once

#include <string>

#include "agent/diagnose/derived_environment.h"
#include "tools/rocetune/command_line.h"
#include "tools/rocetune/fabric_host.h"

namespace rocetune::cli {

struct EnvCommand {
  CommonOptions common;
  FabricOptions fabric;
  std::string from;  // a saved host; empty: this one
  std::string config_directory;
  diagnose::Library library = diagnose::Library::nccl;
};

// Prints shell lines, or one JSON object. findings: something that belongs there is not known.
ExitCode run_env(const EnvCommand& command);

}  // namespace rocetune::cli
