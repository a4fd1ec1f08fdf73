// `rocetune bench`: traffic patterns between processes, and perftest's tests against perftest.
#pragma once

#include <optional>

#include "dataplane/base/terminal.h"
#include "dataplane/transport/pattern/session.h"
#include "dataplane/transport/perftest/session.h"
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
  unsigned ack_timeout = 14;  // 4.096 us · 2^n, 1..31
  port::FaultPlan faults;
  std::optional<perftest::Options> perftest;  // instead of a plan, listen and connect
  bool json = false;
  ColourChoice colour = ColourChoice::automatic;
};

ExitCode run_bench(const BenchCommand& command);

}  // namespace rocetune::cli
