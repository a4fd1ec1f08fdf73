// A healthy RoCE host to start from: two mlx5 ports with DSCP 26 in lossless priority 3 and CNPs in 6, and
// two seconds of traffic in which congestion control works and pause is rare. Tests break one thing of it.
#pragma once

#include <string>

#include "agent/diagnose/engine.h"

namespace rocetune::diagnose {

struct Scenario {
  host::Host host;
  counters::Interval interval;
  bool sampled = true;
  bool has_host = true;
  Intent declared;
  std::vector<std::string> only_ports;
  std::vector<Capture> captures;

  host::Port& port(std::size_t index = 0) { return host.ports[index]; }
  host::Dcb& dcb() { return port().dcb; }
  host::RdmaPort& rdma() { return *port().rdma; }
  counters::PortDelta& delta(std::size_t index = 0) { return interval.ports[index]; }

  // Counts on eth0 (or another port), with the counter made known.
  void count(const std::string& name, std::uint64_t increment, std::size_t index = 0);
  void count_priority(const std::string& name, int priority, std::uint64_t increment, std::size_t index = 0);
  void level(const std::string& name, std::uint64_t value);
  // As on a NIC that has no such counter.
  void forget(const std::string& name);
  // No traffic at all: every increment of eth0 is 0.
  void make_idle();
  // PFC as mlx5 shows it: pause rows exist only where it is on.
  void set_pfc(PrioritySet enabled);
  void map(int dscp, int priority);

  Report report() const;
};

Scenario healthy();
const Policy& test_policy();

// Ids of findings above info, each once, sorted.
std::vector<std::string> alarms(const Report& report);

}  // namespace rocetune::diagnose
