// `rocetune tap`: what a capture, or what passes a port, says about RoCE.
#pragma once

#include <optional>
#include <string>

#include "dataplane/base/terminal.h"
#include "tools/rocetune/command_line.h"

namespace rocetune::cli {

struct TapCommand {
  std::string pcap;                   // the capture file; empty: from a port
  std::string dpdk;                   // EAL arguments; empty: from a file
  std::string dpdk_port;              // which port; empty: the only one
  std::string device;                 // an RDMA device of this host, "mlx5_0" or "mlx5_0:2"; empty: not that
  Duration span;                      // how long the port is watched; zero: until a signal
  std::optional<BitRate> link_speed;  // for pause times; empty: assumed
  Duration storm_time;                // shortest pause storm; zero: the default
  std::string html;                   // where to write the page; empty: nowhere
  bool json = false;
  ColourChoice colour = ColourChoice::automatic;
};

ExitCode run_tap(const TapCommand& command);

}  // namespace rocetune::cli
