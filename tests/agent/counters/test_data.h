// Samples put together by hand for the tests of this folder.
#pragma once

#include <initializer_list>
#include <string>
#include <utility>

#include "agent/counters/reading.h"

namespace rocetune::counters::testing {

using Raw = std::initializer_list<std::pair<const std::string, std::uint64_t>>;

inline const Schema& schema() {
  static const Schema built_in = Schema::load(ConfigFiles()).value();
  return built_in;
}

// A port of `nic` whose sources were read `at`.
inline PortSample port_sample(std::string nic, Duration at, Raw ethtool, Raw rdma = {}, Raw dcb = {}) {
  PortSample out;
  out.port = "eth0";
  out.nic = std::move(nic);
  out.ethtool = ethtool;
  out.rdma = rdma;
  out.dcb = dcb;
  out.ethtool_at = out.rdma_at = out.dcb_at = Instant(at);
  return out;
}

inline Sample sample(PortSample port) {
  Sample out;
  out.at = port.ethtool_at;
  out.taken_unix_ns = 1'000'000'000 + port.ethtool_at.since_origin().count() / 1000;
  out.ports.push_back(std::move(port));
  return out;
}

}  // namespace rocetune::counters::testing
