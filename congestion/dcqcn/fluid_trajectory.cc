#include "congestion/dcqcn/fluid_trajectory.h"

#include <algorithm>
#include <cmath>

namespace rocetune::dcqcn {
namespace {

FluidState moved(const FluidState& from, const FluidState& slopes, double seconds) {
  return {from.rate + slopes.rate * seconds, from.target + slopes.target * seconds,
          from.alpha + slopes.alpha * seconds, from.queue + slopes.queue * seconds};
}

FluidState mean_of(const FluidState& a, const FluidState& b) {
  return {(a.rate + b.rate) / 2, (a.target + b.target) / 2, (a.alpha + b.alpha) / 2, (a.queue + b.queue) / 2};
}

}  // namespace

FluidTrajectory::FluidTrajectory(const FluidModel& model, const FluidState& start, Duration longest_step)
    : model_(model), state_(model.bounded(start)), step_(longest_step.seconds()) {
  ROCETUNE_ASSERT(longest_step > Duration(0));
  const double steps = std::ceil(model.loop_delay_seconds() / step_ - 1e-9);
  if (steps > 0) {
    step_ = model.loop_delay_seconds() / steps;
    past_.assign(static_cast<std::size_t>(steps), signal_of(state_));
  }
}

FluidSignal FluidTrajectory::signal_of(const FluidState& state) const {
  return {state.rate, model_.marking_at(state.queue)};
}

// Heun: a step by the slopes here, then again by the mean of these and the slopes there.
void FluidTrajectory::advance() {
  const FluidSignal here = signal_of(state_);
  const bool delayed = !past_.empty();
  const FluidState first = model_.slopes(state_, delayed ? past_[oldest_] : here);
  const FluidState guess = model_.bounded(moved(state_, first, step_));
  if (delayed) {
    past_[oldest_] = here;
    oldest_ = (oldest_ + 1) % past_.size();
  }
  const FluidState second = model_.slopes(guess, delayed ? past_[oldest_] : signal_of(guess));
  state_ = model_.bounded(moved(state_, mean_of(first, second), step_));
}

FluidStretch FluidTrajectory::measure(Duration length) {
  const auto steps = static_cast<std::int64_t>(length.seconds() / step_);
  ROCETUNE_ASSERT(steps > 0);
  double mean = 0;
  double squares = 0;  // of the distances from the mean, by Welford: a settled queue varies by very little
  double lowest = state_.queue;
  double highest = state_.queue;
  double used = 0;
  for (std::int64_t n = 1; n <= steps; ++n) {
    advance();
    const double distance = state_.queue - mean;
    mean += distance / static_cast<double>(n);
    squares += distance * (state_.queue - mean);
    lowest = std::min(lowest, state_.queue);
    highest = std::max(highest, state_.queue);
    used += state_.queue > 0 ? 1 : std::min(1.0, model_.flows() * state_.rate / model_.capacity());
  }
  const auto count = static_cast<double>(steps);
  return {model_.bytes(mean), model_.bytes(std::sqrt(squares / count)), model_.bytes(lowest),
          model_.bytes(highest), Ratio(std::llround(used / count * static_cast<double>(Ratio::kOne)))};
}

}  // namespace rocetune::dcqcn
