// `rocetune doctor`: what its flags mean, without the flags.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "agent/diagnose/finding.h"
#include "agent/diagnose/roce_class.h"
#include "dataplane/base/terminal.h"
#include "tools/rocetune/command_line.h"
#include "tools/rocetune/fabric_host.h"

namespace rocetune::cli {

struct DoctorCommand {
  CommonOptions common;
  FabricOptions fabric;
  std::string config_directory;       // empty: only what is built in
  std::string from;                   // a folder or a file of anything handed over; empty: the live host
  std::vector<std::string> captures;  // beside the host: captures, or reports of `tap --json`
  std::optional<BitRate> link_speed;  // of the captured links; empty: assumed
  std::string recording;              // counters of `watch --record`; empty: sampled live, or none
  std::vector<std::string> ports;
  std::string profile;        // name or file of what the host is meant to be; empty: none
  diagnose::Intent declared;  // by flags; goes before the profile
  // How long counters are sampled; 0: not at all. Of a virtual fabric, nothing: until all traffic is
  // finished.
  std::optional<Duration> watch_for = seconds(2);
  std::optional<diagnose::Severity> fail_on = diagnose::Severity::warning;  // nothing: never
  std::string explain;                                                      // empty: diagnose
  std::string html;                                                         // a page to write; empty: none
  bool list_passed = false;
  bool explain_inputs = false;  // what was recognised in texts, and what was not
  ColourChoice colour = ColourChoice::automatic;
};

// Prints the report. findings: something at or above fail_on was found.
ExitCode run_doctor(const DoctorCommand& command);

}  // namespace rocetune::cli
