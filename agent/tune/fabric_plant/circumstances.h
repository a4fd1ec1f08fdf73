// The circumstances of one run of a fabric: what differs from repeat to repeat.
#pragma once

#include "dataplane/fabric/scenario.h"

namespace rocetune::fabric_plant {

// The same fabric with another seed, whose flows start up to `jitter` later than they say.
fabric::Scenario under_circumstances(fabric::Scenario scenario, std::uint64_t seed, Duration jitter);

}  // namespace rocetune::fabric_plant
