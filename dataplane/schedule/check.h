// Proof by trying: carries a schedule out with sets of contributions instead of numbers, in an order drawn
// from a seed.
#pragma once

#include "dataplane/schedule/schedule.h"

namespace rocetune::schedule {

// Every send has its receive and the other way round; whatever leaves and arrives in whatever order (a rank's
// sends to one other rank in theirs), all comes to an end, no contribution counts twice, and every rank ends
// with what the collective promises; reducers pass on and end with what they like. Error (conflict): the
// first thing that is not so. Takes time and memory in proportion to ranks x pieces x ranks / 64, and to all
// sends.
Expected<> check(const Schedule& schedule, std::uint64_t seed);

}  // namespace rocetune::schedule
