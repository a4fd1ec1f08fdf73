// Does the fluid model's fixed point hold? The equations linearised there, cut open at the marking
// probability, and judged by the phase margin at the gain crossover (Bode). A positive margin means that a
// small disturbance dies out, provided that the flows' rates would settle at a fixed marking probability,
// which they do in every set of the tests. What a large disturbance does (a start at line rate, the jump at
// Kmax) only fluid_trajectory.h can say.
//
// The linearisation is of the equations themselves, by central differences. The margins printed in [F],
// figure 3, differ by up to 20 degrees: they are of a first-order Taylor series that needs B·p and F·T·R_C·p
// to be small, and these are 8 and 0.5 already for two flows. docs/congestion.md has both, what makes the
// difference, and what the time domain says where the signs disagree.
#pragma once

#include <complex>
#include <functional>
#include <optional>

#include "congestion/dcqcn/fluid_model.h"

namespace rocetune::dcqcn {

// What comes back, negated, of a small sine of the marking probability that the senders see. Argument:
// frequency, radians per second, positive. Closed, the loop obeys 1 + open_loop = 0.
using OpenLoop = std::function<std::complex<double>(double)>;
tl::expected<OpenLoop, NoFixedPoint> open_loop(const FluidModel& model);

struct PhaseMargin {
  double degrees;   // to spare before the loop swings by itself; negative: it does
  Duration period;  // of a swing at the gain crossover
};
// The smallest margin over all gain crossovers between 1 and 10⁷ radians per second; none if there is none.
// The phase is followed from the lower end, where it must be within half a turn of zero.
std::optional<PhaseMargin> phase_margin(const OpenLoop& loop);

}  // namespace rocetune::dcqcn
