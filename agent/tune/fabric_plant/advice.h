// A candidate as things to do on a fabric, by the words of its switches and hosts.
#pragma once

#include <vector>

#include "agent/tune/fabric_plant/fabric_plant.h"
#include "agent/tune/search/plan_step.h"

namespace rocetune::fabric_plant {

using Step = search::PlanStep;

// In the order of the knobs. Where: "all switches", "switch2", "h5", "all hosts", "hosts and switches",
// "workload". How: a command of the host, a parameter of the switch; IFACE and BDF stand for the port.
std::vector<Step> steps_of(const FabricPlant& plant, const search::Candidate& candidate);

}  // namespace rocetune::fabric_plant
