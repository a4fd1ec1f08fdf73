// From pauses to their causes: who held whom, and what had to be held because of it.
#pragma once

#include "dataplane/fabric/far_ends.h"
#include "dataplane/fabric/network.h"
#include "dataplane/fabric/result.h"

namespace rocetune::fabric {

// A cause is a queue that does not drain, or a host that receives slowly; what fed it was held. A queue
// counts as held itself, and so as a consequence, if its own peer held it at a third or more of the moments
// at which it made others wait. Roots first, those with most consequences leading.
std::vector<PauseCause> pause_tree(const Network& network, const FarEnds& far_ends, Instant end);

}  // namespace rocetune::fabric
