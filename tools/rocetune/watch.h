// `rocetune watch`: what its flags mean, without the flags.
#pragma once

#include <string>

#include "agent/counters/watch.h"
#include "tools/rocetune/command_line.h"
#include "tools/rocetune/fabric_host.h"

namespace rocetune::cli {

struct WatchCommand {
  CommonOptions common;
  FabricOptions fabric;
  std::string config_directory;  // empty: only what is built in
  counters::WatchOptions watch;
  bool interval_given = false;
  ColourChoice colour = ColourChoice::automatic;
};

// Runs until Ctrl-C, SIGTERM or the count is reached. Messages on standard error.
ExitCode run_watch(const WatchCommand& command);

}  // namespace rocetune::cli
