// `rocetune snapshot`: one file with everything that inspect, watch and doctor need.
#pragma once

#include <string>

#include "congestion/units.h"
#include "tools/rocetune/command_line.h"

namespace rocetune::cli {

struct SnapshotCommand {
  CommonOptions common;
  std::string config_directory;  // empty: only what is built in
  std::string file;              // empty: rocetune-HOST-TIME.snapshot in this folder; "-": standard output
  Duration watch_for = seconds(3);
  Duration interval = milliseconds(500);
  bool anonymous = false;
  std::string salt;  // of --anonymous; empty: random, told to nobody
  bool script = false;
};

// Writes the file; says on standard error what was left out, and why.
ExitCode run_snapshot(const SnapshotCommand& command);

}  // namespace rocetune::cli
