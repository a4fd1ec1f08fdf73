// A setting of a real port in the words of the virtual fabric's hosts: what it means for a simulated run.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "agent/host/knob.h"
#include "agent/host/model.h"
#include "dataplane/fabric/scenario.h"

namespace rocetune::twin {

// Something of the hosts that the twin does not have, or has otherwise, and why.
struct Note {
  std::string what;
  std::string why;
  bool operator==(const Note&) const = default;
  static constexpr void fields(auto&& visit, auto&... self) {
    visit("what", self.what...);
    visit("why", self.why...);
  }
};

// Gives the host `id` of the scenario what a real port has, or gets, for this knob. A netdev MTU is the path
// MTU that fits (path MTU + 96 B: Linux include/rdma/ib_addr.h); of PFC the priorities, of ETS what is sent,
// of an APP table the DSCPs, of a ToS byte the DSCP. A sentence: there is no counterpart, and nothing was
// changed.
std::optional<std::string> give(fabric::Scenario& scenario, fabric::NodeId id, const host::Knob& knob,
                                const host::KnobValue& value);
// All that the port shows of its knobs, and which algorithm steers it. What was not taken over, and why.
std::vector<Note> give_all(fabric::Scenario& scenario, fabric::NodeId id, const host::Host& host,
                           const host::Port& port);

// Keys of the scenario ("hosts.mtu") in which the host `id` of two scenarios differs.
std::vector<std::string> differences(const fabric::Scenario& a, const fabric::Scenario& b, fabric::NodeId id);

}  // namespace rocetune::twin
