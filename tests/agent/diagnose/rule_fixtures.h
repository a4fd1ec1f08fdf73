// One case for each outcome that a rule can have: what is changed on a healthy host, and what the rule then
// says.
#pragma once

#include <functional>
#include <vector>

#include "tests/agent/diagnose/host_builder.h"

namespace rocetune::diagnose {

enum class Kind { found, passed, not_checked };

struct Fixture {
  const char* rule;
  const char* subject;  // "eth0", "host", "lab.pcap"
  Kind kind;
  std::function<void(Scenario&)> change;
  const char* says = "";  // part of the cause or the reason
};

// A change that is none.
inline void leave_alone(Scenario&) {}

// Rules about what stands around the class: owners, links, PCIe, addresses, MTU, persistence, drift.
std::vector<Fixture> surrounding_fixtures();
// Rules about the class itself: map, flow control, ECN, and its traffic.
std::vector<Fixture> class_fixtures();
// Rules about captures.
std::vector<Fixture> captured_fixtures();

}  // namespace rocetune::diagnose
