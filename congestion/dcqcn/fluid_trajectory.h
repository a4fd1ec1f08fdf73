// The fluid model followed in time: delay differential equations by Heun's method.
//
// The step divides the loop delay, so what the sender sees always lies on a computed point and needs no
// interpolation. Bounds (no negative queue, rates from minimum to maximum) are applied after each step.
#pragma once

#include <cstddef>
#include <vector>

#include "congestion/dcqcn/fluid_model.h"

namespace rocetune::dcqcn {

// A stretch of a trajectory in numbers.
struct FluidStretch {
  Bytes queue_mean;
  Bytes queue_deviation;  // standard deviation in time
  Bytes queue_minimum;
  Bytes queue_maximum;
  Ratio utilisation;  // of the bottleneck link, which is full while there is a queue: 0..1
};

class FluidTrajectory {
 public:
  // Up to now everything has stood still at `start`; FluidModel::line_rate_start() is how DCQCN starts. The
  // step is the longest one up to `longest_step` that divides the loop delay. `longest_step` must be positive
  // and well below the fastest change, which is a flow's that is cut in every tau: 2·tau.
  FluidTrajectory(const FluidModel& model, const FluidState& start, Duration longest_step = microseconds(1));

  void advance();  // by one step
  // Advances by `length`, rounded down to steps, of which it must hold at least one.
  FluidStretch measure(Duration length);
  const FluidState& state() const { return state_; }
  double step_seconds() const { return step_; }

 private:
  FluidSignal signal_of(const FluidState& state) const;

  FluidModel model_;
  FluidState state_;
  double step_;
  std::vector<FluidSignal> past_;  // a ring of one loop delay, the oldest at `oldest_`; empty without delay
  std::size_t oldest_ = 0;
};

}  // namespace rocetune::dcqcn
