// Questions about congestion control that flow control asks too.
#pragma once

#include "agent/diagnose/facts.h"

namespace rocetune::diagnose {

// The network paused this sender's RoCE priority notably, short of a storm, while no CNP came back although
// its congestion control is not known to be off: pause is then the consequence, not the cause.
bool is_paused_without_cnp(const PortFacts& facts, const counters::PortDelta& delta);

}  // namespace rocetune::diagnose
