// `rocetune switch-config`: lines that make a switch agree with a profile, or with the class map of a host.
#pragma once

#include <string>
#include <vector>

#include "tools/rocetune/command_line.h"
#include "tools/rocetune/fabric_host.h"
#include "tools/rocetune/switch_class.h"

namespace rocetune::cli {

struct SwitchConfigCommand {
  CommonOptions common;
  FabricOptions fabric;
  std::string from;               // a saved host; empty: this host, unless a profile is named
  std::string profile;            // name or file; empty: of the host
  std::vector<std::string> nics;  // of the host; empty: all its RoCE ports, which must agree
  std::string config_directory;
  evidence::SwitchWriter writer = evidence::SwitchWriter::sonic;
  SwitchChoices choices;
};

// Prints the lines; what is to be known besides goes to standard error, or into the JSON.
ExitCode run_switch_config(const SwitchConfigCommand& command);

}  // namespace rocetune::cli
