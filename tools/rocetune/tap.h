// `rocetune tap`: what a capture says about RoCE.
#pragma once

#include <optional>
#include <string>

#include "dataplane/base/terminal.h"
#include "tools/rocetune/command_line.h"

namespace rocetune::cli {

struct TapCommand {
  std::string pcap;                   // the capture file
  std::optional<BitRate> link_speed;  // for pause times; empty: assumed
  Duration storm_time;                // shortest pause storm; zero: the default
  std::string html;                   // where to write the page; empty: nowhere
  bool json = false;
  ColourChoice colour = ColourChoice::automatic;
};

ExitCode run_tap(const TapCommand& command);

}  // namespace rocetune::cli
