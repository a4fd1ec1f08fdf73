// How long flows that begin with different rates take to share the link alike: the fluid model's equations
// for two halves of the flows apart, through the one queue. Zhu et al. (fluid_model.h) give an upper bound of
// it for their parameters: 97 ms for 2 flows, 64 for 4, 36 for 10.
#pragma once

#include <optional>

#include "congestion/dcqcn/fluid_model.h"

namespace rocetune::dcqcn {

// One half begins at three times the rate of the other, everything else at rest; the time until their rates
// never differ by a hundredth of a fair share again. None: there is no fixed point, or it takes more than a
// second.
std::optional<Duration> convergence_time(const FluidModel& model);

}  // namespace rocetune::dcqcn
