// `rocetune bench`: traffic patterns between processes.
#pragma once

#include <optional>

#include "dataplane/base/terminal.h"
#include "dataplane/transport/pattern/session.h"
#include "tools/rocetune/command_line.h"

namespace rocetune::cli {

struct BenchCommand {
  pattern::Plan plan;   // a server looks at pattern and shards only
  std::string listen;   // server: where clients find it over TCP
  std::string connect;  // client: where the server is
  std::string dpdk;     // EAL arguments
  std::string dpdk_port;
  std::optional<wire::IpAddress> address;  // of the port; empty: link-local, from its MAC
  std::optional<wire::IpAddress> gateway;
  std::optional<BitRate> line_rate;  // empty: the port's speed, else 100 Gb/s
  ControllerChoice controller;
  Dscp dscp{26};
  port::FaultPlan faults;
  bool json = false;
  ColourChoice colour = ColourChoice::automatic;
};

ExitCode run_bench(const BenchCommand& command);

}  // namespace rocetune::cli
